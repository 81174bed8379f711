#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Linux's TCP against a listening program of ours: a peer that talks garbage, or nothing, or half
# a request loses its connection in time, and the program serves on.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

# RFC 5044 leaves the time for the start-up frames to us: 10 s (rnic_config.start_timeout_ms), and again
# when the machine stood still at its end. Far less than TCP itself would live on.
deadline=60

# It is not the deadline that ends this one.
garbage() { # ADDRESS
	peer garbage "$1" $service $deadline || return 1
	has_line "$(stack_log_of server)" 'MPA start-up: ' || { say "the server's log does not say why"; return 1; }
}

for address in "$server_v4" "$server_v6"; do
	[[ $address == *:* ]] && family=v6 || family=v4
	beside "silent-$family" with_server peer silent "$address" $service $deadline
	beside "half-$family" with_server peer half "$address" $service $deadline
	run_case "garbage-$family" with_server garbage "$address"
done

# The network falls silent in the middle of the start-up; the connection is given up.
half_open() {
	local job
	peer silent "$server_v4" $service $((2 * deadline)) >"$(log_of peer)" 2>&1 &
	job=$!
	jobs+=("$job")
	wait_for "$patience" connected_to "$server_v4" || { say "no connection"; return 1; }
	# Not the link: the router would forget its routes with it.
	netns_in router ip route add blackhole "$server_v4/32"
	wait_for $deadline has_line "$(stack_log_of server)" 'start-up' ||
		{ say "the start-up was not given up"; return 1; }
	netns_in router ip route del blackhole "$server_v4/32"
	kill "$job" 2>/dev/null || true
}
connected_to() { # ADDRESS
	netns_in router grep -q ' 01 ' /proc/net/tcp
}
quiet_link() {
	server_extra=(--set log=debug)
	with_server half_open
}
beside half-open quiet_link

# Handshakes that nobody finishes, fewer than the backlog, are in nobody's way.
unfinished() {
	netns_in router ip route replace blackhole 192.0.2.0/24
	peer flood "$server_v4" $service 2
}
run_case unfinished with_server unfinished
tell_beside
plan_done
