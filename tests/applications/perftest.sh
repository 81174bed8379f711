#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perftest, all of it but raw_ethernet_*, over connections made by rdma_cm (-R) and by its own exchange of QP
# numbers: every operation in every size, over many QPs, both ways at once, with events, with an SRQ, for a time.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=perftest
figures='^ *[0-9]+ +[0-9]+ '
# Where its own exchange goes, over Linux's TCP.
control_port=18515

# Without -R perftest does not release ib_send_bw's credits, and both ends say so when all is done.
keeps_credits() { # COMMAND LINES
	local server_job client_job job
	start_both "$1" "$1 %4" || return 1
	for job in $client_job $server_job; do
		! wait "$job" || { say "one side ended with status 0"; return 1; }
	done
	(($(lines_of client "$figures") == $2)) || { say "not $2 lines of figures"; return 1; }
	has_lines client 'Failed to deallocate PD' 1 || { say "no word of the PD"; return 1; }
}

perftest() { # NAME PROGRAM LINES OPTION...
	local typed="$2${manner:+ $manner} -F ${*:4}" expected='' name=$1
	[[ $manner ]] || name+=-own
	checked="as many lines of figures as sizes ($3); perftest looks at no data, each FPDU has its CRC"
	if [[ ! $manner && $2 == ib_send_bw ]]; then
		expected="works; both ends then end with status 1, perftest's own mistake (see above)"
		application "$name" "$typed" "$typed %4" keeps_credits "$typed" "$3"
	else
		program "$name" "$typed" "$typed %4" client "$3" "$figures"
	fi
}

# Over iWARP ib_send_bw has credits of its own, RDMA Writes, which raise no event: with --events it sleeps for good
# when all that it sent has completed before a credit that it needs.
events_of_send_bw() {
	local limit=30 excuse='took more than' because="it slept for a credit, which raises no event"
	perftest send_bw_events ib_send_bw 1 --events -s 65536 -n 1000
}

# Everything but what needs no second look without -R.
all_of_it() {
	local operation qps bw lat
	for operation in write read send atomic; do
		bw=ib_${operation}_bw lat=ib_${operation}_lat
		[[ $operation == atomic ]] || {
			perftest "${operation}_bw_sizes" "$bw" 23 -a -n 20
			perftest "${operation}_bw_both_sizes" "$bw" 23 -b -a -n 10
			perftest "${operation}_lat_sizes" "$lat" 23 -a -n 5
		}
		perftest "${operation}_bw_both" "$bw" 1 -b -n 200
		for qps in 1 2 4 8 16 32 64; do
			perftest "${operation}_bw_qps_$qps" "$bw" 1 -q "$qps" -n 100
		done
		perftest "${operation}_bw_time" "$bw" 1 -D 1
		perftest "${operation}_lat_time" "$lat" 1 -D 1
		[[ $operation == write ]] || perftest "${operation}_lat_events" "$lat" 1 --events -n 200
	done
	perftest read_bw_events ib_read_bw 1 --events -n 200
	events_of_send_bw
	perftest atomic_bw_events ib_atomic_bw 1 --events -n 200
	perftest send_bw_srq ib_send_bw 1 --use-srq -n 200
	perftest send_bw_srq_qps ib_send_bw 1 --use-srq -q 4 -n 200
	perftest send_bw_srq_sizes ib_send_bw 23 --use-srq -a -n 10
	perftest send_lat_srq ib_send_lat 1 --use-srq -n 200
}

manner=-R
all_of_it
for operation in write read send atomic; do
	bw=ib_${operation}_bw
	perftest "${operation}_bw_both_qps_64" "$bw" 1 -b -q 64 -n 100
	perftest "${operation}_bw_both_time" "$bw" 1 -b -D 1
	perftest "${operation}_bw_list" "$bw" 1 -l 8 -n 200
	perftest "${operation}_bw_report_gbits" "$bw" 1 --report_gbits -n 200
done
perftest atomic_bw_swap ib_atomic_bw 1 -A CMP_AND_SWAP -n 200
perftest atomic_lat_swap ib_atomic_lat 1 -A CMP_AND_SWAP -n 200
perftest send_lat_ud ib_send_lat 1 -c UD -n 200
perftest write_lat_inline ib_write_lat 1 -I 64 -s 64 -n 200
perftest send_lat_inline ib_send_lat 1 -I 64 -s 64 -n 200
manner=''
listens_at=linux
all_of_it
perftest send_lat_ud ib_send_lat 1 -c UD -n 200

# Its credits (above) are RDMA Writes also on a UD QP, which has none.
credits_of_ud() { # COMMAND
	local server_job client_job status=0
	start_both "$1" "$1 %4" || return 1
	wait "$server_job" || status=$?
	stop_all
	((status && status != 124)) || { say "the server ended with $status"; return 1; }
	has_lines server "Couldn't post send qp . credit" 1 || { say "no word of a credit"; return 1; }
}
checked="its own words"
expected="fails: over iWARP ib_send_bw has credits that are RDMA Writes, which a UD QP has not; perftest's own mistake"
typed='ib_send_bw -F -c UD -n 1000'
application send_bw_ud-own "$typed" "$typed %4" credits_of_ud "$typed"
rows_done
