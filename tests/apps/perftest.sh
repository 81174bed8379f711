#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perftest: every operation, as bandwidth and as latency, over connections made by rdma_cm (-R).
# With -R this version of perftest resolves IPv4 addresses only.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# Not ib_send_bw --events: on iWARP its receiver gives credits by RDMA Writes, which raise no event, and the
# sender sleeps for good when all that it sent has completed before a credit that it needs: one run in twenty.
#
# One line per case: NAME, PROGRAM, OPTIONS, and how many lines of figures it must print.
while read -r name program sizes options; do
	[[ $name ]] || continue
	command="$program -R -F $options"
	pair "$name" "$command" "$command %4" client "$sizes" '^ *[0-9]+ +[0-9]+ '
done <<-EOT
	write_bw_all      ib_write_bw   23  -a -n %n
	write_bw_qps      ib_write_bw   1   -q 4 -s 4096 -n 1000
	write_bw_both     ib_write_bw   1   -b -s 65536 -n %n
	write_bw_both_all ib_write_bw   23  -b -a -n 20
	write_lat_all     ib_write_lat  23  -a -n 5
	read_bw_all       ib_read_bw    23  -a -n %n
	read_bw_qps       ib_read_bw    1   -q 4 -s 4096 -n 1000
	read_bw_both      ib_read_bw    1   -b -s 65536 -n %n
	read_bw_events    ib_read_bw    1   --events -s 65536 -n %n
	read_lat_all      ib_read_lat   23  -a -n 5
	read_lat_events   ib_read_lat   1   --events -s 64 -n 1000
	atomic_bw_swap    ib_atomic_bw  1   -A CMP_AND_SWAP -n %n
	atomic_bw_qps     ib_atomic_bw  1   -q 4 -b -n 1000
	atomic_lat        ib_atomic_lat 1   -A FETCH_AND_ADD -n 1000
	send_bw_all       ib_send_bw    23  -a -n %n
	send_bw_qps       ib_send_bw    1   -q 4 -s 4096 -n 1000
	send_bw_both      ib_send_bw    1   -b -s 65536 -n %n
	send_bw_qps_both  ib_send_bw    1   -q 4 -b -s 16384 -n 1000
	send_lat_all      ib_send_lat   23  -a -n 5
	send_lat_events   ib_send_lat   1   --events -s 64 -n 1000
EOT
plan_done
