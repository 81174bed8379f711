#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Our TCP on a port of its own opposite the host's TCP (port = kernel), which has the other end of the link or is
# some routers away: the same iWARP, in both roles. One case is named after the side that serves.
# shellcheck disable=SC2034,SC2154 # of the libraries
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

kernel_v4=10.1.0.1 kernel_v6=fd01::1
[[ $transport == af_packet ]] || kernel_v4=10.1.1.1 kernel_v6=fd01:1::1
kernel_side=client

# The port is always that of the server's namespace, whichever role it has.
transport_in() { # SIDE COMMAND...
	local side=$1 place=server
	shift
	[[ $side != "$kernel_side" ]] || place=router
	netns_in "$place" "$@"
}

transport_settings() { # SIDE; fills the array `settings`
	if [[ $1 == "$kernel_side" ]]; then
		settings=(--set port=kernel)
	else
		netns_settings server "$transport"
	fi
}

opposite() { # server|client (the kernel's role) FUNCTION [ARGUMENT]...
	kernel_side=$1
	shift
	server_v4=10.1.0.2 server_v6=fd01::2
	[[ $kernel_side == client ]] || server_v4=$kernel_v4 server_v6=$kernel_v6
	"$@"
}

both_roles() { # NAME FUNCTION [ARGUMENT]...
	run_case "$1-kernel-serves" opposite server "${@:2}"
	run_case "$1-port-serves" opposite client "${@:2}"
}

for family in 4 6; do
	both_roles "v$family" exchange "rping -s -a %$family -v -C 10 -S 65535" \
		"rping -c -a %$family -v -V -C 10 -S 65535" \
		server 10 'ping data: rdma-ping' client 10 'ping data: rdma-ping'
done
both_roles bulk exchange "ib_send_bw -R -F -b -s 65536 -n %n" "ib_send_bw -R -F -b -s 65536 -n %n %4"
# Through the routers once more, that is all.
if [[ $transport != af_packet ]]; then
	plan_done
	exit 0
fi
both_roles read exchange "ib_read_bw -R -F -s 65536 -n %n" "ib_read_bw -R -F -s 65536 -n %n %4"
both_roles atomic exchange "ib_atomic_lat -R -F -n %n" "ib_atomic_lat -R -F -n %n %4"
both_roles rsocket exchange "rstream -b %4 -S 4096 -C %n" "rstream -s %4 -S 4096 -C %n"

# Markers that one end wants, and FPDUs longer than a segment.
with_keys() { # KEYS-OF-THE-PORT KEYS-OF-THE-KERNEL FUNCTION [ARGUMENT]...
	local key port=() kernel=()
	for key in $1; do port+=(--set "$key"); done
	for key in $2; do kernel+=(--set "$key"); done
	shift 2
	if [[ $kernel_side == server ]]; then
		server_extra=("${kernel[@]}") client_extra=("${port[@]}")
	else
		server_extra=("${port[@]}") client_extra=("${kernel[@]}")
	fi
	"$@"
	server_extra=() client_extra=()
}
rping=(exchange "rping -s -a %4 -v -C 5 -S 16384" "rping -c -a %4 -v -V -C 5 -S 16384" client 5 'ping data: rdma-ping')
both_roles port-markers with_keys markers=on '' "${rping[@]}"
both_roles kernel-markers with_keys '' markers=on "${rping[@]}"
both_roles port-mapper with_keys port_mapper=required port_mapper=required "${rping[@]}"
both_roles long-fpdus with_keys '' fpdu=65000 "${rping[@]}"

# The host resets the connections of a program that is killed, and the other end hears of it.
killed() {
	local other=client job status=0
	[[ $kernel_side == server ]] || other=server
	start_both "rping -s -a %4 -d" "rping -c -a %4 -v" || return 1
	wait_for "$patience" has_lines client 'ping data: rdma-ping' 100 || { say "it did not begin"; return 1; }
	kill -9 "$(program_pid "$kernel_side")"
	job=${other}_job
	wait "${!job}" || status=$?
	rm -f "$case_dir/$other.pid"
	((status < 124)) || { say "the $other $(status_text "$status")"; return 1; }
	((status)) || has_lines "$other" DISCONNECT 1 || { say "the $other noticed nothing"; return 1; }
}
both_roles killed killed
plan_done
