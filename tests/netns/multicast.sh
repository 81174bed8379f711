#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Multicast groups of UD queue pairs with Linux on the link: its UDP as a member, its bridge as a switch that snoops,
# and tshark over what our stack tells of its groups.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

group_v4=239.1.2.3 group_v6=ff05::1:3

linux_member() { # send|receive GROUP
	linux_side timeout "$limit" python3 "$root/tests/netns/multicast.py" "$1" "$2" "$(linux_device)" 10 100
}

linux_has_joined() {
	has_line "$(log_of member)" '^joined'
}

# mckey sends: the whole form, the CRC and the hop limit are as they should be.
linux_receives() { # GROUP SOURCE
	local member
	linux_member receive "$1" >"$(log_of member)" 2>&1 &
	member=$!
	jobs+=("$member")
	wait_for "$patience" linux_has_joined || { say "Linux has not joined"; return 1; }
	start server mckey -m "$1" -b "$2" -s
	finish server "$started" || return 1
	wait "$member" || { tail -n 1 "$(log_of member)"; return 1; }
}

# mckey receives all that Linux sends, and its stack's reports are right.
linux_sends() { # GROUP SOURCE
	server_extra=(--set "capture=$out/$case_name.pcapng")
	start server mckey -m "$1" -b "$2"
	server_extra=()
	local job=$started
	wait_for "$patience" do_receive || { say "mckey has not joined"; return 1; }
	linux_member send "$1" >"$(log_of member)" 2>&1 || { tail -n 1 "$(log_of member)"; return 1; }
	finish server "$job" || return 1
	has_lines server 'data transfers complete' 1 || { say "mckey has not all"; return 1; }
}

# Of the types of records 4 is to join, 3 to leave. Of the checksum 1 is good.
reported() { # GROUP FILTER CHECKSUM-FIELD GROUP-FIELD TYPE-FIELD SOURCE
	local capture=$out/$case_name.pcapng types
	linux_sends "$1" "$6" || return 1
	types=$(tshark -r "$capture" -Y "$2 && $4 == $1" -T fields -e "$5" | tr ',' '\n' | sort -u | xargs)
	[[ $types == *3*4* ]] || { say "the types of records are '$types', not 3 and 4"; return 1; }
	[[ $(tshark -r "$capture" -Y "$2" -T fields -e "$3" | sort -u) == 1 ]] || { say "a checksum is wrong"; return 1; }
	[[ ! $(tshark -r "$capture" -Y _ws.malformed) ]] || { say "tshark finds something malformed"; return 1; }
}

# A bridge that snoops knows our port as the group's.
is_snooped() { # GROUP
	linux_side bridge mdb show dev br0 >"$(log_of mdb)" 2>&1
	has_line "$(log_of mdb)" "port $(linux_device) grp $1 "
}

snooped() { # GROUP SOURCE
	linux_side ip link add br0 type bridge mcast_snooping 1 mcast_querier 1
	linux_side ip link set "$(linux_device)" master br0
	linux_side ip link set br0 up
	start server mckey -m "$1" -b "$2"
	wait_for "$patience" is_snooped "$1" || { say "the bridge does not know the port: $(<"$(log_of mdb)")"; return 1; }
}

run_case to_linux-v4 linux_receives "$group_v4" "$server_v4"
run_case to_linux-v6 linux_receives "$group_v6" "$server_v6"
run_case reports-v4 reported "$group_v4" igmp igmp.checksum.status igmp.maddr igmp.record_type "$server_v4"
run_case reports-v6 reported "$group_v6" "icmpv6.type == 143" icmpv6.checksum.status \
	icmpv6.mldr.mar.multicast_address icmpv6.mldr.mar.record_type "$server_v6"
# Last: the device is the bridge's then.
run_case snooped-v4 snooped "$group_v4" "$server_v4"
run_case snooped-v6 snooped "$group_v6" "$server_v6"
plan_done
