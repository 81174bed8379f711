# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# What the test programs in tests/ share. Each is run as
#
#     tests/apps/NAME.sh [-t TRANSPORT] [-o DIRECTORY] [CASE-PATTERN]...
#
# and prints one line of the Test Anything Protocol per case. TRANSPORT is a file in
# scripts/lib/transport (default memif); logs go to DIRECTORY (default out/test/apps).
set -euo pipefail
# shellcheck source=scripts/lib/pair.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/pair.sh"

transport=memif
out=$root/out/test/apps
patterns=()
suite=$(basename "$0" .sh)
number=0

while (($#)); do
	case $1 in
	-t) transport=$2 && shift 2 ;;
	-o) out=$2 && shift 2 ;;
	*) patterns+=("$1") && shift ;;
	esac
done
mkdir -p "$out"
[[ -x $uiwarp ]] || die "$uiwarp is not built: run ninja -C build"
use_transport "$transport"

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

# Run one case: a function that returns 0, or says why not and returns another status. It may leave
# a word for the result in $remark, or in $inconclusive why the case shows nothing here.
run_case() { # NAME FUNCTION [ARGUMENT]...
	local name=$1 why begun=$SECONDS
	shift
	wanted "$name" || return 0
	name=$suite-$name-$transport
	case_name=$name remark='' inconclusive=''
	case_dir=$work/$number
	mkdir -p "$case_dir"
	rm -f "$out/$name".*
	if "$@" >"$case_dir/why" 2>&1; then
		result ok "$name" "${inconclusive:+SKIP $inconclusive, }$((SECONDS - begun)) s${remark:+, $remark}"
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

# ---- cases beside each other --------------------------------------------------------------------

# Cases that mostly wait. Each has a transport of its own and is told of in its turn.
beside_jobs=() beside_names=() beside_tap=()

# As run_case, but go on meanwhile.
beside() { # NAME FUNCTION [ARGUMENT]...
	wanted "$1" || return 0
	(
		trap 'stop_all; transport_down' EXIT
		trap 'exit 143' TERM
		transport_up "$number"
		run_case "$@"
	) >"$work/$number.tap" 2>&1 &
	beside_jobs+=("$!") beside_names+=("$1")
	beside_tap+=("$work/$number.tap")
	number=$((number + 1))
}

# Wait for all of them; what they printed comes as if they had run one after the other.
tell_beside() {
	local i
	for i in "${!beside_jobs[@]}"; do
		wait "${beside_jobs[$i]}" || true
		cat "${beside_tap[$i]}"
		has_line "${beside_tap[$i]}" '^(not )?ok ' ||
			say "not ok - $suite-${beside_names[$i]}-$transport # ended without a result"
	done
	beside_jobs=() beside_names=() beside_tap=()
}

end_beside() {
	local job
	for job in "${beside_jobs[@]}"; do
		kill "$job" 2>/dev/null || true
	done
	for job in "${beside_jobs[@]}"; do
		wait "$job" 2>/dev/null || true
	done
}
trap 'end_beside; clean_up' EXIT

# ---- kinds of cases -----------------------------------------------------------------------------

# The usual case: NAME, then the arguments of exchange.
pair() {
	local name=$1
	shift
	run_case "$name" exchange "$@"
}

# What came, compared byte for byte by SIDE, which says so. The probe (tests/interop) is in PATH.
probed_right() { # ACT SIDE REGEX
	exchange "probe listen %4 7471" "probe connect %4 7471 act=$1 size=16000 count=4" || return 1
	has_lines "$2" "$3" 1 || { say "the $2 did not say '$3'"; return 1; }
}

# mckey, of rdmacm-utils: so many members of the receiver's join a multicast group, and then the sender comes, who tells
# nobody when it is over. Both end by themselves.
members=1
in_group() { # RECEIVER SENDER
	local receiver sender server_job side
	read -ra receiver <<<"$(expand "$1")"
	read -ra sender <<<"$(expand "$2")"
	start server "${receiver[@]}"
	server_job=$started
	wait_for "$patience" do_receive || { say "the receiver has not joined"; return 1; }
	start client "${sender[@]}"
	finish client "$started" || return 1
	finish server "$server_job" || return 1
	for side in server client; do
		has_lines "$side" 'data transfers complete' 1 || { say "the $side has not all"; return 1; }
		has_lines "$side" 'return status 0' 1 || { say "the $side complains"; return 1; }
	done
}

# What is sent to a group before a queue pair is attached is not for it, and the program waits for it.
do_receive() {
	transport_ready && [[ -s $(stack_log_of server) ]] || return 1
	(($(grep -c 'receives from the group' "$(stack_log_of server)") >= members))
}

# One sentence of ours in the errors of SIDE, with each of WORDS.
one_sentence() { # SIDE WORD...
	local side=$1 word line
	shift
	(($(grep -c '^uiwarp: ' "$(errors_of "$side")") == 1)) ||
		{ say "not one sentence of ours on stderr"; return 1; }
	line=$(grep '^uiwarp: ' "$(errors_of "$side")")
	for word; do
		[[ $line == *"$word"* ]] || { say "no word of '$word' in: $line"; return 1; }
	done
	! grep -q 'DPDK:' "$(errors_of "$side")" || { say "a line of DPDK's"; return 1; }
}

# What uiwarp doctor says on the client's side: so many faults, each with its advice.
doctored() { # COUNT REGEX...
	local count=$1 regex status=0
	shift
	start server rping -s -P -a "$server_v4" -p 7174
	wait_listening "$started" || return 1
	transport_settings client
	transport_in client "$root/scripts/lib/timeout" "$limit" "$uiwarp" doctor "${settings[@]}" "${client_extra[@]}" \
		"$server_v4" 7174 >"$(log_of client)" 2>"$(errors_of client)" || status=$?
	((status == (count > 0))) || { say "exit status $status"; return 1; }
	(($(lines_of client '^WRONG') == count)) || { say "not $count findings"; return 1; }
	(($(lines_of client '^  do:') >= count)) || { say "a finding without advice"; return 1; }
	for regex; do
		(($(lines_of client "$regex") == 1)) || { say "not one sentence like '$regex'"; return 1; }
	done
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
