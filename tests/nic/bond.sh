#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two NICs as one, by DPDK's net_bonding: the cable of the active one is pulled in the middle of a transfer, and
# put back before the other's is.
# shellcheck source=tests/nic/lib.sh
source "$(dirname "$0")/lib.sh"

second=0000:00:04.0

# The port, and the PCI devices under it: see docs/deploy.md.
# shellcheck disable=SC2034,SC2154 # for the transport, and from it
{
	nic_port="net_bonding0,mode=1,slave=$nic_address,slave=$second"
	nic_eal="-a $nic_address -a $second"
}

pings() { # COUNT: more than now
	local n
	n=$(lines_of client 'ping data: rdma-ping')
	wait_for "$patience" has_lines client 'ping data: rdma-ping' $((n + $1))
}

unplugged() {
	local server_job client_job
	guest_is server
	nic_boot virtio uio "$second" || return 1
	start_both "rping -s -a %4 -P -S 20000" "rping -c -a %4 -v -V -C 100000 -S 20000" || return 1
	pings 5 || { say "nothing goes"; return 1; }
	nic_link off
	pings 20 || { say "the connection does not go over the second NIC"; return 1; }
	nic_link on
	pings 5 || { say "the connection does not go on"; return 1; }
	nic_link off nic2
	pings 20 || { say "the connection does not go over the first NIC again"; return 1; }
	is_alive "$client_job" && is_alive "$server_job"
}
run_case unplugged unplugged
plan_done
