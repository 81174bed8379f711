#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perftest, all of it but raw_ethernet_*, over connections made by rdma_cm: every operation in every size,
# over many QPs, both ways at once, with events, with an SRQ, for a time.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=perftest
checked="as many lines of figures as sizes; perftest looks at no data, each FPDU has its CRC"

perftest() { # NAME PROGRAM LINES OPTION...
	local typed="$2 -R -F ${*:4}"
	program "$1" "$typed" "$typed %4" client "$3" '^ *[0-9]+ +[0-9]+ '
}

# With --events ib_send_bw sleeps for good when its last completion comes before a credit that it
# needs, over iWARP only: see tests/apps/perftest.sh. So large messages there.
for operation in write read send atomic; do
	bw=ib_${operation}_bw lat=ib_${operation}_lat
	[[ $operation == atomic ]] || {
		perftest "${operation}_bw_sizes" $bw 23 -a -n 50
		perftest "${operation}_bw_both_sizes" $bw 23 -b -a -n 20
		perftest "${operation}_lat_sizes" $lat 23 -a -n 5
	}
	perftest "${operation}_bw_both" $bw 1 -b -n 200
	for qps in 1 2 4 8 16 32 64; do
		perftest "${operation}_bw_qps_$qps" $bw 1 -q $qps -n 100
	done
	perftest "${operation}_bw_both_qps_64" $bw 1 -b -q 64 -n 100
	perftest "${operation}_bw_time" $bw 1 -D 1
	perftest "${operation}_bw_both_time" $bw 1 -b -D 1
	perftest "${operation}_lat_time" $lat 1 -D 1
	perftest "${operation}_bw_list" $bw 1 -l 8 -n 200
	perftest "${operation}_bw_report_gbits" $bw 1 --report_gbits -n 200
done
perftest read_bw_events ib_read_bw 1 --events -n 200
perftest send_bw_events ib_send_bw 1 --events -s 65536 -n 1000
perftest atomic_bw_events ib_atomic_bw 1 --events -n 200
perftest read_lat_events ib_read_lat 1 --events -n 200
perftest send_lat_events ib_send_lat 1 --events -n 200
perftest atomic_lat_events ib_atomic_lat 1 --events -n 200
perftest send_bw_srq ib_send_bw 1 --use-srq -n 200
perftest send_bw_srq_qps ib_send_bw 1 --use-srq -q 4 -n 200
perftest send_bw_srq_sizes ib_send_bw 23 --use-srq -a -n 20
perftest send_lat_srq ib_send_lat 1 --use-srq -n 200
perftest atomic_bw_swap ib_atomic_bw 1 -A CMP_AND_SWAP -n 200
perftest atomic_lat_swap ib_atomic_lat 1 -A CMP_AND_SWAP -n 200
perftest write_lat_inline ib_write_lat 1 -I 64 -s 64 -n 200
perftest send_lat_inline ib_send_lat 1 -I 64 -s 64 -n 200
plan_done
