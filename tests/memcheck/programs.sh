#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Our in-process programs under valgrind's memcheck, the provider with its port and all below it
# included: nothing invalid is read or written, nothing decided by what was never set, nothing lost.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"

only_over memif
command -v valgrind >/dev/null || {
	result ok "$suite" "SKIP there is no valgrind"
	plan_done
	exit 0
}

# The programs' own waits are long enough for a machine that is some thirty times slower.
memcheck() { # PROGRAM
	local log=$out/$name.valgrind.log
	LD_PRELOAD=$root/build/provider/shim/libuiwarp-preload.so UIWARP_CONFIG='' \
		UIWARP_SET=$'port=net_null0,no-rx=1\nmac=02:00:00:00:00:01\naddress=10.99.0.1/24\naddress=2001:db8:99::1/64' \
		valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
		--errors-for-leak-kinds=definite --suppressions="$root/tests/support/valgrind.supp" \
		"$root/build/tests/$1" >"$log" 2>&1 || {
		tail -n 30 "$log"
		say "$1 fails under valgrind: see $log"
		return 1
	}
}

for program in apps/manual_walk unit/provider/test_domain unit/provider/test_mw unit/provider/test_wr_api \
	unit/provider/test_provider_{close,cm_bind,cm_connect,cm_states,cm_threads,stress}; do
	run_case "${program##*/}" memcheck "$program"
done
plan_done
