#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# qperf: every test of a reliable connection, with its TCP connection for control beside, over the
# kernel, to the same address.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=qperf

# The server opens its device only for a client; its kernel socket is there before.
measured() { # TEST FIGURE
	start server qperf
	wait_for "$patience" serving 19765 || { say "qperf does not listen"; return 1; }
	start client qperf "$server_v4" -t 1 -cm 1 "$1"
	finish client "$started" || return 1
	has_lines client "^ *$2 *= *[0-9.]*[1-9]" 1 || { say "no $2"; return 1; }
}

serving() { # PORT
	netns_in server grep -qi ":$(printf '%04x' "$1") .* 0A " /proc/net/tcp /proc/net/tcp6
}

while read -r name regex check; do
	[[ $name ]] || continue
	checked=${check:-what it measured is not zero}
	application "$name" "qperf" "qperf %4 -cm 1 $name" measured "$name" "$regex"
done <<-EOT
	rc_bw                  bw
	rc_bi_bw               bw
	rc_lat                 latency
	rc_rdma_read_bw        bw
	rc_rdma_read_lat       latency
	rc_rdma_write_bw       bw
	rc_rdma_write_lat      latency
	rc_rdma_write_poll_lat latency
	rc_compare_swap_mr     msg_rate
	rc_fetch_add_mr        msg_rate
	ver_rc_compare_swap    msg_rate qperf verifies each result
	ver_rc_fetch_add       msg_rate qperf verifies each result
EOT
rows_done
