# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced. Runs unmodified programs in pairs, a server and a client, each on a stack of its own,
# over a transport: a file in scripts/lib/transport. What they print goes to $out, as
# $case_name.SIDE.log. Nothing here sleeps for a fixed time: it waits for what it needs.

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

uiwarp=${UIWARP:-$root/build/tools/uiwarp}
out=${out:-$root/out}
case_name=case
# Seconds that one program may take, as timeout counts them; and that we wait for one thing to happen, in
# looks of wait_for.
limit=300
patience=30
jobs=()
# The job of each side's program.
declare -A program_jobs=()
settings=()
# Programs that have a channel of their own through Linux's TCP: its port, and where a server's readiness
# shows: in what its stack says, or there (listens_at=linux). Few at a time, each its own.
control_port=$((20000 + $$ % 1200 * 10))
listens_at=stack
# More --set for the next cases, per side.
server_extra=() client_extra=()

# A short path: a UNIX socket's name has room for 107 bytes.
work=$(mktemp -d /tmp/uiw.XXXXXX)
case_dir=$work

clean_up() {
	stop_all
	transport_down
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

transport_down() { :; }

# Make ready for both ends once more, where one may have come too late for the other.
transport_again() { false; }

use_transport() { # NAME
	[[ -f $root/scripts/lib/transport/$1.sh ]] || die "there is no transport '$1'"
	# shellcheck source=scripts/lib/transport/memif.sh
	source "$root/scripts/lib/transport/$1.sh"
}

log_of() { # SIDE
	say "$out/$case_name.$1.log"
}

# Apart from the output, as both are buffered and would cut into each other's lines.
errors_of() { # SIDE
	say "$out/$case_name.$1.stderr.log"
}

stack_log_of() { # SIDE
	say "$out/$case_name.$1.stack.log"
}

# What an earlier server of the same case left must not pass for this one's readiness.
fresh_server() {
	transport_reset
	rm -f "$(stack_log_of server)"
}

# A program on a side's stack, under its time limit. The pid file comes first, so that exec keeps
# the number.
on_stack() { # SIDE COMMAND...
	local side=$1
	shift
	transport_settings "$side"
	settings+=(--set "log=info" --set "log_file=$(stack_log_of "$side")")
	if [[ $side == server ]]; then
		settings+=("${server_extra[@]}")
	else
		settings+=("${client_extra[@]}")
	fi
	# shellcheck disable=SC2016 # expanded by the inner shell
	transport_in "$side" "$root/scripts/lib/timeout" "$limit" \
		bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/$side.pid" \
		"$uiwarp" run "${settings[@]}" -- "$@"
}

# Where programs run, unless a transport knows better.
transport_run() { # SIDE COMMAND...
	on_stack "$@"
}

# Start a program of a side; $started is then the job to wait for, and the program's own process id
# is in program_pid.
start() { # SIDE COMMAND...
	local side=$1
	rm -f "$case_dir/$side.pid"
	[[ $side == client ]] || fresh_server
	transport_run "$@" >>"$(log_of "$side")" 2>>"$(errors_of "$side")" </dev/null &
	started=$!
	jobs+=("$started")
	program_jobs[$side]=$started
	wait_for "$patience" test -s "$case_dir/$side.pid"
}

# A program without a stack at the server's side, on Linux's TCP. All that it says is in log_of NAME.
start_foreign() { # NAME COMMAND...
	local name=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	transport_in server "$root/scripts/lib/timeout" "$limit" bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/$name.pid" \
		"$@" >"$(log_of "$name")" 2>&1 </dev/null &
	started=$!
	jobs+=("$started")
}

program_pid() { # SIDE
	cat "$case_dir/$1.pid"
}

is_gone() { # PID
	! is_alive "$1"
}

# End what this case started. A killed program still holds its address and its device until it is
# reaped, and the next case takes them: so the job of a program is waited for and not killed, as
# the timeout in it is the one that reaps.
stop_all() {
	local job side file pid pids=()
	for side in "${!program_jobs[@]}"; do
		[[ -s $case_dir/$side.pid ]] || continue
		kill -9 "$(program_pid "$side")" 2>/dev/null || true
		rm -f "$case_dir/$side.pid"
		wait "${program_jobs[$side]}" 2>/dev/null || true
	done
	for file in "$case_dir"/*.pid; do
		[[ -s $file ]] || continue
		pids+=("$(<"$file")")
		kill -9 "${pids[-1]}" 2>/dev/null || true
		rm -f "$file"
	done
	for job in "${jobs[@]}"; do
		kill "$job" 2>/dev/null || true
		wait "$job" 2>/dev/null || true
	done
	for pid in "${pids[@]}"; do wait_for 10 is_gone "$pid" || true; done
	jobs=() program_jobs=()
}

has_line() { # FILE REGEX
	grep -Eqs -- "$2" "$1"
}

# In what a program printed and complained.
lines_of() { # SIDE REGEX
	cat "$(log_of "$1")" "$(errors_of "$1")" | grep -Ec -- "$2" || true
}

has_lines() { # SIDE REGEX COUNT
	(($(lines_of "$1" "$2") >= $3))
}

linux_listening() { # PORT
	[[ $(transport_in server ss -ltnH "sport = :$1") ]]
}

transport_listening() {
	transport_ready || return 1
	if [[ $listens_at == linux ]]; then
		linux_listening "$control_port"
	else
		has_line "$(stack_log_of server)" 'listening'
	fi
}

# Until the stack of the server says that somebody listens. Its program is on its way to that.
wait_listening() { # JOB
	local ended=0
	wait_for "$patience" listens_or_ended "$1" || { say "the server does not listen"; return 1; }
	((!ended)) || { say "the server ended before it listened"; return 1; }
}

# The $ended of the caller tells which.
listens_or_ended() { # JOB
	transport_listening && return
	is_alive "$1" || ended=1
	((ended))
}

# What programs say of an end by a signal, in words.
status_text() { # STATUS
	case $1 in
	124 | 137) say "took more than $limit s, or was killed" ;;
	139) say "crashed (SIGSEGV)" ;;
	134) say "aborted" ;;
	159) say "used a system call that it may not (SIGSYS)" ;;
	*) say "ended with status $1" ;;
	esac
}

finish() { # SIDE JOB
	local status=0
	wait "$2" || status=$?
	rm -f "$case_dir/$1.pid"
	((status == 0)) || { say "the $1 $(status_text $status)"; return 1; }
}

# %4 and %6 are the server's addresses, %n the iterations that suit the transport; %h and %p the server's
# address of Linux's, as the client reaches it, and a port there.
expand() { # COMMAND
	local text=$1
	text=${text//%4/$server_v4}
	text=${text//%6/$server_v6}
	text=${text//%h/$control_host}
	text=${text//%p/$control_port}
	say "${text//%n/$bulk}"
}

# A server, and a client as soon as it listens; their jobs are in $server_job and $client_job.
start_both() { # SERVER CLIENT
	local server client
	read -ra server <<<"$(expand "$1")"
	read -ra client <<<"$(expand "$2")"
	start server "${server[@]}"
	server_job=$started
	wait_listening "$server_job" || return 1
	start client "${client[@]}"
	client_job=$started
}

# A server and a client, each ending by itself with status 0; then what must be in their output.
# A server of perftest listens for its client's second connection only after it has told the client to come. If it is
# late, the client is refused, and crashes. That is perftest's, and both begin anew over a transport that knows of it.
exchange() { # SERVER CLIENT [SIDE COUNT REGEX]...
	local tries=3
	until exchange_once "$@"; do
		[[ $2 == *ib_*' -R '* ]] && ((--tries)) &&
			has_lines client '^(ERRNO: Connection refused|Event: RDMA_CM_EVENT_REJECTED; error: -111)' 1 || return 1
		stop_all
		transport_again || return 1
		rm -f "$(log_of server)" "$(log_of client)" "$(errors_of server)" "$(errors_of client)"
	done
}

exchange_once() { # SERVER CLIENT [SIDE COUNT REGEX]...
	local server_job client_job found
	start_both "$1" "$2" || return 1
	shift 2
	finish client "$client_job" || return 1
	if [[ ${server_persists:-no} == yes ]]; then
		is_alive "$(program_pid server)" || { say "the server is gone"; return 1; }
	else
		finish server "$server_job" || return 1
	fi
	while (($#)); do
		found=$(lines_of "$1" "$3")
		((found == $2)) || { say "$found lines of the $1 match '$3', not $2"; return 1; }
		shift 3
	done
}
