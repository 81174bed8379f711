#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each NIC in guests of its own: bound to vfio-pci behind an IOMMU, and to uio_pci_generic without one.
# shellcheck source=tests/nic/lib.sh
source "$(dirname "$0")/lib.sh"

# rping's data is verified by its client; its bytes go both ways.
rping_of() { # ADDRESS(%4|%6) SEGMENT
	exchange "rping -s -a $1 -v -C 5 -S 20000" "rping -c -a $1 -v -V -C 5 -S 20000" \
		client 5 'ping data: rdma-ping' server 5 'ping data: rdma-ping' || return 1
	wire_is_good "$2"
}

perftest_of() { # PROGRAM SIZE
	exchange "$1 -R -F -s $2 -n 20" "$1 -R -F -s $2 -n 20 %4" client 1 "^ *$2 +20 "
}

# Its Atomics are of 8 bytes, and it takes no other size.
atomics_of() { # PROGRAM
	exchange "$1 -R -F -n 20" "$1 -R -F -n 20 %4" client 1 '^ *8 +20 '
}

operations() {
	probed_right send server 'received: 16000 bytes right' && probed_right write server 'buffer: right' &&
		probed_right read client 'read: right' || return 1
	exchange "rfc7306 -p 7306" "rfc7306 -p 7306 %4" client 6 '^written ' client 1 '^added 1000' server 6 '^arrived ' \
		server 1 '^counted 2000' server 1 '^sent with immediate'
}

# One bit is wrong in some frames, both ways: none of those may count, and what is in them comes once more.
# shellcheck disable=SC2154 # from the transport
corrupted() {
	local wan status=0 in=("${guest_within[@]}")
	"${in[@]}" ip link set uiw0b nomaster
	"${in[@]}" ip link set uiw1b master br0
	"${in[@]}" "$uiwarp" wan --json --a net_af_packet0,iface=uiw0b --b net_af_packet1,iface=uiw1 --corrupt 10% \
		>"$(log_of wan)" 2>"$(errors_of wan)" </dev/null &
	wan=$!
	jobs+=("$wan")
	wait_for "$patience" has_line "$(log_of wan)" '"ready"' &&
		exchange "rping -s -a %4 -v -C 20 -S 20000" "rping -c -a %4 -v -V -C 20 -S 20000" \
			client 20 'ping data: rdma-ping' server 20 'ping data: rdma-ping' || status=$?
	kill "$wan" && wait "$wan" || status=$?
	"${in[@]}" ip link set uiw1b nomaster
	"${in[@]}" ip link set uiw0b master br0
	(($(grep -oE '"corrupted": ?[1-9]' "$(log_of wan)" | wc -l) >= 2)) || { say "no frames were corrupted"; return 1; }
	return "$status"
}

jumbo() {
	# shellcheck disable=SC2034 # for the transport
	local nic_mtu=9000
	rping_of %4 8000
}

# What the NIC offers to do is asked of it; whether it does that right is seen by rping_of().
offloads() { # REGEX
	exchange "rping -s -a %4 -C 1" "rping -c -a %4 -V -C 1" || return 1
	guest_says "$1" || { say "its offloads are not used"; return 1; }
}

# Payload goes from the memory of the program, and comes as it is there.
gathered() { # MTU
	# shellcheck disable=SC2034 # for the transport
	local nic_mtu=$1 nic_keys="gather=on crc=off" nic_more=(--set crc=off)
	rping_of %4 $(($1 - 100)) || return 1
	gathering || return 1
	probed_right send server 'received: 16000 bytes right' && probed_right write server 'buffer: right' &&
		probed_right read client 'read: right'
}

# The guest sends: as a client it Writes, and as a server it is read from.
gathering() {
	local server_job client_job command="ib_write_bw -R -F -s 65536 -n 3000"
	[[ $guest_side == client ]] || command=${command/write/read}
	start_both "$command" "$command %4" || return 1
	wait_for "$patience" guest control "uiwarp stat --json | grep -qE '\"external_out\": ?[1-9]'" ||
		{ say "nothing is sent from the program's memory"; return 1; }
	finish client "$client_job" && finish server "$server_job"
}

# Segments go to the NIC in chains, which it cuts, here by means of the host. Behind it each FPDU lies in one segment,
# also of those that are sent again: the host has a short queue before the other side.
# shellcheck disable=SC2154 # from the transport
segmented() { # the guest sends
	local status=0
	"${guest_within[@]}" tc qdisc add dev uiw0b root tbf rate 30mbit burst 4000 limit 25000 || return 1
	segments_go || status=$?
	"${guest_within[@]}" tc qdisc del dev uiw0b root
	((status == 0)) && wire_is_good 1400 1 && segments_are_aligned
}

segments_go() {
	local server_job client_job
	start_both "ib_write_bw -R -F -s 65536 -n 200" "ib_write_bw -R -F -s 65536 -n 200 %4" || return 1
	wait_for "$patience" chains_go || { say "no chains are sent"; return 1; }
	finish client "$client_job" && finish server "$server_job" || return 1
	guest_says 'TCP segmentation' || { say "its TCP segmentation is not used"; return 1; }
}

chains_go() {
	guest control "uiwarp stat --json | grep -qE '\"tx_tso\": ?[1-9]'"
}

segments_are_aligned() {
	local said
	said=$("$uiwarp" pcap stats "$out/$case_name.pcapng") || { say "uiwarp pcap cannot read the capture"; return 1; }
	say "$said"
	[[ $said == *"> TCP: "*"early "[1-9]*"holes of the capture 0 "* ]] || { say "nothing was sent again"; return 1; }
	awk '
		/FPDUs:/ && !/100 %\), lie in one [0-9]+ \(100 %\); bad CRC 0,/ { bad = 1; print "not aligned:" $0 }
		END { exit bad }' <<<"$said"
}

# A side that waits for packets sleeps until the NIC's interrupt comes.
interrupted() {
	local before
	[[ $handed_by == vfio ]] || return 0
	guest_says 'sleeps on receive' || { say "the port has no interrupt"; return 1; }
	before=$(guest control interrupts)
	wait_for "$patience" more_interrupts "$before" || { say "the NIC's interrupts do not come"; return 1; }
}

more_interrupts() { # THAN
	(($(guest control interrupts) > $1))
}

# The link of a NIC goes for seconds. What is connected stays, and goes on.
flap() {
	local server_job client_job n
	start_both "rping -s -a %4 -P -S 20000" "rping -c -a %4 -v -V -C 100000 -S 20000" || return 1
	wait_for "$patience" has_lines client 'ping data: rdma-ping' 5 || { say "nothing goes"; return 1; }
	interrupted || return 1
	nic_link off
	wait_for "$patience" guest_says 'link down' || { say "the link does not go down"; return 1; }
	sleep 10 # the time without a link
	nic_link on
	wait_for "$patience" link_is_back || { say "the link does not come back"; return 1; }
	n=$(lines_of client 'ping data: rdma-ping')
	wait_for "$patience" has_lines client 'ping data: rdma-ping' $((n + 20)) ||
		{ say "the connection does not go on"; return 1; }
	is_alive "$client_job" && is_alive "$server_job"
}

# The last that was said of it.
link_is_back() {
	guest control "grep -o 'link [a-z]*$' /tmp/stack.log | tail -n 1 | grep -q up"
}

events() {
	local watch_job
	start server ibv_asyncwatch
	watch_job=$started
	wait_for "$patience" has_lines server 'async event FD' 1 || { say "it does not watch"; return 1; }
	wait_for "$patience" guest_says 'link up' || { say "there is no link"; return 1; }
	nic_link off
	wait_for "$patience" has_lines server IBV_EVENT_PORT_ERR 1 || { say "no PORT_ERR comes"; return 1; }
	nic_link on
	wait_for "$patience" has_lines server IBV_EVENT_PORT_ACTIVE 1 ||
		{ say "no PORT_ACTIVE comes"; return 1; }
	is_alive "$watch_job"
}

# A NIC that QEMU has not is told of once.
skipped_without() { # DEVICE
	nic_is_known "$1" && return 1
	! wanted "$nic-$handed_by" || result ok "$suite-$nic-$handed_by" "SKIP this QEMU has no $1"
}

# All of perftest's operations, by throughput in both roles, by latency in one.
perftest_in_guest() {
	for program in ib_write_bw ib_send_bw ib_read_bw; do
		both_ways "$program" perftest_of "$program" 16384
	done
	for program in ib_write_lat ib_send_lat ib_read_lat; do
		in_guest "$program" server perftest_of "$program" 64
	done
	for program in ib_atomic_bw ib_atomic_lat; do
		in_guest "$program" server atomics_of "$program"
	done
}

guests_with() { # NIC QEMU'S-DEVICE OFFLOADS-REGEX
	local limit=$limit patience=$patience
	nic=$1
	for handed_by in vfio uio; do
		! skipped_without "$2" || continue
		# Interrupts of QEMU's e1000 are nobody's for Linux: it takes 100,000 of them before it goes without.
		[[ $1-$handed_by != e1000-uio ]] || limit=400 patience=400
		everything
		# What is the same whoever hands it over.
		[[ $handed_by == vfio ]] || continue
		in_guest rping-v6 server rping_of %6 1400
		in_guest corrupted server corrupted
		in_guest offloads server offloads "$3"
		both_ways gather gathered 1500
		both_ways gather-9000 gathered 9000
		[[ $3 != *segmentation* ]] || in_guest segmentation client segmented
	done
}

everything() {
	both_ways rping rping_of %4 1400
	perftest_in_guest
	both_ways operations operations
	both_ways mtu-9000 jumbo
	in_guest link server flap
	in_guest events server events
}

# Programs of our own, outside; they are in the guest too.
PATH=$root/build/tests/interop:$root/build/tests/apps:$PATH
both='receive checksums, transmit checksums'
guests_with virtio virtio-net-pci "$both, TCP segmentation"
guests_with e1000 e1000 "$both"
guests_with e1000e e1000e "$both"
guests_with igb igb "$both, TCP segmentation"
guests_with vmxnet3 vmxnet3 "$both, TCP segmentation"
plan_done
