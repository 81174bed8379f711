#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What cannot be reached: ports of ours that are closed, hosts that our programs want and that are
# not there. Each gets its error, none waits for ever.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

run_case tcp-v4 with_server peer closed "$server_v4" 9
run_case tcp-v6 with_server peer closed "$server_v6" 9
run_case udp-v4 with_server peer udp "$server_v4" 9
run_case udp-v6 with_server peer udp "$server_v6" 9

# A client of ours must end by itself, with an error and in time.
hopeless() { # ADDRESS PORT REGEX
	local status=0
	start client rping -c -d -a "$1" -p "$2" -C 1
	wait "$started" || status=$?
	rm -f "$case_dir/client.pid"
	((status != 0)) || { say "the client succeeded"; return 1; }
	case $status in
	124 | 134 | 137 | 139) say "the client $(status_text $status)" && return 1 ;;
	esac
	has_lines client "$3" 1 || { say "no event of '$3'"; return 1; }
}

# Linux knows that these are nowhere, and says so.
no_route() { # ARGUMENT-OF-hopeless...
	netns_in router ip route replace unreachable 10.66.0.0/16
	netns_in router ip -6 route replace unreachable fd66::/32
	hopeless "$@"
}

gone='RDMA_CM_EVENT_(UNREACHABLE|ROUTE_ERROR|ADDR_ERROR)'
beside no-route-v4 no_route 10.66.0.1 7174 "$gone"
beside no-route-v6 no_route fd66::1 7174 "$gone"
beside no-host-v4 hopeless 10.1.0.77 7174 "$gone"
beside no-neighbour-v4 hopeless 10.2.0.77 7174 "$gone"
beside no-neighbour-v6 hopeless fd02::77 7174 "$gone"
run_case refused-v4 with_server hopeless "$server_v4" 9 RDMA_CM_EVENT_REJECTED
run_case refused-v6 with_server hopeless "$server_v6" 9 RDMA_CM_EVENT_REJECTED
tell_beside
plan_done
