#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Whoever reaches a process's TCP ports may say anything, or nothing, and go at any moment: others are served.
# shellcheck disable=SC2154 # of the transport
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
only_over kernel

echo=$root/build/examples/echo
port=7475

if [[ ! -x $echo ]]; then
	result ok "$suite-$transport" "SKIP there is no C++ compiler"
	plan_done
	exit 0
fi

# Nobody is waited for long enough to be forgotten.
# shellcheck disable=SC2034 # for the pair
server_extra=(--set startup_timeout=86400000)

strangers() { # ARGUMENT...
	transport_in any timeout "$limit" "$root/tests/apps/kernel_strangers.py" "$@"
}

served() { # once more in this case
	start client "$echo" "$port" 127.0.0.1
	finish client "$started" && has_lines client '^200 messages came back' "$((++clients))"
}

rubbish() {
	local clients=0
	start server "$echo" "$port" 1000000
	wait_listening "$started" || return 1
	served || return 1 # then all is open that one client needs
	strangers rubbish 127.0.0.1 "$port" "$(program_pid server)" 3 || return 1
	served
}
run_case rubbish rubbish

# A crowd at a server with so many descriptors; its job is in $crowd, and it stays while $until is open.
crowd_at() { # DESCRIPTORS crowd|asking|parting|half COUNT
	start server bash -c "ulimit -n $1 && exec $echo $port 1000000"
	wait_listening "$started" || return 1
	mkfifo "$case_dir/until"
	strangers "$2" 127.0.0.1 "$port" 127.0.0.9 "$3" <"$case_dir/until" >"$(log_of crowd)" 2>&1 &
	crowd=$!
	jobs+=("$crowd")
	exec {until}>"$case_dir/until"
	wait_for "$patience" has_line "$(log_of crowd)" " have come" || { say "the strangers do not come"; return 1; }
}

# One host's strangers keep nobody out of another host.
keeps_nobody_out() { # crowd|parting
	local crowd until clients=0
	crowd_at 300 "$1" 600 || return 1
	served || return 1
	exec {until}>&-
	wait "$crowd"
}
# They hold all that a process may have of connections that say nothing.
run_case crowd keeps_nobody_out crowd
# Each is rejected, and does not close its side: what we have closed already stays.
run_case parting keeps_nobody_out parting

# What each leaves half-said adds up to more than `memory` allows: the first give way, and others are served.
half() {
	local crowd until clients=0
	server_extra+=(--set memory=8)
	crowd_at 2000 half 300 || return 1
	served || return 1
	transport_in server "$uiwarp" stat --json "$(program_pid server)" >"$(log_of stat)" 2>&1 || return 1
	has_line "$(log_of stat)" '"buffers_evicted": ?(19[6-9]|2[0-9][0-9])' || { say "not as many ended as must"; return 1; }
	exec {until}>&-
	wait "$crowd"
}
run_case half half

# With no descriptors left those who come are told at once, and the server goes on for those it has, and for those who
# come when there are some again.
out_of_descriptors() {
	local crowd until clients=0
	crowd_at 140 asking 200 || return 1
	wait_for "$patience" has_run_out || { say "it does not say that there are none left"; return 1; }
	exec {until}>&-
	wait "$crowd" || return 1
	is_alive "$(program_pid server)" || { say "the server is gone"; return 1; }
	wait_for "$patience" is_served
}

# A client takes two, a socket and a completion channel: the last is one of these.
has_run_out() {
	has_line "$(stack_log_of server)" 'no descriptor is left' || has_lines server 'Too many open files' 1
}

is_served() {
	start client "$echo" "$port" 127.0.0.1
	wait "$started"
}
run_case out_of_descriptors out_of_descriptors
plan_done
