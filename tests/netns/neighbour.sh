#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ARP and neighbour discovery, as Linux's neighbour table shows them.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

pinged() { # ADDRESS
	linux_side ping -n -c 1 -W 1 "$1" >"$(log_of ping)" 2>&1
}

# Linux asks, the stack answers with its hardware address.
answered() { # ADDRESS
	linux_side ip neigh flush dev "$(linux_device)"
	wait_for "$patience" pinged "$1" || { say "no answer"; return 1; }
	linux_side ip neigh show "$1" dev "$(linux_device)" >"$(log_of neigh)"
	has_line "$(log_of neigh)" 'lladdr ([0-9a-f]{2}:){5}[0-9a-f]{2}.* (REACHABLE|STALE|DELAY|PROBE)' ||
		{ say "not in the neighbour table: $(<"$(log_of neigh)")"; return 1; }
}

# Linux forgets; what it then asks while a connection runs is answered as well.
probed() { # ADDRESS
	start client rping -c -a "$1" -V -C 2000
	local job=$started
	linux_side ip neigh flush dev "$(linux_device)"
	answered "$1" || return 1
	finish client "$job"
}

# Nobody has this address: Linux must not get an answer for it from us.
silent() { # ADDRESS
	linux_side ping -n -c 1 -W 2 "$1" >"$(log_of ping)" 2>&1 && { say "answered"; return 1; }
	linux_side ip neigh show "$1" dev "$(linux_device)" >"$(log_of neigh)"
	! has_line "$(log_of neigh)" lladdr || { say "resolved: $(<"$(log_of neigh)")"; return 1; }
}

# Linux has the address already, and answers our probe: it is not used, and the other one serves.
# RFC 4862 section 5.4.4.
duplicate() { # ADDRESS OTHER-ADDRESS
	local status=0
	linux_side ip -6 addr add "$1/64" dev "$(linux_device)" nodad
	found_duplicate "$1" || status=1
	linux_side ip -6 addr del "$1/64" dev "$(linux_device)"
	((!status)) && served "$2"
}

found_duplicate() { # ADDRESS
	start server rping -s -P -a ::0
	wait_listening "$started" || return 1
	wait_for "$patience" told_duplicate "$1" || { say "it does not say that the address is a duplicate"; return 1; }
}

told_duplicate() { # ADDRESS
	has_line "$(stack_log_of server)" "our address $1 is also claimed by .*: it cannot be used"
}

run_case arp with_server answered "$server_v4"
run_case nd with_server answered "$server_v6"
run_case arp-again with_server probed "$server_v4"
run_case nd-again with_server probed "$server_v6"
run_case arp-not-ours with_server silent 10.1.0.77
run_case nd-not-ours with_server silent fd01::77
# A TAP is there with the server, and not before.
[[ $transport == tap ]] || run_case nd-duplicate duplicate "$server_v6" "$server_v4"
plan_done
