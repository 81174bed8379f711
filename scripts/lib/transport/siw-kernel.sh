# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Linux's siw with what ails its receiving repaired, in a guest, and the host's own TCP outside of it, in a namespace
# with a TAP between. What passes is captured there. Stock siw takes a CRC that segments cut for a bad one, and the
# host's TCP cuts as it likes.
siw_plain=fixed siw_adjustable=fixed siw_peer=auto
# shellcheck source=scripts/lib/transport/siw.sh
source "$root/scripts/lib/transport/siw.sh"
siw_namespace=uiw-siw-$$ siw_captured_on=tap0
guest_within=(ip netns exec "$siw_namespace")

transport_missing() {
	local missing
	missing=$(guest_missing tests/interop/guest/build)
	say "${missing:-$(why_no_namespaces)}"
}

transport_up() {
	local in=("${guest_within[@]}")
	siw_loaded=''
	ip netns add "$siw_namespace"
	"${in[@]}" ip tuntap add dev tap0 mode tap
	"${in[@]}" ip link set tap0 addrgenmode none
	"${in[@]}" ip link set lo up
	"${in[@]}" ip link set tap0 up
	"${in[@]}" ip addr add "${outside_addresses[0]}/24" dev tap0
	"${in[@]}" ip -6 addr add "${outside_addresses[1]}/64" dev tap0 nodad
	guest_boot '' -M q35 -m 384 -netdev tap,id=net,ifname=tap0,script=no,downscript=no \
		-device "$(guest_plain_nic 02:00:00:00:66:02),netdev=net"
	guest_ready || die "the guest does not start: see $out/guest.log"
}

transport_down() {
	guest_end
	ip netns del "$siw_namespace" 2>/dev/null || true
}

transport_in() { # SIDE COMMAND...
	"${guest_within[@]}" "${@:2}"
}

transport_settings() { # [SIDE]; fills the array `settings`
	settings=(--set port=kernel --set "peer=$siw_peer")
}
