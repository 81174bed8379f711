# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the suites here: how the processes of one host are joined.

# A namespace with a Linux bridge and TAPs on it, tap1 to tapN. Linux has no address there. Whoever
# calls deletes the namespace.
tap_bridge_up() { # NAMESPACE TAPS
	local i
	ip netns add "$1"
	ip -n "$1" link add br0 type bridge
	ip -n "$1" link set br0 up
	for ((i = 1; i <= $2; i++)); do
		ip -n "$1" tuntap add dev "tap$i" mode tap multi_queue
		ip -n "$1" link set "tap$i" addrgenmode none master br0 up
	done
}
