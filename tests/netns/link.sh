#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The cable is pulled and put back: programs hear of it, as of any RDMA device's port, and
# connections outlive it.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

only_over af_packet

# Linux may take a second to say so.
has_carrier() {
	[[ $(netns_in server ip -o link show uiw0) == *"state UP"* ]]
}

has_none() {
	! has_carrier
}

# The other end of the server's veth pair: without it there is no carrier.
cable() { # up | down
	netns_in router ip link set server "$1"
	if [[ $1 == up ]]; then
		wait_for "$patience" has_carrier
	else
		wait_for "$patience" has_none
	fi
}

# ibv_asyncwatch writes one line per event, to a terminal or when its buffer is full.
watched() {
	start server stdbuf -oL ibv_asyncwatch
	wait_for "$patience" has_lines server 'async event' 1 || { say "ibv_asyncwatch does not start"; return 1; }
	cable down
	wait_for "$patience" has_lines server 'IBV_EVENT_PORT_ERR' 1 || { say "nothing of the cable's end"; return 1; }
	cable up
	wait_for "$patience" has_lines server 'IBV_EVENT_PORT_ACTIVE' 1 || { say "nothing of the cable's return"; return 1; }
}

# So short that nothing but the count of the carrier's changes tells of it.
flap() {
	netns_in router ip -batch - <<<"$(printf 'link set server %s\n' down up)"
	wait_for "$patience" has_carrier
}

flapped() {
	start server stdbuf -oL ibv_asyncwatch
	wait_for "$patience" has_lines server 'async event' 1 || { say "ibv_asyncwatch does not start"; return 1; }
	wait_for "$patience" has_line "$(stack_log_of server)" ': link up' || { say "the link does not come up"; return 1; }
	flap
	wait_for "$patience" has_lines server 'IBV_EVENT_PORT_ERR' 1 || { say "nothing of the cable's end"; return 1; }
	wait_for "$patience" has_lines server 'IBV_EVENT_PORT_ACTIVE' 1 || { say "nothing of the cable's return"; return 1; }
}

reports() { # STATE
	start server ibv_devinfo
	wait "$started"
	has_lines server "state:[[:space:]]*$1" 1 || { say "ibv_devinfo does not say $1"; return 1; }
}

# The state is what the port has now.
told() {
	cable down
	reports PORT_DOWN
	local status=$?
	cable up
	((status == 0)) && reports PORT_ACTIVE
}

arp_sent() { # COUNT
	local sent
	sent=$(transport_in server "$uiwarp" stat --json "$(program_pid server)" 2>/dev/null |
		grep -oE '"arp_tx": ?[0-9]+' | grep -oE '[0-9]+$')
	((sent >= $1))
}

# What the stack says of itself at first, a probe and, as the link is up, three and two announcements, was not heard on
# the other side of a cable that was pulled: it is said again.
said_again() {
	start server rping -s -P -a ::0
	wait_listening "$started" || return 1
	wait_for "$patience" arp_sent 6 || { say "the address is not probed"; return 1; }
	cable down
	wait_for "$patience" has_line "$(stack_log_of server)" ': link down' || { say "nothing of the cable's end"; return 1; }
	cable up
	wait_for "$patience" arp_sent 11 || { say "the address is not probed again"; return 1; }
}

# A program that begins then gets a sentence: the program says "unreachable" at best.
begun_without() {
	local status=0
	cable down
	start server rping -c -a "${server_v4%.*}.77" -C 1
	wait "$started" || status=$?
	rm -f "$case_dir/server.pid"
	cable up
	((status != 0)) || { say "the program ended well"; return 1; }
	has_line "$(stack_log_of server)" 'the link of port net_af_packet0.* is down' ||
		{ say "no sentence of the link"; return 1; }
}

# The interface itself is deleted. Nothing can be done over this path afterwards.
deleted() {
	start server stdbuf -oL ibv_asyncwatch
	wait_for "$patience" has_lines server 'async event' 1 || { say "ibv_asyncwatch does not start"; return 1; }
	# A port that has never been opened is not lost.
	wait_for "$patience" has_line "$(stack_log_of server)" 'net_af_packet, mtu' ||
		{ say "the port is not opened"; return 1; }
	netns_in router ip link del server
	wait_for "$patience" has_lines server 'IBV_EVENT_DEVICE_FATAL' 1 || { say "nothing of the interface's end"; return 1; }
}

run_case events watched
run_case flap flapped
run_case state told
run_case said_again said_again
run_case begun_without begun_without
run_case deleted deleted
plan_done
