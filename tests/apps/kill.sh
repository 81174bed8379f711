#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One of two programs is killed in the middle of a transfer: the other learns of it and ends by
# itself, with an error, within the time-outs.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# The survivor may take this long: TCP's and the keep-alive's time-outs, and what the program does.
limit=120

# An endless exchange, well under way.
under_way() { # SERVER CLIENT REGEX-OF-PROGRESS COUNT
	local server client
	read -ra server <<<"$(expand "$1")"
	read -ra client <<<"$(expand "$2")"
	start server "${server[@]}"
	server_job=$started
	wait_listening "$server_job" || return 1
	start client "${client[@]}"
	client_job=$started
	wait_for "$patience" has_lines client "$3" "$4" ||
		{ say "the transfer did not begin"; return 1; }
	is_alive "$(program_pid server)" && is_alive "$(program_pid client)"
}

killed() { # VICTIM SURVIVOR SERVER CLIENT REGEX COUNT
	local victim=$1 survivor=$2 job=${2}_job status=0
	shift 2
	under_way "$@" || return 1
	kill -9 "$(program_pid "$victim")"
	rm -f "$case_dir/$victim.pid"
	wait "${!job}" || status=$?
	rm -f "$case_dir/$survivor.pid"
	case $status in
	124 | 137) say "the $survivor did not end within $limit s" && return 1 ;;
	134 | 139) say "the $survivor $(status_text $status)" && return 1 ;;
	esac
	# rping calls a disconnection it is told of a good end.
	((status)) || has_lines "$survivor" 'DISCONNECT' 1 ||
		{ say "the $survivor noticed nothing"; return 1; }
}

for victim in server client; do
	[[ $victim == server ]] && survivor=client || survivor=server
	run_case "rping-$victim" killed "$victim" "$survivor" \
		"rping -s -a %4 -d" "rping -c -a %4 -v" 'ping data: rdma-ping' 100
	run_case "write_bw-$victim" killed "$victim" "$survivor" \
		"ib_write_bw -R -F -D 100" "ib_write_bw -R -F -D 100 %4" '#bytes' 1
	run_case "send_bw-$victim" killed "$victim" "$survivor" \
		"ib_send_bw -R -F -b -D 100" "ib_send_bw -R -F -b -D 100 %4" '#bytes' 1
done
plan_done
