# shellcheck shell=bash disable=SC2034,SC2154 # told by probe.sh, for guest.sh
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the ends that are Linux's siw in a QEMU guest, which is behind a bridge in the end's namespace and has its
# address: siw GUEST VARIANT, of those that tests/interop/guest/build has built.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=interop/ends/probe.sh
source "$here/probe.sh"
# shellcheck source=scripts/lib/common.sh
source "$here/../../scripts/lib/common.sh"

# What siw has not: peer-to-peer mode is not asked for without a parameter, nor are RTRs other than by Write and Read.
parameters=()
case $TESTCASE-$ROLE in
markers-* | immediate-* | fetch-add-* | compare-swap-* | rtr-send-* | tls-*) exit 127 ;;
revision-1-client) parameters=(mpa_version=1) ;;
rtr-write-client) parameters=(peer_to_peer=1 rtr_types=0x8000) ;;
rtr-read-client) parameters=(peer_to_peer=1 rtr_types=0x4000) ;;
esac

in_guest() { # PROGRAM ARGUMENT...
	guest program "program $limit $*"
}

# The end of a connection before siw has told iw_cm of its start is a BUG of the guest's kernel: another one, then.
may_have_fallen() {
	! grep -q 'RIP:.*cm_work_handler' "$LOGS/guest.log" || exit 75
	exit 1
}

siw() { # GUEST VARIANT
	# Who runs this end ends it where nothing goes on any more.
	work=$(mktemp -d) out=$LOGS patience=60 limit=86400
	guest_files=$root/out/interop/$1
	# shellcheck source=scripts/lib/guest.sh
	source "$root/scripts/lib/guest.sh"
	trap 'guest_end; rm -rf "$work"' EXIT
	[[ -s $guest_files/initrd ]] || exit 127
	if ((${#parameters[@]})); then
		[[ $2 != stock ]] || exit 127
	fi
	ip link add inside type bridge
	ip tuntap add dev tap0 mode tap
	ip addr flush dev "$INTERFACE"
	for port in tap0 "$INTERFACE" inside; do
		[[ $port == inside ]] || ip link set "$port" master inside
		ip link set "$port" up
	done
	guest_boot '' -M q35 -m 384 -netdev tap,id=net,ifname=tap0,script=no,downscript=no \
		-device "$(guest_plain_nic 02:00:00:00:66:02),netdev=net"
	guest_ready || die "the guest does not start: see $out/guest.log"
	guest control "ip addr flush dev eth0; ip addr add $ADDRESS/$PREFIX dev eth0"
	guest control "load $2 ${parameters[*]}"
	if [[ $TESTCASE == port-mapper ]]; then
		guest control mapper
	fi
	run_probe in_guest probe || may_have_fallen
	# Its last words are on their way: if they are lost, there must be a guest to say them again.
	wait_for "$limit" guest control "! grep -qE '^ *[0-9]+: [^ ]+ [^ ]+ (04|09|0B) ' /proc/net/tcp"
}
