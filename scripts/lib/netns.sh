# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced. Two network namespaces joined by a third that routes, made and removed again:
#
#   PREFIX-server              PREFIX-router               PREFIX-client
#   10.1.0.2  fd01::2  ------  .1  (forwards)  .1  ------  10.2.0.2  fd02::2
#
# The addresses at the outside belong to our stacks; Linux knows nothing of them. For AF_PACKET the
# stack sits on the veth to the router itself. For TAP each outer namespace routes too, between
# its tap and its veth, so the path has three Linux routers.

netns_prefix=

netns_in() { # SIDE COMMAND...
	local side=$1
	shift
	ip netns exec "$netns_prefix-$side" "$@"
}

netns_side_number() { # server | client
	case $1 in
	server) say 1 ;;
	client) say 2 ;;
	esac
}

# Linux's veth hands over unfinished checksums and 64 KiB packets: switch that off.
netns_plain_veth() { # SIDE DEVICE
	netns_in "$1" ethtool -K "$2" tx off rx off tso off gso off gro off >/dev/null
	netns_in "$1" ip link set "$2" up
}

netns_forward() { # SIDE
	netns_in "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
}

netns_address() { # SIDE DEVICE ADDRESS...
	local side=$1 device=$2 address
	shift 2
	for address in "$@"; do
		case $address in
		*:*) netns_in "$side" ip -6 addr add "$address" dev "$device" nodad ;;
		*) netns_in "$side" ip addr add "$address" dev "$device" ;;
		esac
	done
}

# Addresses are given by hand, link-local ones too (Linux solicits neighbours from those): nothing
# has to wait for duplicate address detection.

# The veth pair between a side and the router; `uiw0` outside, the side's name in the router.
netns_wire() { # SIDE
	local side=$1
	ip -n "$netns_prefix-router" link add "$side" type veth \
		peer name uiw0 netns "$netns_prefix-$side"
	netns_in "$side" ip link set uiw0 addrgenmode none
	netns_in router ip link set "$side" addrgenmode none
	netns_plain_veth "$side" uiw0
	netns_plain_veth router "$side"
}

# The stack will sit on uiw0: keep Linux from using it.
netns_attach_af_packet() { # SIDE
	local side=$1 n
	n=$(netns_side_number "$side")
	netns_in "$side" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/uiw0/disable_ipv6'
	netns_address router "$side" "10.$n.0.1/24" "fd0$n::1/64" fe80::1/64
}

# The stack will sit on tap0, with Linux as its router.
netns_attach_tap() { # SIDE
	local side=$1 n
	n=$(netns_side_number "$side")
	netns_address router "$side" "10.$n.1.1/24" "fd0$n:1::1/64" fe80::1/64
	netns_address "$side" uiw0 "10.$n.1.2/24" "fd0$n:1::2/64" fe80::2/64
	netns_in router ip route add "10.$n.0.0/24" via "10.$n.1.2"
	netns_in router ip -6 route add "fd0$n::/64" via "fd0$n:1::2"
	netns_in "$side" ip route add default via "10.$n.1.1"
	netns_in "$side" ip -6 route add default via "fd0$n:1::1"
	netns_forward "$side"
	netns_in "$side" ip tuntap add dev tap0 mode tap multi_queue
	netns_in "$side" ip link set tap0 addrgenmode none
	netns_in "$side" ip link set tap0 up
	netns_address "$side" tap0 "10.$n.0.1/24" "fd0$n::1/64" fe80::1/64
}

# Stacks will sit on them, as neighbours.
netns_bridge_taps() { # SIDE TAP...
	local side=$1 device
	netns_in "$side" ip link add bridge0 type bridge
	for device in "${@:2}"; do
		netns_in "$side" ip tuntap add dev "$device" mode tap multi_queue
		netns_in "$side" ip link set "$device" master bridge0
	done
	for device in bridge0 "${@:2}"; do
		netns_in "$side" sh -c "echo 1 >/proc/sys/net/ipv6/conf/$device/disable_ipv6"
		netns_in "$side" ip link set "$device" up
	done
}

netns_up() { # PREFIX af_packet|tap
	local side
	netns_prefix=$1
	for side in router server client; do
		ip netns add "$netns_prefix-$side"
		netns_in "$side" ip link set lo up
	done
	netns_forward router
	for side in server client; do
		netns_wire "$side"
		"netns_attach_$2" "$side"
	done
}

netns_down() {
	local side
	for side in server client router; do
		ip netns del "$netns_prefix-$side" 2>/dev/null || true
	done
}

# What the stack of a side is told.
netns_settings() { # SIDE af_packet|tap; fills the array `settings`
	local n
	n=$(netns_side_number "$1")
	# shellcheck disable=SC2034 # an out parameter
	settings=(
		--set "address=10.$n.0.2/24" --set "gateway=10.$n.0.1"
		--set "address=fd0$n::2/64" --set "gateway=fd0$n::1"
	)
	case $2 in
	af_packet) settings+=(--set "port=net_af_packet0,iface=uiw0") ;;
	tap) settings+=(--set "port=net_tap0,iface=tap0") ;;
	esac
}
