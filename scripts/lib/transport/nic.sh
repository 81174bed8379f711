# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by tests/nic/lib.sh. Our stack on a NIC that QEMU emulates, in a guest, and our stack outside of it,
# in a namespace with a bridge between:
#
#   10.67.0.1  fd67::1  uiw0 ---- br0 ---- tap0 ---- QEMU's NIC  10.67.0.2  fd67::2
#   AF_PACKET on a veth                              vfio-pci or uio_pci_generic in the guest
#
# A guest is booted when the first case wants it; $guest_side says which side of a case is the guest's.

# shellcheck source=scripts/lib/guest.sh
source "$root/scripts/lib/guest.sh"
guest_files=$root/out/nic/guest
guest_addresses=(10.67.0.2 fd67::2) outside_addresses=(10.67.0.1 fd67::1)
nic_namespace=uiw-nic-$$
nic_address=0000:00:03.0
# Told by a program: another port of the guest's stack than the NIC, with EAL arguments; further keys, without blanks, of
# that stack (nic_keys) and as arguments of the one outside (nic_more).
nic_port=$nic_address nic_eal=''
guest_within=(ip netns exec "$nic_namespace")
nic_keys='' nic_more=() nic_mtu=1500 nic_booted='' nic_driver=''
bulk=20 control_host=''

transport_missing() {
	local missing
	missing=$(guest_missing tests/nic/guest/build)
	say "${missing:-$(why_no_namespaces)}"
}

# Frames of 9000 bytes pass everywhere. What QEMU leaves to the host (checksums of virtio) is done by the bridge's
# end of the veth.
transport_up() {
	local device in=("${guest_within[@]}")
	ip netns add "$nic_namespace"
	"${in[@]}" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	"${in[@]}" ip link add br0 type bridge mcast_snooping 0
	"${in[@]}" ip link add uiw0 type veth peer name uiw0b
	"${in[@]}" ip link add uiw1 type veth peer name uiw1b # for what a case puts between uiw0b and the bridge
	for device in tap0 tap1; do
		"${in[@]}" ip tuntap add dev "$device" mode tap vnet_hdr
	done
	for device in uiw0 uiw0b uiw1 uiw1b; do
		"${in[@]}" ethtool -K "$device" tx off rx off tso off gso off gro off >/dev/null
	done
	for device in uiw0b tap0 tap1; do
		"${in[@]}" ip link set "$device" master br0
	done
	for device in uiw0 uiw0b uiw1 uiw1b tap0 tap1 br0; do
		"${in[@]}" ip link set "$device" mtu 9000 up
	done
}

transport_down() {
	guest_end
	ip netns del "$nic_namespace" 2>/dev/null || true
}

transport_in() { # SIDE COMMAND...
	ip netns exec "$nic_namespace" "${@:2}"
}

nic_is_known() { # DEVICE
	qemu-system-x86_64 -device help 2>/dev/null | grep -q "^name \"$1\""
}

# The words for QEMU's NIC. virtio keeps to addresses of the IOMMU only if it is told.
nic_device() { # NIC vfio|uio|linux
	case $1-$2 in
	virtio-vfio) say virtio-net-pci,disable-legacy=on,iommu_platform=on,ats=on ;;
	virtio-uio | virtio-linux) say virtio-net-pci,disable-legacy=on ;;
	*) say "$1" ;;
	esac
}

# A guest with this NIC, bound to this driver, or left to Linux; nothing where it is there already.
# With a second NIC of its kind, bound alike, if its address is given.
nic_boot() { # NIC vfio|uio|linux [ADDRESS]
	local iommu=() more=() words='' driver=vfio-pci
	if [[ $nic_booted == "$*" ]] && is_alive "$guest_job"; then
		return 0
	fi
	guest_end
	nic_booted='' nic_driver=$2
	# Under emulation its timer does not come through the IOMMU in time for Linux's check of it.
	case $2 in
	vfio) iommu=(-device "intel-iommu,intremap=on,aw-bits=48") words='intel_iommu=on no_timer_check' ;;
	uio) driver=uio_pci_generic ;;
	linux) driver='' ;;
	esac
	if [[ ${3-} ]]; then
		more=(-netdev "tap,id=net2,ifname=tap1,script=no,downscript=no,vnet_hdr=on"
			-device "$(nic_device "$@"),netdev=net2,id=nic2,mac=02:00:00:00:67:03,romfile=,addr=4.0")
	fi
	rm -f "$work"/monitor.{in,out}
	mkfifo "$work"/monitor.{in,out}
	guest_boot "$words" -M q35 -m 1024 "${iommu[@]}" \
		-netdev tap,id=net,ifname=tap0,script=no,downscript=no,vnet_hdr=on \
		-device "$(nic_device "$@"),netdev=net,id=nic,mac=02:00:00:00:67:02,romfile=,addr=3.0" "${more[@]}" \
		-chardev "pipe,id=monitor,path=$work/monitor" -mon monitor
	guest_ready || { say "the guest does not start: see $out/guest.log"; return 1; }
	[[ ! $driver ]] || guest control "bind $driver $nic_address ${3-}" || { say "the guest's Linux does not bind $driver"; return 1; }
	nic_booted=$*
}

# What an earlier server of the case said must not pass for this one's readiness.
transport_reset() {
	[[ $guest_side != server ]] || guest control "rm -f /tmp/stack.log"
}

# Pull the cable out, or put it back.
nic_link() { # off|on [nic2]
	printf 'set_link %s %s\n' "${2:-nic}" "$1" >"$work/monitor.in"
}

transport_settings() { # SIDE; fills the array `settings`, for the side outside
	settings=(
		--set "port=net_af_packet0,iface=uiw0" --set "mtu=$nic_mtu"
		--set "address=10.67.0.1/24" --set "address=fd67::1/64"
		--set "capture=$out/$case_name.pcapng" "${nic_more[@]}"
	)
}

# Interrupts of e1000 and e1000e come through vfio only as legacy ones.
guest_command() { # PROGRAM...
	local command="uiwarp run --set port=$nic_port --set mtu=$nic_mtu" eal=$nic_eal
	[[ $nic_booted != e1000*vfio ]] || eal+=" --vfio-intr=legacy"
	[[ ! $eal ]] || command+=" --set eal=\"$eal\""
	[[ ! $nic_keys ]] || command+=" --set ${nic_keys// / --set }"
	say "$command --set address=${guest_addresses[0]}/24 --set address=${guest_addresses[1]}/64" \
		"--set log=info --set log_file=/tmp/stack.log -- $*"
}
