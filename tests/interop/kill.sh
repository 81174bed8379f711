#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One of the two programs is killed in the middle of a transfer: the other learns of it and ends.
# shellcheck source=tests/interop/lib.sh disable=SC2154
source "$(dirname "$0")/lib.sh"

# The end may cut an FPDU, and what is in flight towards a dead stack is nobody's.
capture_is=any

under_way() { # SERVER CLIENT SIDE REGEX-OF-ITS-PROGRESS COUNT
	start_both "$1" "$2" || return 1
	wait_for "$patience" has_lines "$3" "$4" "$5" || { say "the transfer did not begin"; return 1; }
}

noticed() { # SIDE JOB
	local status=0
	wait "$2" || status=$?
	case $status in
	124 | 137) say "the $1 $(status_text $status)" && return 1 ;;
	esac
	# rping and probe call a disconnection that they are told of a good end.
	((status)) || has_lines "$1" 'DISCONNECT' 1 || { say "the $1 noticed nothing"; return 1; }
}

# Its kernel closes the connection for it.
siw_dies() { # ARGUMENT-OF-under_way...
	under_way "$@" || return 1
	guest control end
	if [[ $guest_side == server ]]; then
		noticed client "$client_job"
	else
		noticed server "$server_job"
	fi
}

# Our stack dies with its program, so nobody says anything until a new one has the address and resets
# what it does not know. siw keeps nothing alive: it learns because it is sending.
we_die() { # ARGUMENT-OF-under_way...
	local side=client job
	under_way "$@" || return 1
	[[ $guest_side == server ]] || side=server
	kill -9 "$(program_pid "$side")"
	server_extra=() client_extra=()
	start "$side" rping -s -p 7175
	if [[ $guest_side == server ]]; then
		noticed server "$server_job"
	else
		noticed client "$client_job"
	fi
}

both_ways siw-dies siw_dies "rping -s -a %4 -d" "rping -c -a %4 -v -d" \
	client 'ping data: rdma-ping' 20
capture_is='cut'
siw_asks we-die we_die "stdbuf -oL ib_write_bw -R -F -D 40" "ib_write_bw -R -F -D 40 %4" server '#bytes' 1
siw_serves we-die we_die "probe listen %4 $server_port" \
	"probe connect %4 $server_port act=read size=60000 count=100000" client 'established' 1
plan_done
