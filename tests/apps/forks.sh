#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that fork: Python's multiprocessing, servers that fork their workers first. Each process has a
# stack and a slot of its own, so none of them has another's address. Over the host's own TCP (port = kernel) each has
# a stack of its own, too, and the host's address.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

if [[ $transport == kernel ]]; then
	port=(--set port=kernel --set address=127.0.0.1/8)
else
	only_over memif
	port=(--set 'port=net_null0,no-rx=1' --set 'address=10.77.0.%{slot}/24' --set "slots=forks-$$:1-9")
fi

# So many devices, with addresses that are all different, or one, and each line of the program's that is expected.
devices() { # COUNT METHOD... -- [LINE]...
	local count=$1 found addresses words=() line
	shift
	while [[ $1 != -- ]]; do
		words+=("$1")
		shift
	done
	shift
	transport_in any timeout "$limit" "$uiwarp" run "${port[@]}" -- /usr/bin/python3 "$root/tests/apps/forks.py" "${words[@]}" \
		>"$(log_of stdout)" 2>"$(log_of stderr)" || { say "exit status $?"; return 1; }
	found=$(grep -c '^device at ' "$(log_of stdout)") || true
	((found == count)) || { say "$found devices, not $count"; return 1; }
	addresses=$(grep '^device at ' "$(log_of stdout)" | sort -u | wc -l)
	[[ $transport != kernel ]] || count=1
	((addresses == count)) || { say "$addresses different addresses, not $count"; return 1; }
	for line; do
		grep -q -- "$line" "$(log_of stdout)" "$(log_of stderr)" || { say "no line '$line'"; return 1; }
	done
}

run_case multiprocessing-fork devices 3 pool fork --
run_case multiprocessing-spawn devices 4 pool spawn --
run_case multiprocessing-forkserver devices 3 pool forkserver --
run_case prefork devices 3 prefork -- '^replaced$'
# Their parent has listed devices, opened and closed them: it has a slot, and no stack to inherit.
run_case multiprocessing-fork-listed devices 3 pool fork listed --
run_case prefork-listed devices 3 prefork listed -- '^replaced$'
run_case late devices 1 late -- '^in the child 0$' 'uiwarp: .*forked from process [0-9]* after'
plan_done
