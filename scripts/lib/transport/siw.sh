# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the transports to Linux's siw in a QEMU guest (tests/interop/guest). The
# wire is a virtio ring of the guest's that our stack serves over vhost-user: no root, no namespace,
# no interface of this machine.
#
#   our stack  10.66.0.1  fd66::1  ---- $work/wire ----  10.66.0.2  fd66::2  guest
#
# $guest_side says which side of a case is the guest's; the other is a stack of ours.

# shellcheck source=scripts/lib/guest.sh
source "$root/scripts/lib/guest.sh"
guest_files=$root/out/interop/guest
guest_addresses=(10.66.0.2 fd66::2) outside_addresses=(10.66.0.1 fd66::1)
siw_loaded=''
bulk=20 control_host=''

transport_missing() {
	guest_missing tests/interop/guest/build
}

# What a case begins with: siw as wanted, nothing left of an earlier program.
siw_load() { # VARIANT [PARAMETER=VALUE]...
	guest control "end" || return 1
	[[ $siw_loaded == "$*" ]] && return
	siw_loaded=''
	guest control "load $*" && siw_loaded=$*
}

# QEMU wants to see the other end of the wire before it begins: a stack that only lives meanwhile.
transport_up() {
	local first ready=yes wire=chardev=wire,id=net
	rm -f "$work/wire"
	siw_loaded=''
	guest_boot '' -M q35,memory-backend=memory -m 384 \
		-object memory-backend-memfd,id=memory,size=384M,share=on \
		-chardev "socket,id=wire,path=$work/wire,server=on,wait=off" -netdev "vhost-user,$wire" \
		-device "$(guest_plain_nic 02:00:00:00:66:02),netdev=net"
	wait_for "$patience" test -S "$work/wire" || die "QEMU does not start: see $out/guest.qemu.log"
	transport_settings
	"$uiwarp" tcp sink "${settings[@]}" --listen 1 >"$out/first.log" 2>&1 &
	first=$!
	guest_ready || ready=''
	kill "$first"
	wait "$first" || true
	[[ $ready ]] || die "the guest does not start: see $out/guest.log"
}

transport_down() {
	guest_end
}

transport_in() { # SIDE COMMAND...
	shift
	"$@"
}

transport_settings() { # [SIDE]; fills the array `settings`
	settings=(
		--set "port=net_vhost0,iface=$work/wire,client=1"
		--set "address=10.66.0.1/24" --set "address=fd66::1/64" --set "peer=$siw_peer"
	)
}
