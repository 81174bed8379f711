#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The iWARP port mapper opposite Linux's UDP: what our server answers, and where our client connects
# to when a port mapper has told it the way.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

answered() { # ADDRESS
	peer ask "$1" "$service" mapped || return 1
	peer ask "$1" 9 rejected || return 1
}
run_case answers-v4 with_server answered "$server_v4"
run_case answers-v6 with_server answered "$server_v6"

router_v4=10.2.0.1
[[ $transport == af_packet ]] || router_v4=10.2.1.1

# The first request is lost, so the mapping comes after an attempt at the service's own port.
asks() {
	local mapper status=0
	rm -f "$(log_of mapper)"
	peer mapper "$service" 33781 >"$(log_of mapper)" 2>&1 &
	mapper=$!
	wait_for "$patience" has_line "$(log_of mapper)" ready || { say "no port mapper"; return 1; }
	start client rping -c -a "$router_v4" -p "$service" -C 1
	wait "$started" || status=$?
	rm -f "$case_dir/client.pid"
	((status)) || { say "the client succeeded"; return 1; }
	wait "$mapper" || { say "$(tail -n 1 "$(log_of mapper)")"; return 1; }
}
run_case asks asks
plan_done
