#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Whoever may connect to a memif's socket may also be killed on the way, or mean harm: the process
# that listens there goes on.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

only_over memif

come_and_go() { # SOCKET [ID]
	timeout "$limit" python3 "$root/tests/apps/strangers.py" "$1" 300 "${2:-0}"
}

program() {
	start server rping -s -P -a "$server_v4"
	wait_listening "$started" || return 1
	come_and_go "$case_dir/memif" || return 1
	is_alive "$(program_pid server)" || { say "the program is gone"; return 1; }
	start client rping -c -a "$server_v4" -V -C 5
	finish client "$started"
}
run_case program program

# uiwarp wan, and between its two ends a pair after the strangers have been there.
emulator() {
	local n
	# shellcheck disable=SC2016 # expanded by the inner shell
	bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/wan.pid" "$uiwarp" wan --json \
		--a "net_memif1,role=server,id=1,socket=$case_dir/wan1,socket-abstract=no" \
		--b "net_memif2,role=server,id=2,socket=$case_dir/wan2,socket-abstract=no" \
		>"$(log_of wan)" 2>"$(errors_of wan)" </dev/null &
	jobs+=("$!")
	wait_for "$patience" has_line "$(log_of wan)" '"ready"' || { say "it does not start"; return 1; }
	for n in 1 2; do
		come_and_go "$case_dir/wan$n" "$n" || return 1
	done
	is_alive "$(program_pid wan)" || { say "the emulator is gone"; return 1; }
}
run_case emulator emulator
plan_done
