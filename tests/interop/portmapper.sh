#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The iWARP port mapper opposite rdma-core's iwpmd, which runs in the guest: as client and as server, with
# ports that are mapped to themselves, as siw's are, and with one that is mapped to another.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "$0")/lib.sh"

with_iwpmd() { # FUNCTION [ARGUMENT]...
	guest control mapper || { say "iwpmd does not start"; return 1; }
	"$@"
}

# Messages of a kind between both port mappers: 0 Request, 1 Accept, 2 Ack, 3 Reject.
messages() { # KIND
	frames "udp.port == 3935" udp.payload | grep -cE "^$1[46]" || true
}

mapped() { # [4|6]
	with_iwpmd verified "$@" || return 1
	(($(messages 0) >= 1)) || { say "no Request"; return 1; }
	(($(messages 1) >= 1)) || { say "no Accept"; return 1; }
	(($(messages 2) >= 1)) || { say "no acknowledgment"; return 1; }
}

ours=(--set port_mapper=required)
both_ways itself mapped
both_ways itself-v6 mapped 6

# iwpmd answers a question that it knows no port for with a Reject.
rejected() {
	local status=0
	guest control mapper || { say "iwpmd does not start"; return 1; }
	start client rping -c -a "$server_v4" -p 7999 -C 1
	wait "$started" || status=$?
	rm -f "$case_dir/client.pid"
	((status)) || { say "the client succeeded"; return 1; }
	(($(messages 3) >= 1)) || { say "no Reject"; return 1; }
	has_lines client 'RDMA_CM_EVENT_REJECTED' 1 || { say "it was not rejected"; return 1; }
}
capture_is=any
siw_serves rejected rejected

# A port that iwpmd has mapped to another. Nobody listens there: what counts is where we go.
elsewhere() {
	local port
	guest control mapper || { say "iwpmd does not start"; return 1; }
	port=$(guest control "map_port \$(pidof iwpmd) $server_v4 7171")
	[[ $port =~ ^[0-9]+$ ]] || { say "$port"; return 1; }
	start client rping -c -a "$server_v4" -p 7171 -C 1
	wait "$started" || true
	rm -f "$case_dir/client.pid"
	(($(messages 2) >= 1)) || { say "no acknowledgment"; return 1; }
	[[ $(frames 'tcp.flags.syn == 1 && tcp.flags.ack == 0' tcp.dstport | sort -u) == "$port" ]] ||
		{ say "not to port $port"; return 1; }
}
siw_serves elsewhere elsewhere
ours=() capture_is=crc

# Without it the guest asks nobody, and we get ICMP's answer.
without_iwpmd() { # FUNCTION [ARGUMENT]...
	guest control unmapper || { say "iwpmd does not end"; return 1; }
	"$@"
}
both_ways absent without_iwpmd verified

# What iwpmd costs a connect: the medians of rounds with and without it, one after the other, so that both have the same
# machine, by cmtime's account; and of what the wire shows from Request to SYN. It is told, and not judged: the time is that of
# an emulated processor. A listener is known to iwpmd if it comes after it.
rounds=5 times=5
median() { # FILE
	sort -n "$1" | awk '{ of[NR] = $1 } END { if (NR) print of[int((NR + 1) / 2)] }'
}

from_request_to_syn() { # milliseconds, a line each; only Requests have 64 octets
	frames 'udp.dstport == 3935 && udp.length == 72 || tcp.flags.syn == 1 && tcp.flags.ack == 0' \
		frame.time_relative udp.length |
		awk '$2 && !asked { asked = 1; at = $1 } !$2 && asked { asked = 0; printf "%.1f\n", 1000 * ($1 - at) }'
}

# cmtime's server stays. Our client's capture is of its last run.
connects() { # FILE
	local n
	start server cmtime -b "$server_v4"
	wait_listening "$started" || return 1
	for ((n = 0; n < times; n++)); do
		start client cmtime -s "$server_v4" -c 1
		finish client "$started" || return 1
	done
	awk '/^connect / { print $3 }' "$(log_of client)" | tail -n "$times" >>"$1"
	stop_all
	guest control end
}

# Neither end knows of port mappers. One that asks where there is none waits for ICMP, of which Linux sends few.
unmapped() { # FUNCTION [ARGUMENT]...
	local before=("${client_extra[@]}") status=0
	server_extra+=(--set port_mapper=off) client_extra+=(--set port_mapper=off)
	without_iwpmd "$@" || status=$?
	server_extra=("${before[@]}") client_extra=("${before[@]}")
	return "$status"
}

cost() {
	local n with=$case_dir/with without=$case_dir/without wire=$case_dir/wire
	for ((n = 0; n < rounds; n++)); do
		with_iwpmd connects "$with" || return 1
		from_request_to_syn >>"$wire"
		unmapped connects "$without" || return 1
	done
	# shellcheck disable=SC2034 # for lib.sh
	remark="a connect takes $(median "$with") ms, without iwpmd $(median "$without") ms; $(median "$wire") ms from Request to SYN"
}
capture_is=any
both_ways cost cost
plan_done
