#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A VLAN (802.1Q) to Linux's VLAN interface: the guest's Linux has the NIC, our stack is outside.
# shellcheck source=tests/nic/lib.sh
source "$(dirname "$0")/lib.sh"

guest_is client
# shellcheck disable=SC2034 # for the transport
nic_more=(--set vlan=5)
prepared=''

# Interfaces of two VLANs; our address is behind the first.
prepare() {
	nic_boot virtio linux || return 1
	[[ ! $prepared ]] || return 0
	guest control "vlan 5 && vlan 6" || { say "the guest's Linux has no VLANs"; return 1; }
	guest control "ip addr add 10.67.0.2/24 dev vlan5 && ip -6 addr add fd67::2/64 dev vlan5" || return 1
	prepared=yes
}

serve() {
	prepare || return 1
	start server rping -s -P -a ::0
	wait_listening "$started"
}

# Of the MTU: the tag comes on top.
answered() { # ADDRESS SIZE
	serve || return 1
	guest control "ping -c 5 -W 30 -s $2 $1" >"$(log_of ping)" 2>&1 || true
	has_line "$(log_of ping)" ' 0% packet loss' || { say "pings were lost"; return 1; }
	[[ $(tshark -r "$out/$case_name.pcapng" -Y 'icmp || icmpv6.type == 128 || icmpv6.type == 129' \
		-T fields -e vlan.id 2>/dev/null | sort -u) == 5 ]] || { say "there are frames without the tag"; return 1; }
}
run_case v4-small answered 10.67.0.1 56
run_case v4-full answered 10.67.0.1 1472
run_case v6-small answered fd67::1 56
run_case v6-full answered fd67::1 1452

# In the other VLAN, and without a tag, nobody is there.
unanswered() {
	local on
	serve || return 1
	for on in vlan6 eth0; do
		guest control "ip addr del 10.67.0.2/24 dev vlan5; ip addr add 10.67.0.2/24 dev $on"
		guest control "ping -c 2 -W 2 10.67.0.1" >"$(log_of "$on")" 2>&1 || true
		guest control "ip addr del 10.67.0.2/24 dev $on; ip addr add 10.67.0.2/24 dev vlan5"
		has_line "$(log_of "$on")" ' 100% packet loss' || { say "$on is answered"; return 1; }
	done
}
run_case others unanswered
plan_done
