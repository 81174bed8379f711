#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's own rping of arm64, under qemu-user, with the preloaded library as it was built for ARM: with another such,
# and with one of this machine.
# shellcheck disable=SC2154 # of the transport
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"
only_over kernel

limit=180
there=$root/out/arm64/root
preload=$root/build-arm64/provider/shim/libuiwarp-preload.so
arm=()

# The sides of $arm are ARM's.
transport_run() { # SIDE COMMAND...
	local side=$1 program=$2 settings
	shift 2
	if [[ " ${arm[*]} " != *" $side "* ]]; then
		on_stack "$side" "$program" "$@"
		return
	fi
	settings=port=kernel$'\n'log=info$'\n'log_file=$(stack_log_of "$side")
	# shellcheck disable=SC2016 # expanded by the inner shell
	transport_in "$side" "$root/scripts/lib/timeout" "$limit" bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/$side.pid" \
		qemu-aarch64 -L "$there" -E "LD_PRELOAD=$preload" -E "UIWARP_SET=$settings" "$there/usr/bin/$program" "$@"
}

between() { # SIDE,SIDE AS-exchange...
	IFS=, read -ra arm <<<"$1"
	shift
	exchange "$@"
}

run_case both between server,client "rping -s -v -C 5 -S 4096" "rping -c -a %4 -v -V -C 5 -S 4096" client 5 'ping data: rdma-ping'
run_case both-v6 between server,client "rping -s -a ::0 -v -C 5" "rping -c -a %6 -v -V -C 5" client 5 'ping data: rdma-ping'
run_case to_x86 between client "rping -s -v -C 5" "rping -c -a %4 -v -V -C 5" client 5 'ping data: rdma-ping'
run_case from_x86 between server "rping -s -v -C 5" "rping -c -a %4 -v -V -C 5" client 5 'ping data: rdma-ping'
plan_done
