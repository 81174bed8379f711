#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# uiwarp doctor: nothing wrong with a good set-up, and the right sentence for each that is broken.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

# It looks at the same things over any port.
only_over af_packet

own_settings=()

# What the doctor says from the client's side, and with which exit status.
examined() { # STATUS ARGUMENT...
	local wanted=$1 status=0
	shift
	transport_settings client
	((!${#own_settings[@]})) || settings=("${own_settings[@]}")
	transport_in client "$root/scripts/lib/timeout" "$limit" "$uiwarp" doctor "${settings[@]}" "${client_extra[@]}" "$@" \
		>"$(log_of client)" 2>"$(errors_of client)" || status=$?
	((status == wanted)) || { say "exit status $status, not $wanted"; return 1; }
}

# Each of the sentences must be there, and this many findings.
says() { # COUNT REGEX...
	local count=$1 regex
	shift
	(($(lines_of client '^WRONG') == count)) || { say "not $count findings"; return 1; }
	(($(lines_of client '^  do:') >= count)) || { say "a finding without advice"; return 1; }
	for regex; do
		has_lines client "$regex" 1 || { say "no sentence like '$regex'"; return 1; }
	done
}

# rping takes a connection that comes and goes, when it serves for good.
healthy() {
	start server rping -s -P -p 7174
	wait_listening "$started" || return 1
	examined 0 "$server_v4" 7174 || return 1
	says 0 '^good .*answers pings' '^good .*packets of 1500 bytes.* pass' '^good .*speaks MPA: revision 2' \
		'^nothing is wrong'
}
run_case healthy healthy

wrong_gateway() {
	client_extra=(--set gateway=10.2.0.99)
	examined 1
	local status=$?
	client_extra=()
	((status == 0)) && says 1 '^WRONG .*gateway 10.2.0.99 does not answer ARP'
}
run_case wrong-gateway wrong_gateway

no_route() {
	own_settings=(--set "port=net_af_packet0,iface=uiw0" --set address=10.2.0.2/24)
	examined 1 "$server_v4"
	local status=$?
	own_settings=()
	((status == 0)) && says 1 "^WRONG .*no route to $server_v4"
}
run_case no-route no_route

closed_port() {
	start server rping -s -P -p 7174
	wait_listening "$started" || return 1
	examined 1 "$server_v4" 7199 || return 1
	says 1 '^WRONG .*refuses connections to port 7199: nobody listens'
}
run_case closed-port closed_port

# A Linux TCP that says something else.
no_mpa() {
	netns_in router python3 -c '
import socket
s = socket.create_server(("10.2.0.1", 7198))
c = s.accept()[0]
c.recv(20)
c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
c.recv(20)' &
	jobs+=("$!")
	wait_for "$patience" netns_in router sh -c 'ss -Htln | grep -q :7198' || return 1
	examined 1 10.2.0.1 7198 || return 1
	says 1 '^WRONG .*answers, but not with MPA'
}
run_case no-mpa no_mpa

# A peer of before RFC 6581, which knows no other revision than 1.
revision_1() {
	netns_in router python3 -c '
import socket
s = socket.create_server(("10.2.0.1", 7196))
while True:
    c = s.accept()[0]
    if c.recv(20)[17] == 1:
        c.sendall(b"MPA ID Rep Frame" + bytes([0x40, 1, 0, 0]))
        c.recv(20)
    c.close()' &
	jobs+=("$!")
	wait_for "$patience" netns_in router sh -c 'ss -Htln | grep -q :7196' || return 1
	examined 0 10.2.0.1 7196 || return 1
	says 0 '^good .*speaks MPA: revision 1' '^note .*mpa_revision = 1'
}
run_case revision-1 revision_1

# Which interface, it does not say; there is no such driver.
no_port() {
	own_settings=(--set "port=$1" --set address=10.2.0.2/24)
	examined 1
	local status=$?
	own_settings=()
	((status == 0)) && says 1 '^WRONG .*the port does not open' "$2"
}
run_case no-interface no_port net_af_packet0 '^  do: .*iface=eth1'
run_case no-driver no_port net_nonesuch0 '^  do: .*configuration.md'

# The command that it says brings the link back: of a veth's other end here, of one in another namespace, of what a
# macvlan stands on.
no_link() { # INTERFACE ADVICE COMMAND...
	local status=0
	own_settings=(--set "port=net_af_packet0,iface=$1" --set address=10.9.0.2/24)
	examined 1 && says 1 '^WRONG .*the link of the port is down' "^  do: *$2" || status=$?
	if ((status == 0)); then
		"${@:3}"
		examined 0 && says 0 '^good .*its link is up' || status=$?
	fi
	own_settings=()
	return "$status"
}

no_link_beside() {
	transport_in client ip link add uiw8 type veth peer name uiw9
	transport_in client ip link set uiw8 up
	no_link uiw8 'ip link set uiw9 up$' transport_in client ip link set uiw9 up
	local status=$?
	transport_in client ip link del uiw8
	return "$status"
}
run_case no-link-beside no_link_beside

# The macvlan is up, and so is what it stands on; the veth's other end is not.
no_link_below() {
	transport_in client ip link add uiw8 type veth peer name uiw9
	transport_in client ip link set uiw8 up
	transport_in client ip link add link uiw8 name uiw7 type macvlan
	transport_in client ip link set uiw7 up
	no_link uiw7 'ip link set uiw9 up$' transport_in client ip link set uiw9 up
	local status=$?
	transport_in client ip link del uiw8
	return "$status"
}
run_case no-link-below no_link_below

# shellcheck disable=SC2154 # from the transport
no_link_elsewhere() {
	local number
	transport_in client ip link add uiw8 type veth peer name uiw9
	transport_in client ip link set uiw8 up
	number=$(transport_in client cat /sys/class/net/uiw9/ifindex)
	transport_in client ip link set uiw9 netns "$netns_prefix-router"
	no_link uiw8 "\"ip link set INTERFACE up\" in the network namespace of the other end of uiw8, whose number there is $number " \
		netns_in router ip link set uiw9 up
	local status=$?
	transport_in client ip link del uiw8
	return "$status"
}
run_case no-link-elsewhere no_link_elsewhere

# What the router forwards to the server's side has 1400 bytes at most, and it is not told of.
black_hole() {
	start server rping -s -P -p 7174
	wait_listening "$started" || return 1
	netns_in router ip link set server mtu 1400
	netns_in router ip route add blackhole 10.2.0.2/32 table 77
	netns_in router ip rule add iif lo to 10.2.0.2 priority 0 table 77
	examined 1 "$server_v4"
	local status=$?
	netns_in router ip rule del priority 0 table 77
	netns_in router ip route flush table 77
	netns_in router ip link set server mtu 1500
	((status == 0)) && says 1 '^WRONG .*packets of more than 1400 bytes vanish' '^  do: .*mtu = 1400'
}
run_case mtu-black-hole black_hole

no_capability() {
	transport_settings client
	local status=0
	transport_in client setpriv --bounding-set -net_raw,-net_admin --inh-caps -all \
		"$uiwarp" doctor "${settings[@]}" >"$(log_of client)" 2>"$(errors_of client)" || status=$?
	((status == 1)) || { say "exit status $status"; return 1; }
	has_lines client '^WRONG .*has not the capability CAP_NET_' 1 || { say "not named"; return 1; }
}
run_case no-capability no_capability

# As veth is by itself: Linux leaves checksums to it, and the connection's answer cannot be believed.
unfilled() {
	netns_in router ethtool -K client tx on >/dev/null 2>&1
	netns_in router python3 -c '
import socket
s = socket.create_server(("10.2.0.1", 7197))
s.accept()' &
	jobs+=("$!")
	wait_for "$patience" netns_in router sh -c 'ss -Htln | grep -q :7197' || return 1
	examined 1 --tcp-only 10.2.0.1 7197
	local status=$?
	netns_in router ethtool -K client tx off >/dev/null 2>&1
	((status == 0)) && says 1 '^WRONG .*wrong checksums.*left to hardware' '^  do: .*ethtool -K DEVICE tx off'
}
run_case checksums-left-out unfilled

kernel_address() {
	netns_in client ip addr add 10.2.0.2/32 dev lo
	examined 1
	local status=$?
	netns_in client ip addr del 10.2.0.2/32 dev lo
	((status == 0)) && has_lines client '^WRONG  Linux itself has our address 10.2.0.2, on lo' 1
}
run_case kernel-address kernel_address
plan_done
