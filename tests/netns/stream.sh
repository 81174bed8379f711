#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Linux's TCP and ours, over plain streams: whatever either does, the other gets every byte right,
# and hears of the end as it was.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/netns/stream_lib.sh
source "$(dirname "$0")/stream_lib.sh"
only_over af_packet

# ---- bulk ---------------------------------------------------------------------------------------

bulk_bytes=50000000
run_case bulk-in-v4 bulk_in "$ours_v4" $bulk_bytes
run_case bulk-in-v6 bulk_in "$ours_v6" $bulk_bytes
run_case bulk-out-v4 bulk_out "$linux_v4" $bulk_bytes
run_case bulk-out-v6 bulk_out "$linux_v6" $bulk_bytes

# Either side may connect, and either may send.
listener_sends() {
	ours_listens source --bytes 5000000 || return 1
	linux_connects "$ours_v4" sink 5000000 || return 1
	ours_ends || return 1
	linux_listens source 5000000 || return 1
	ours_start sink --verify "$linux_v4" $stream_port
	linux_ends || return 1
	ours_ends || return 1
	reported 'e["bytes"] == 5000000'
}
run_case listener-sends listener_sends

duplex() { # ADDRESS
	ours_listens echo || return 1
	linux_connects "$1" duplex 20000000 || return 1
	ours_ends || return 1
	reported 'e["tcp"]["bytes_received"] == 20000000 and e["tcp"]["bytes_acked"] == 20000001'
}
run_case duplex-v4 duplex "$ours_v4"
run_case duplex-v6 duplex "$ours_v6"

many() {
	ours_listens sink --verify --parallel 50 --interval 0 || return 1
	linux_connects --parallel=50 "$ours_v4" source 300000 || return 1
	ours_ends || return 1
	reported 't["streams"] == 50 and t["bytes"] == 50 * 300000 and not t["failed"]' || return 1
	linux_listens --parallel=50 sink 300000 || return 1
	ours_start source --bytes 300000 --parallel 50 "$linux_v4" $stream_port --interval 0
	linux_ends || return 1
	ours_ends || return 1
	reported 't["streams"] == 50 and t["bytes"] == 50 * 300000 and not t["failed"]'
}
run_case many many

# ---- ping-pong ----------------------------------------------------------------------------------

pingpong() { # SIZE COUNT
	ours_listens echo || return 1
	linux_connects "$ours_v4" pingpong "$1" "$2" || return 1
	ours_ends || return 1
	linux_listens echo || return 1
	ours_start pingpong --verify --message "$1" --count "$2" "$linux_v6" $stream_port
	linux_ends || return 1
	ours_ends || return 1
	reported "e['messages'] == $2 and e['latency']['count'] == $2"
}
run_case pingpong-1 pingpong 1 1000
run_case pingpong-1448 pingpong 1448 1000
run_case pingpong-100000 pingpong 100000 100

# ---- ends ---------------------------------------------------------------------------------------

# Linux closes its direction; ours goes on sending.
half_close_by_linux() { # ADDRESS
	ours_listens echo || return 1
	linux_connects "$1" half 100000 || return 1
	ours_ends
}
run_case half-close-by-linux-v4 half_close_by_linux "$ours_v4"
run_case half-close-by-linux-v6 half_close_by_linux "$ours_v6"

# We close our direction; Linux sends only then.
half_close_by_us() { # ADDRESS
	linux_listens last 3000000 || return 1
	ours_start source --bytes 100000 "$1" $stream_port
	linux_ends || return 1
	ours_ends || return 1
	reported 'e["tcp"]["bytes_received"] == 3000000 and e["bytes"] == 100000'
}
run_case half-close-by-us-v4 half_close_by_us "$linux_v4"
run_case half-close-by-us-v6 half_close_by_us "$linux_v6"

empty() {
	ours_listens sink || return 1
	linux_connects "$ours_v4" source 0 || return 1
	ours_ends || return 1
	linux_listens sink 0 || return 1
	ours_start sink "$linux_v6" $stream_port --time 0.1
	linux_ends || return 1
	ours_ends || return 1
	reported 'e["bytes"] == 0 and not e["error"]'
}
run_case empty empty

reset_by_linux() { # ADDRESS
	linux_listens reset 1000000 || return 1
	ours_start source "$1" $stream_port
	linux_ends || return 1
	ours_ends_with 1 || return 1
	has_line "$(errors_of ours)" 'port 5001 reset the connection$' ||
		{ say "it does not say so"; return 1; }
}
run_case reset-by-linux-v4 reset_by_linux "$linux_v4"
run_case reset-by-linux-v6 reset_by_linux "$linux_v6"

# Interrupted twice, ours throws its connections away.
reset_by_us() { # ADDRESS
	ours_listens sink || return 1
	linux_connects "$1" cut 1000000 >"$(log_of cut)" 2>&1 &
	local job=$!
	jobs+=("$job")
	wait_for "$patience" has_line "$(log_of ours)" '"interval"' || return 1
	kill -INT "$(<"$case_dir/ours.pid")"
	kill -TERM "$(<"$case_dir/ours.pid")"
	wait "$job" || { cat "$(log_of cut)"; return 1; }
	ours_ends
}
run_case reset-by-us-v4 reset_by_us "$ours_v4"
run_case reset-by-us-v6 reset_by_us "$ours_v6"

# Interrupted once, ours ends in order: Linux sees the end of the stream, and what was sent before.
interrupted() {
	linux_listens last 0 || return 1
	ours_start source --time 0 "$linux_v4" $stream_port
	wait_for "$patience" has_line "$(log_of ours)" '"interval"' || return 1
	kill -INT "$(<"$case_dir/ours.pid")"
	linux_ends || return 1
	ours_ends || return 1
	reported 'not e["error"] and e["bytes"] > 0 and e["tcp"]["state"] == "TIME-WAIT"'
}
run_case interrupted interrupted

refused() { # ADDRESS
	ours_start source "$1" $stream_port
	ours_ends_with 1 || return 1
	has_line "$(errors_of ours)" "^uiwarp tcp: $1 port 5001 refused the connection: " ||
		{ say "it does not say so"; return 1; }
}
run_case refused-v4 refused "$linux_v4"
run_case refused-v6 refused "$linux_v6"

# From here on a signal ends the streams; before, the process alone.
reads_signals() { # PID-FILE
	[[ -e $1 ]] && grep -q '^SigBlk:.*400[23]$' "/proc/$(<"$1")/status"
}

# Nobody has this address. Interrupted, it does not wait any longer.
no_answer() {
	ours_start source 10.1.0.77
	wait_for "$patience" reads_signals "$case_dir/ours.pid" || { say "ours does not start"; return 1; }
	kill -INT "$(<"$case_dir/ours.pid")"
	ours_ends_with 1 || return 1
	has_line "$(errors_of ours)" '^uiwarp tcp: 10.1.0.77 port 5001 did not answer before the end$' ||
		{ say "it does not say so"; return 1; }
}
run_case no-answer no_answer

# ---- windows ------------------------------------------------------------------------------------

# Linux reads nothing until ours tells of its window: it closes, ours probes it, and goes on when it opens.
linux_stalls() { # ADDRESS
	local go
	mkfifo "$case_dir/go"
	# Opened for both, so that neither end waits for the other.
	exec {go}<>"$case_dir/go"
	linux_stdin=$case_dir/go linux_listens slow 3000000 || return 1
	ours_start source --bytes 3000000 --interval 0.5 "$1" $stream_port
	wait_for "$patience" has_line "$(log_of ours)" '"snd_wnd": ?0[,}]' || { say "Linux's window does not close"; return 1; }
	say >&"$go"
	exec {go}>&-
	linux_ends || return 1
	ours_ends || return 1
	reported 'any(x["tcp"]["snd_wnd"] == 0 for x in all if x["event"] == "interval")' || return 1
	reported 'e["bytes"] == 3000000'
}
run_case zero-window-linux-v4 linux_stalls "$linux_v4"
run_case zero-window-linux-v6 linux_stalls "$linux_v6"

# We read nothing for a while: our window closes, Linux probes it, and goes on when it opens.
we_stall() { # ADDRESS
	ours_listens sink --verify --stall 2 --interval 0.5 || return 1
	linux_connects "$1" source 30000000 || return 1
	ours_ends || return 1
	reported 'any(x["tcp"]["rcv_wnd"] == 0 for x in all if x["event"] == "interval")' || return 1
	reported 'e["bytes"] == 30000000'
}
server_extra=(--set receive_buffer=256K)
run_case zero-window-ours-v4 we_stall "$ours_v4"
run_case zero-window-ours-v6 we_stall "$ours_v6"
server_extra=()

# ---- options ------------------------------------------------------------------------------------

sysctl() { # NAME VALUE
	netns_in "$linux_in" sh -c "echo $2 >/proc/sys/net/ipv4/$1"
}

# What Linux does not offer is not used, either way; nor what we do not.
without() { # v4|v6 OUR-KEY LINUX-NAME
	local before
	before=$(netns_in "$linux_in" cat "/proc/sys/net/ipv4/$3")
	sysctl "$3" 0
	both_ways_over "$1" 5000000 && reported "not e['tcp']['$2']" || return 1
	sysctl "$3" "$before"
	both_ways_over "$1" 5000000 && reported "e['tcp']['$2']" || return 1
	server_extra=(--set "$2=off")
	both_ways_over "$1" 5000000 && reported "not e['tcp']['$2']" || return 1
	server_extra=()
}

without_all() { # v4|v6
	sysctl tcp_timestamps 0
	sysctl tcp_sack 0
	sysctl tcp_window_scaling 0
	both_ways_over "$1" 5000000 || return 1
	reported 'not any(e["tcp"][x] for x in ("timestamps", "sack", "window_scale"))' || return 1
	sysctl tcp_timestamps 1
	sysctl tcp_sack 1
	sysctl tcp_window_scaling 1
}

for family in v4 v6; do
	run_case without-timestamps-$family without $family timestamps tcp_timestamps
	run_case without-sack-$family without $family sack tcp_sack
	run_case without-window-scale-$family without $family window_scale tcp_window_scaling
	run_case without-all-$family without_all $family
done

# Linux asks for ECN, or answers when we do.
with_ecn() {
	sysctl tcp_ecn 1
	ours_listens sink --verify || return 1
	linux_connects --ecn "$ours_v4" source 5000000 || return 1
	ours_ends || return 1
	sysctl tcp_ecn 2
	server_extra=(--set ecn=on)
	linux_listens --ecn sink 5000000 || return 1
	ours_start source --bytes 5000000 "$linux_v6" $stream_port
	linux_ends || return 1
	ours_ends || return 1
	server_extra=()
}
run_case ecn with_ecn

# Segments of other sizes than Ethernet's.
small_mtu() {
	server_extra=(--set mtu=1280)
	both_ways 2000000 && reported 'e["tcp"]["emss"] == 1228' || return 1
	server_extra=()
}
run_case small-mtu small_mtu
plan_done
