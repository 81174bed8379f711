# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Two stacks joined by shared memory, each in a namespace where the kernel has the same address as the
# stack, over a veth: what a machine with an RNIC looks like to programs that use both at once, such
# as qperf with its TCP connection for control.

# shellcheck source=scripts/lib/netns.sh
source "$root/scripts/lib/netns.sh"
# shellcheck source=scripts/lib/transport/memif.sh
source "$root/scripts/lib/transport/memif.sh"

transport_missing() {
	why_no_namespaces
}

transport_up() { # [NAME]: what tells these namespaces from others of this program
	local side n=1
	netns_prefix=uiw-$$${1:+-$1}
	for side in server client; do
		ip netns add "$netns_prefix-$side"
		netns_in "$side" ip link set lo up
	done
	ip -n "$netns_prefix-server" link add uiw0 type veth peer name uiw0 netns "$netns_prefix-client"
	for side in server client; do
		netns_address "$side" uiw0 "10.77.0.$n/24" "fd77::$n/64"
		netns_in "$side" ip link set uiw0 up
		n=2
	done
}

transport_down() {
	netns_down
}

transport_in() { # SIDE COMMAND...
	netns_in "$@"
}

# There they have no way to each other but the kernel's network between.
control_host=$server_v4
