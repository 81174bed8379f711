#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Linux's TCP and ours at the two ends of a path that delays, loses, reorders and repeats.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/netns/stream_lib.sh
source "$(dirname "$0")/stream_lib.sh"
only_over af_packet

# Ours stays on the server's side; the emulator takes the router's place, and Linux's end is on the
# client's side.
linux_in=client
linux_v4=10.1.0.9 linux_v6=fd01::9
make_wire() {
	local side
	for side in server client; do
		netns_in router ip addr flush dev "$side"
		netns_in router sh -c "echo 1 >/proc/sys/net/ipv6/conf/$side/disable_ipv6"
	done
	netns_in router sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward'
	netns_in client sh -c 'echo 0 >/proc/sys/net/ipv6/conf/uiw0/disable_ipv6'
	netns_address client uiw0 $linux_v4/24 $linux_v6/64 fe80::9/64
}
make_wire

# The emulator, for the rest of the case.
wan() { # ARGUMENT-OF-uiwarp-wan...
	# shellcheck disable=SC2016 # expanded by the inner shell
	netns_in router bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/wan.pid" \
		"$uiwarp" wan --json --a net_af_packet0,iface=server --b net_af_packet1,iface=client \
		--seed 5 "$@" >"$(log_of wan)" 2>"$(errors_of wan)" </dev/null &
	jobs+=("$!")
	wait_for "$patience" has_line "$(log_of wan)" '"ready"' ||
		{ say "the emulator does not start"; return 1; }
}

over() { # ARGUMENTS-OF-uiwarp-wan COMMAND...
	local path
	read -ra path <<<"$1"
	shift
	wan "${path[@]}" && "$@"
}

# Both directions of the data at once, each with its losses of data and of ACKs.
duplex() { # BYTES
	ours_listens echo || return 1
	linux_connects "$ours_v4" duplex "$1" || return 1
	ours_ends
}

# Losses of both kinds, and each other trouble alone: then it is known which one hurts.
for cc in newreno cubic bbr; do
	run_case "loss-$cc" over "--rate 100m --delay 5ms --loss 0.5%" both_ways 4000000 --cc $cc
done
run_case bursts over "--rate 100m --delay 5ms --loss 0.5%:6" both_ways 4000000
run_case reordering over "--rate 100m --delay 5ms --reorder 2% --reorder-by 5ms" both_ways 6000000
run_case duplicates over "--rate 100m --delay 5ms --duplicate 5%" both_ways 6000000
run_case corruption over "--rate 100m --delay 5ms --corrupt 0.3%" both_ways 4000000
run_case jitter over "--rate 100m --delay 5ms --jitter 3ms --jitter-reorders=yes" both_ways 4000000
run_case all-v6 over "--rate 100m --delay 5ms --loss 0.3% --reorder 1% --reorder-by 3ms
	--duplicate 1% --corrupt 0.1%" bulk_out $linux_v6 4000000
run_case all-duplex over "--rate 100m --delay 5ms --loss 0.3% --reorder 1% --reorder-by 3ms
	--duplicate 1% --corrupt 0.1%" duplex 3000000
run_case short-queue over "--rate 50m --delay 10ms --queue 20p" both_ways 6000000

# A long path with room for all of it: the windows must follow.
long() {
	both_ways 8000000 && reported 'e["tcp"]["rttvar_ns"] > 0 and e["tcp"]["srtt_ns"] >= 80000000'
}
run_case long over "--rate 400m --delay 40ms" long

# Without SACK or timestamps a loss is harder to repair.
bare() { # v4|v6
	server_extra=(--set sack=off --set timestamps=off)
	both_ways_over "$1" 2000000 && reported 'not e["tcp"]["sack"] and not e["tcp"]["timestamps"]' || return 1
	server_extra=()
}
for family in v4 v6; do
	run_case bare-$family over "--rate 100m --delay 3ms --loss 0.5%" bare $family
done

# Both close 0.9 s after our side's handshake, Linux's side of which is 0.4 s later: so long it takes until the other
# hears of it. On our side that is CLOSING, and then TIME-WAIT (RFC 9293 section 3.6). One that is late does not
# close at the same time, and both begin anew.
simultaneous_close() {
	local tries=5
	until both_close && fins_crossed "$case_dir/c"; do
		((--tries)) || return 1
	done
	reported 'e["tcp"]["state"] == "TIME-WAIT" and not e["error"]'
}
both_close() {
	rm -f "$case_dir/c"
	linux_listens close 0.5 || return 1
	ours_start source --time 0.9 --rate 100k "$linux_v4" $stream_port --set capture="$case_dir/c"
	linux_ends || return 1
	ours_ends
}
# Ours left before theirs had come, and did not acknowledge it.
fins_crossed() { # PCAPNG
	tshark -r "$1" -Y 'tcp.flags.fin == 1' -T fields -e ip.src -e tcp.ack -e tcp.seq -e tcp.nxtseq \
		>"$case_dir/fins" 2>/dev/null
	awk -v ours="$ours_v4" '$1 == ours { ack = $2 } $1 != ours { fin = $4 }
		END { exit !(ack && fin && ack < fin) }' "$case_dir/fins" ||
		{ say "the FINs did not cross: $(<"$case_dir/fins")"; return 1; }
}
run_case simultaneous-close over "--delay 400ms" simultaneous_close
plan_done
