#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# VLANs (802.1Q), between processes of ours over a memif, on one interface and on TAPs of one bridge; tests/nic/vlan.sh
# has Linux's VLAN interface at the other end.
# shellcheck disable=SC2154 # of the transport
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $transport == memif || $transport == tap ]] || only_over af_packet

[[ $transport == memif ]] || transport_of_neighbours
eval "port_settings() $(declare -f transport_settings | sed 1d)"

vlan_of_client=5
transport_settings() { # SIDE
	local vlan=5
	[[ $1 == server ]] || vlan=$vlan_of_client
	port_settings "$1"
	settings+=(--set "vlan=$vlan" --set "mtu=1500" --set "capture=$out/$case_name.$1.pcapng")
}

# Every frame of what both captured has the tag, and the checker joins the streams behind it.
tagged() { # ADDRESS(%4|%6)
	local side capture
	exchange "rping -s -a $1 -v -C 10 -S 60000" "rping -c -a $1 -v -V -C 10 -S 60000" \
		client 10 'ping data: rdma-ping' || return 1
	for side in server client; do
		capture=$out/$case_name.$side.pcapng
		[[ $(tshark -r "$capture" -Y tcp -T fields -e vlan.id 2>/dev/null | sort -u) == 5 ]] ||
			{ say "the $side captured frames without the tag"; return 1; }
		"$uiwarp" pcap check "$capture" || { say "what the $side captured is not right"; return 1; }
	done
}
run_case v4 tagged %4
run_case v6 tagged %6

# A full packet has the MTU, and its tag beside.
full() {
	local length
	exchange "ib_write_bw -R -F -s 65536 -n 20" "ib_write_bw -R -F -s 65536 -n 20 %4" || return 1
	length=$(tshark -r "$out/$case_name.client.pcapng" -Y tcp -T fields -e ip.len -e frame.len 2>/dev/null |
		sort -n | tail -n 1)
	[[ $length == 1500[[:space:]]1518 ]] || { say "the longest packet and frame have $length bytes"; return 1; }
}
run_case full-frames full

# The priority in the tag is the precedence of the connection's type of service; that of other connections is 0.
prioritized() { # FIELD PORT PRIORITY SERVER CLIENT
	local is
	exchange "$4" "$5" || return 1
	is=$(tshark -r "$out/$case_name.client.pcapng" -Y "tcp.$1 == $2 && tcp.len > 1000" -T fields \
		-e vlan.priority 2>/dev/null | sort -u | paste -sd ' ')
	[[ $is == "$3" ]] || { say "the priorities are $is"; return 1; }
}
writes="ib_write_bw -R -F -s 65536 -n 20"
messages="ucmatose -S 4096 -C 10"
run_case priority prioritized dstport 18515 5 "$writes --tos=160" "$writes --tos=160 %4"
run_case priority-none prioritized dstport 18515 0 "$writes" "$writes %4"
run_case priority-v6 prioritized dstport 7471 3 "$messages -b %6" "$messages -t 96 -s %6"
# Without rdma_cm it is the traffic class of the address vector, also of the side that accepts: here the client, whose
# address is the greater one.
unpaired() { # PRIORITY SERVER CLIENT
	local listens_at=linux writes="ib_write_bw -F -s 65536 -n 20 -p %p"
	prioritized srcport 61525 "$1" "$writes $2" "$writes $3 %h"
}
run_case priority-accepting unpaired 5 '' --tclass=160
run_case priority-accepting-none unpaired 0 --tclass=160 ''

# What has another tag reaches nobody, and is counted.
dropped() {
	transport_in server "$uiwarp" stat --json "$(program_pid server)" >"$(log_of stat)" 2>&1
	(($(grep -oE '"rx_other_vlan": *[0-9]+' "$(log_of stat)" | grep -oE '[0-9]+') >= 1))
}

apart() {
	local status=0 vlan_of_client=6
	start server rping -s -P -a "$server_v4"
	wait_listening "$started" || return 1
	start client rping -c -a "$server_v4" -C 1
	wait "$started" || status=$?
	((status)) || { say "they reach each other"; return 1; }
	wait_for "$patience" dropped || { say "the frames are not counted"; return 1; }
}
run_case apart apart
plan_done
