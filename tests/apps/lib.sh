# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# What the test programs in tests/apps and tests/netns share. Each is run as
#
#     tests/apps/NAME.sh [-t TRANSPORT] [-o DIRECTORY] [CASE-PATTERN]...
#
# and prints one line of the Test Anything Protocol per case. TRANSPORT is a file in
# tests/apps/transport (default memif); what the programs and stacks print goes to DIRECTORY
# (default out/test/apps). Nothing here sleeps for a fixed time: it waits for what it needs.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

uiwarp=${UIWARP:-$root/build/tools/uiwarp}
transport=memif
out=
patterns=()
suite=$(basename "$0" .sh)

while (($#)); do
	case $1 in
	-t) transport=$2 && shift 2 ;;
	-o) out=$2 && shift 2 ;;
	*) patterns+=("$1") && shift ;;
	esac
done
out=${out:-$root/out/test/apps}
mkdir -p "$out"
[[ -x $uiwarp ]] || die "$uiwarp is not built: run ninja -C build"

# shellcheck source=tests/apps/transport/memif.sh
source "$root/tests/apps/transport/$transport.sh"

# Seconds that one program may take, and that we wait for one thing to happen.
limit=60
patience=15
number=0
jobs=()
settings=()
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

# ---- results ------------------------------------------------------------------------------------

plan_done() {
	say "1..$number"
}

result() { # ok | "not ok", NAME [COMMENT]
	number=$((number + 1))
	say "$1 $number - $2${3:+ # $3}"
}

wanted() { # NAME
	local pattern
	((${#patterns[@]})) || return 0
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053 # a pattern it is
		[[ $1 == $pattern ]] && return 0
	done
	return 1
}

# The end of the logs of a case that failed, as comments.
show_logs() { # NAME
	local log
	for log in "$out/$1".*.log; do
		[[ -s $log ]] || continue
		say "# ---- $log"
		tail -n 15 "$log" | cut -c 1-200 | sed 's/^/# /'
	done
}

# Run one case: a function that returns 0, or says why not and returns another status.
run_case() { # NAME FUNCTION [ARGUMENT]...
	local name=$1 why started=$SECONDS
	shift
	wanted "$name" || return 0
	name=$suite-$name-$transport
	case_name=$name
	case_dir=$work/$number
	mkdir -p "$case_dir"
	rm -f "$out/$name".*
	if "$@" >"$case_dir/why" 2>&1; then
		result ok "$name" "$((SECONDS - started)) s"
	else
		why=$(tail -n 1 "$case_dir/why")
		result "not ok" "$name" "${why:-no reason given}"
		sed 's/^/# /' "$case_dir/why"
		stop_all
		show_logs "$name"
	fi
	stop_all
	rm -rf "$case_dir"
}

# ---- programs -----------------------------------------------------------------------------------

log_of() { # SIDE
	say "$out/$case_name.$1.log"
}

stack_log_of() { # SIDE
	say "$out/$case_name.$1.stack.log"
}

# Start a program on a side's stack; $started is then the job to wait for, and the program's own
# process id is in program_pid. The pid file comes first, so that exec keeps the number.
start() { # SIDE COMMAND...
	local side=$1 log
	shift
	log=$(log_of "$side")
	transport_settings "$side"
	settings+=(--set "log=info" --set "log_file=$(stack_log_of "$side")")
	if [[ $side == server ]]; then
		settings+=("${server_extra[@]}")
	else
		settings+=("${client_extra[@]}")
	fi
	rm -f "$case_dir/$side.pid"
	# shellcheck disable=SC2016 # expanded by the inner shell
	transport_in "$side" timeout -k 3 "$limit" \
		bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/$side.pid" \
		"$uiwarp" run "${settings[@]}" -- "$@" >>"$log" 2>&1 </dev/null &
	started=$!
	jobs+=("$started")
	wait_for "$patience" test -s "$case_dir/$side.pid"
}

program_pid() { # SIDE
	cat "$case_dir/$1.pid"
}

is_alive() { # PID
	kill -0 "$1" 2>/dev/null
}

# End what this case started. The programs first: timeout then ends by itself.
stop_all() {
	local job file
	for file in "$case_dir"/*.pid; do
		[[ -s $file ]] && kill -9 "$(<"$file")" 2>/dev/null
	done
	for job in "${jobs[@]}"; do
		kill "$job" 2>/dev/null
		wait "$job" 2>/dev/null
	done
	jobs=()
	return 0
}

has_line() { # FILE REGEX
	grep -Eqs -- "$2" "$1"
}

has_lines() { # FILE REGEX COUNT
	(($(grep -Ecs -- "$2" "$1") >= $3))
}

# Until the stack of the server says that somebody listens. Its program is on its way to that.
wait_listening() { # JOB
	local end=$((SECONDS + patience))
	until transport_ready && has_line "$(stack_log_of server)" 'listening'; do
		is_alive "$1" || { say "the server ended before it listened"; return 1; }
		((SECONDS < end)) || { say "the server does not listen"; return 1; }
		sleep 0.05
	done
}

# What programs say of an end by a signal, in words.
status_text() { # STATUS
	case $1 in
	124 | 137) say "took more than $limit s, or was killed" ;;
	139) say "crashed (SIGSEGV)" ;;
	134) say "aborted" ;;
	*) say "ended with status $1" ;;
	esac
}

finish() { # SIDE JOB
	local status=0
	wait "$2" || status=$?
	((status == 0)) || { say "the $1 $(status_text $status)"; return 1; }
}

# %4 and %6 are the server's addresses, %n the iterations that suit the transport.
expand() { # COMMAND
	local text=$1
	text=${text//%4/$server_v4}
	text=${text//%6/$server_v6}
	say "${text//%n/$bulk}"
}

# A server and a client, each ending by itself with status 0; then what must be in their output.
exchange() { # SERVER CLIENT [SIDE COUNT REGEX]...
	local server client server_job client_job found
	read -ra server <<<"$(expand "$1")"
	read -ra client <<<"$(expand "$2")"
	shift 2
	start server "${server[@]}"
	server_job=$started
	wait_listening "$server_job" || return 1
	start client "${client[@]}"
	client_job=$started
	finish client "$client_job" || return 1
	if [[ ${server_persists:-no} == yes ]]; then
		is_alive "$(program_pid server)" || { say "the server is gone"; return 1; }
	else
		finish server "$server_job" || return 1
	fi
	while (($#)); do
		found=$(grep -Ec -- "$3" "$(log_of "$1")" || true)
		((found == $2)) || { say "$found lines of the $1 match '$3', not $2"; return 1; }
		shift 3
	done
}

# The usual case: NAME, then the arguments of exchange.
pair() {
	local name=$1
	shift
	run_case "$name" exchange "$@"
}

# For what does not depend on the transport: once is enough.
only_over() { # TRANSPORT
	[[ $transport == "$1" ]] && return
	plan_done
	exit 0
}

# ---- begin --------------------------------------------------------------------------------------

begin() {
	local missing
	missing=$(transport_missing)
	if [[ $missing ]]; then
		result ok "$suite-$transport" "SKIP $missing"
		plan_done
		exit 0
	fi
	transport_up
}
begin
