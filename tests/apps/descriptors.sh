#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs with few descriptors (ulimit -n): whatever the limit, one works, or ends by itself and says why.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $transport == memif || $transport == kernel ]] || only_over memif

numbers=({3..36} 40 48 64)
pids=()

# A program that may have NUMBER of them, as job $started.
limited() { # SIDE NUMBER COMMAND...
	local side=$1 number=$2
	shift 2
	transport_settings "$side"
	[[ $side == client ]] || transport_reset
	rm -f "$(log_of "$side")" "$(errors_of "$side")"
	rm -f "$case_dir/$side.pid"
	# shellcheck disable=SC2016 # expanded by the inner shell
	transport_in "$side" "$root/scripts/lib/timeout" "$limit" bash -c 'echo $$ >"$0" && ulimit -n "$1" && shift && exec "$@"' \
		"$case_dir/$side.pid" "$number" "$uiwarp" run "${settings[@]}" --set log=info -- "$@" \
		>"$(log_of "$side")" 2>"$(errors_of "$side")" </dev/null &
	started=$!
	jobs+=("$started")
	wait_for "$patience" test -s "$case_dir/$side.pid"
	pids+=("$(program_pid "$side")")
}

# It ended by itself, with success or with words.
ended() { # SIDE NUMBER STATUS
	rm -f "$case_dir/$1.pid"
	(($3 < 124 || $3 == 127 || $3 == 255)) || { say "with $2 descriptors the $1 $(status_text "$3")"; return 1; }
	(($3 == 0)) || has_lines "$1" '[a-z]{4}' 1 || { say "with $2 descriptors the $1 ends without a word"; return 1; }
}

# Where the port lacks them there is one sentence of ours, and the program's errno is the right one.
says_why() { # SIDE NUMBER
	[[ $transport == memif ]] && (($2 >= 12 && $2 < 24)) || return 0
	one_sentence "$1" "port \"net_memif0" "raise \"ulimit -n\", which is $2" || return 1
	has_lines "$1" 'Too many open files' 1 ||
		{ say "with $2 descriptors the program does not know that the $1 lacks some"; return 1; }
}

listening() {
	has_line "$(errors_of server)" ': listening'
}

has_begun() { # JOB
	listening || ! is_alive "$1"
}

# One that cannot tell its program of a connection: the stack has said so, and the program waits for another.
is_told_or_gone() { # JOB
	! is_alive "$1" || has_line "$(errors_of server)" 'no descriptor is left'
}

server() { # NUMBER
	local job status=0
	limited server "$1" rping -s -v -C 2 -a "$server_v4"
	job=$started
	wait_for "$patience" has_begun "$job" || { say "with $1 descriptors the server does not listen"; return 1; }
	if is_alive "$job"; then
		limited client 1024 rping -c -v -C 2 -a "$server_v4"
		wait "$started" || status=$?
		ended client 1024 "$status" || return 1
		if ((status)); then
			wait_for "$patience" is_told_or_gone "$job" ||
				{ say "with $1 descriptors the server neither works nor ends"; return 1; }
			if is_alive "$job"; then
				kill "$(program_pid server)"
				wait "$job" || true
				return 0
			fi
		fi
		status=0
	fi
	wait "$job" || status=$?
	ended server "$1" "$status" && says_why server "$1" || return 1
	((status)) || worked=$((worked + 1))
}

servers() {
	local number worked=0
	for number in "${numbers[@]}"; do server "$number" || return 1; done
	((worked >= 5)) || { say "only $worked of the servers worked"; return 1; }
	remark="$worked of ${#numbers[@]} worked"
	nothing_left
}

# A call that fails at once leaves rping waiting for a completion of its own.
ended_or_waits() { # JOB
	! is_alive "$1" || has_lines client '^rdma_connect: Too many open files' 1
}

client() { # NUMBER
	local status=0
	limited client "$1" rping -c -v -C 2 -a "$server_v4"
	wait_for 60 ended_or_waits "$started" || { say "with $1 descriptors the client neither works nor ends"; return 1; }
	if has_lines client '^rdma_connect: ' 1; then
		kill "$(program_pid client)" 2>/dev/null || true
		wait "$started" || true
		return 0
	fi
	wait "$started" || status=$?
	ended client "$1" "$status" && says_why client "$1" || return 1
	((status)) || worked=$((worked + 1))
}

clients() {
	local number worked=0
	limited server 1024 rping -s -P -a "$server_v4"
	wait_for "$patience" listening || { say "the server does not listen"; return 1; }
	for number in "${numbers[@]}"; do client "$number" || return 1; done
	((worked >= 5)) || { say "only $worked of the clients worked"; return 1; }
	remark="$worked of ${#numbers[@]} worked"
	kill "$(program_pid server)"
	wait "$started" || true
	nothing_left
}

# Of any of them.
nothing_left() {
	local pid found
	for pid in "${pids[@]}"; do
		found=$(find /run/uiwarp /run/dpdk /dev/shm "/tmp/uiwarp-$EUID" /tmp/dpdk -user "$EUID" -name "*[-.]$pid" \
			2>/dev/null || true)
		[[ -z $found ]] || { say "left behind: $found"; return 1; }
	done
}

beside few-servers servers
beside few-clients clients
tell_beside
plan_done
