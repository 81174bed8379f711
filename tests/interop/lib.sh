# shellcheck shell=bash disable=SC2154 # the transport says which siw
# SPDX-License-Identifier: BSD-2-Clause
# Our stack against Linux's siw. Sourced by the programs in tests/interop, which run over siw-stock, siw-fixed
# and siw-kernel (see tests/apps/lib.sh and scripts/lib/transport/siw.sh). Every case is captured by our
# stack; tshark reads the capture, and uiwarp pcap check.
set -- -t siw-fixed -o "$(dirname "${BASH_SOURCE[0]}")/../../out/test/interop" "$@"
# shellcheck source=tests/apps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../apps/lib.sh"

# Told to the cases that follow: parameters of siw, more --set of ours, what the capture must look like:
# crc (each FPDU has one), plain (none has), any (what is not FPDUs alone), cut (its writer was killed),
# long (the first frames do for tshark, which takes longer for it than the run takes), esp (the case itself
# looks at it, as it has the keys).
siw_parameters=() ours=() capture_is=crc
server_port=7471
# Set when siw may have been left in a state that the next case should not find.
spoiled=''
long_frames=3000
# An emulated guest may get no processor for long. Nobody waits longer than for what he waits for.
patience=90 limit=90

# siw as a case wants it, and nothing left of the case before.
prepared() {
	if ((${#siw_parameters[@]})); then
		siw_load "$siw_adjustable" "${siw_parameters[@]}"
	else
		siw_load "$siw_plain"
	fi
}

new_guest() {
	transport_down
	transport_up
	spoiled=
}

# The stacks and siw as a case wants them, then its function. A guest that falls over shows nothing of the
# case: another one, twice.
against() { # server|client (siw's side) FUNCTION [ARGUMENT]...
	local status=0
	guest_is "$1"
	shift
	once "$@" || status=$?
	for _ in 1 2; do
		{ ((status == 2)) && fell_over; } || break
		status=0
		once "$@" || status=$?
	done
	((status == 2)) || return "$status"
	if lies_unread; then
		remark="expected: stock siw leaves unread what comes right behind its reply"
	elif fell_over; then
		remark="expected: the guest's iw_cm knows no end of a connection before siw has told it of its start"
	else
		return 1
	fi
}

# @return 2: not what the function wanted; 1: another's verdict on what went over the wire.
once() { # FUNCTION [ARGUMENT]...
	if [[ $spoiled ]] || ! is_alive "$guest_job"; then
		new_guest
	fi
	# What the case before left may end its kernel only now.
	prepared || { new_guest && prepared; } || return 1
	server_extra=("${ours[@]}")
	[[ ${siw_captured_on-} ]] || server_extra+=(--set "capture=$out/$case_name.pcapng")
	client_extra=("${server_extra[@]}")
	captured "$@" || { spoiled=yes && return 2; }
	[[ $capture_is == esp ]] || { decoded && compared && checked; }
}

# A stack of ours captures by itself. Where it is the kernel's, what passes its interface is captured.
captured() { # FUNCTION [ARGUMENT]...
	local status=0 dumpcap_job capture=$out/$case_name.pcapng
	if [[ ! ${siw_captured_on-} ]]; then
		"$@"
		return
	fi
	# Not by a function: the job is dumpcap itself then, and ends when it is told to.
	"${guest_within[@]}" dumpcap -q -i "$siw_captured_on" -w "$capture" >"$case_dir/dumpcap" 2>&1 </dev/null &
	dumpcap_job=$!
	wait_for "$patience" has_line "$case_dir/dumpcap" '^File: ' && "$@" || status=$?
	captured_so_far || status=1
	kill "$dumpcap_job" 2>/dev/null || true
	wait "$dumpcap_job" || true
	return "$status"
}

# All that passed is in the file: dumpcap writes when it likes, a stack of ours when its program ends.
captured_so_far() {
	[[ ${siw_captured_on-} ]] || return 0
	local word="so far: $EPOCHREALTIME"
	transport_in server bash -c "echo '$word.' >'/dev/udp/ff02::1%$siw_captured_on/9'"
	wait_for "$patience" has_line "$out/$case_name.pcapng" "$word\." || { say "dumpcap does not write"; return 1; }
}

# What the capture has: a line for each frame that a case asks for, with these fields of tshark's.
frames() { # FILTER FIELD...
	local field fields=()
	for field in "${@:2}"; do
		fields+=(-e "$field")
	done
	captured_so_far >&2 && tshark -r "$out/$case_name.pcapng" -Y "$1" -T fields "${fields[@]}" 2>/dev/null
}

# The first FPDUs and the end of a connection, by FIN or by what siw refuses, before siw has told iw_cm that
# it is established: the guest's kernel stops at a BUG there, and says so.
fell_over() {
	[[ $guest_side == server ]] && ! is_alive "$guest_job" &&
		has_line "$out/guest.log" 'RIP:.*cm_work_handler'
}

# The capture shows it. peer=siw waits until siw listens, but not as long as a busy machine may keep it from that.
lies_unread() {
	[[ $siw_plain == stock && $guest_side == server ]] && "$root/interop/lies_unread" "$out/$case_name.pcapng"
}

# Demands that siw is known not to meet: see docs/interop.md.
declare -A known=([MPA-4.1-2]=pad [MPA2-9.2-4]=reject [MPA2-6-1]=echo [RDMAP-4.8-2]=terminate
	[RDMAP-4.8-7]=terminate [RDMAP-4.8-8]=terminate [RDMAP-7.1-5]=quoted)

# Our own checker finds nothing in what we send, and in what siw sends only what is known of it.
checked() {
	local found=$out/$case_name.check.json status=0 from id
	"$uiwarp" pcap check --all --json "$out/$case_name.pcapng" >"$found" || status=$?
	if ((status == 2)) && [[ $capture_is != cut ]]; then
		say "uiwarp pcap check cannot read the capture"
		return 1
	fi
	while read -r from id; do
		[[ ${known[$id]-} && ($from == 10.66.0.2:* || $from == "[fd66::2]:"*) ]] ||
			{ say "$from does not meet $id: see $found"; return 1; }
	done < <(sed -n 's/^{"event":"violation",.*"from":"\([^"]*\)",.*"id":"\([^"]*\)",.*/\1 \2/p' "$found" | sort -u)
}

# What tshark reads is in order by its own verdict.
decoded() {
	local option=-q said
	[[ $capture_is == crc || $capture_is == plain ]] || return 0
	[[ $capture_is == crc ]] || option=-qn
	said=$("$root/scripts/decode" $option -k "$case_dir/dissection" "$out/$case_name.pcapng") ||
		{ say "$said"; return 1; }
	[[ $capture_is == crc || $said == *" 0 good, 0 bad"* ]] || { say "$said: there are CRCs"; return 1; }
}

# tshark and our checker read the same: start-up frames, FPDUs by opcode and length, verdicts on CRCs.
compared() {
	local capture=$out/$case_name.pcapng
	case $capture_is in
	crc | plain) "$root/tests/pcap/compared.py" "$uiwarp" "$capture" "$case_dir/dissection" ;;
	any) "$root/tests/pcap/compared.py" "$uiwarp" "$capture" ;;
	cut) "$root/tests/pcap/compared.py" --cut "$uiwarp" "$capture" ;;
	long)
		tshark -r "$capture" -c "$long_frames" -w "$case_dir/first.pcapng" 2>/dev/null
		"$root/tests/pcap/compared.py" "$uiwarp" "$case_dir/first.pcapng"
		;;
	esac
}

# A case in both roles: the names say which side is the server, and so MPA's responder.
both_ways() { # NAME FUNCTION [ARGUMENT]...
	run_case "$1-siw-serves" against server "${@:2}"
	run_case "$1-siw-asks" against client "${@:2}"
}

siw_serves() { # NAME FUNCTION [ARGUMENT]...
	run_case "$1-siw-serves" against server "${@:2}"
}

siw_asks() { # NAME FUNCTION [ARGUMENT]...
	run_case "$1-siw-asks" against client "${@:2}"
}

# What cannot be, with its reason: the function fails, and its last words match.
expected() { # REASON REGEX FUNCTION [ARGUMENT]...
	local regex=$2 why=$case_dir/expected
	remark="expected: $1"
	shift 2
	if "$@" >"$why" 2>&1; then
		say "it works, which was not expected"
		return 1
	fi
	cat "$why"
	[[ $(tail -n 1 "$why") =~ $regex ]]
}

# The last words of the programs on both sides, in the order of the arguments.
told() { # [SIDE REGEX]...
	while (($#)); do
		has_lines "$1" "$2" 1 || { say "the $1 did not say '$2'"; return 1; }
		shift 2
	done
}

# probe on both sides: to the end of each, whatever its status; then what they must have said.
probes() { # SERVER-ARGUMENTS CLIENT-ARGUMENTS [SIDE REGEX]...
	local listen connect server_job client_job address=${family_address:-$server_v4}
	read -ra listen <<<"$1"
	read -ra connect <<<"$2"
	shift 2
	start server probe listen "$address" "$server_port" "${listen[@]}"
	server_job=$started
	wait_listening "$server_job" || return 1
	start client probe connect "$address" "$server_port" "${connect[@]}"
	client_job=$started
	finish client "$client_job" || return 1
	finish server "$server_job" || return 1
	told "$@"
}

# The same over IPv6.
ipv6() { # FUNCTION [ARGUMENT]...
	local family_address=$server_v6
	"$@"
}

# rping, whose client verifies the data. Either end may end with an error for a channel that it has closed itself, while
# it looks at it.
verified() { # [4|6] [COUNT] [SIZE]
	local side status=0 all="-a %${1:-4} -v -C ${2:-3}${3:+ -S $3}"
	exchange "rping -s $all" "rping -c $all -V" >"$case_dir/said" 2>&1 || status=$?
	for side in server client; do
		! has_lines "$side" 'rdma_get_cm_event: Bad file descriptor' 1 || status=0
	done
	((!status)) || { cat "$case_dir/said"; return 1; }
	has_lines client 'ping data: rdma-ping' "${2:-3}"
}

# probe stands beside the stack, in the guest among the programs.
PATH=$root/build/tests/interop:$PATH
