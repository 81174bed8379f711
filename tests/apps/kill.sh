#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One of two programs is killed in the middle of a transfer: the other learns of it and ends by
# itself, with an error, within the time-outs.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $transport == kernel ]] || only_over memif

# The survivor may take this long: TCP's and the keep-alive's time-outs, and what the program does.
limit=100
patience=40

# An endless exchange, well under way.
under_way() { # SERVER CLIENT REGEX-OF-PROGRESS COUNT
	start_both "$1" "$2" || return 1
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

# They mostly wait for the time-outs. perftest buffers its output.
both() { # NAME SERVER CLIENT REGEX COUNT
	local name=$1
	shift
	control_port=$((control_port + 1))
	beside "$name-server" killed server client "$@"
	control_port=$((control_port + 1))
	beside "$name-client" killed client server "$@"
}

both rping "rping -s -a %4 -d" "rping -c -a %4 -v" 'ping data: rdma-ping' 100
both write_bw "stdbuf -oL ib_write_bw -R -F -D 90" "stdbuf -oL ib_write_bw -R -F -D 90 %4" '#bytes' 1
both send_bw "stdbuf -oL ib_send_bw -R -F -b -D 90" "stdbuf -oL ib_send_bw -R -F -b -D 90 %4" \
	'#bytes' 1
# librdmacm tells rsockets of a disconnection by the event, if its status is 0: of their completions it
# looks at those of sends alone. rstream itself takes the end of a stream for EAGAIN (docs/rdma_cm.md).
stream="$root/build/tests/apps/rsocket_stream -p 7471"
both rsocket "$stream receive" "$stream send %4" '^moved' 2
both rsocket_back "$stream send" "$stream receive %4" '^moved' 2
listens_at=linux
both no_cm "stdbuf -oL ib_write_bw -F -D 90 -p %p" "stdbuf -oL ib_write_bw -F -D 90 -p %p %h" \
	'#bytes' 1
tell_beside
plan_done
