#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perftest with siw: every operation, as bandwidth and as latency, over connections made by rdma_cm
# (-R), which resolves IPv4 addresses only.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "$0")/lib.sh"

# Figures of all sizes. A server of perftest ends right after its last message; siw may then fail the
# Send before, though we have acknowledged it: its connection closed before it came to completing it.
measured() { # FIGURES COMMAND
	local status=0
	exchange "$2" "$2 %4" >"$case_dir/said" 2>&1 || status=$?
	has_lines client '^ *[0-9]+ +[0-9]+ ' "$1" || { cat "$case_dir/said"; return 1; }
	((status)) || return 0
	# shellcheck disable=SC2154 # the transport knows
	if [[ $guest_side == server ]] || ! has_lines client 'Failed to close connection' 1; then
		cat "$case_dir/said"
		return 1
	fi
	remark="expected: siw fails what it has sent when the peer closes right behind its answer"
}

# One line per case: NAME, PROGRAM, OPTIONS, and how many lines of figures it must print.
table() {
	local name program sizes options
	while read -r name program sizes options; do
		both_ways "$name" measured "$sizes" "$program -R -F $options"
	done
}

# All sizes take half a minute each in an emulated guest, and minutes in one that hardly gets a processor,
# so only one of the two siw gets them.
capture_is=long limit=400
[[ $transport != siw-fixed ]] || table <<-EOT
	write_bw_all  ib_write_bw   23  -a -n 5
	read_bw_all   ib_read_bw    23  -a -n 5
	send_bw_all   ib_send_bw    23  -a -n 5
EOT
capture_is=crc limit=90
table <<-EOT
	write_bw      ib_write_bw   1   -s 20000 -n 20
	read_bw       ib_read_bw    1   -s 20000 -n 20
	send_bw       ib_send_bw    1   -s 20000 -n 20
	read_lat      ib_read_lat   1   -s 1429 -n 20
	send_lat      ib_send_lat   1   -s 1425 -n 20
EOT

# Its server writes first, which an MPA responder may not do before the initiator's first FPDU (RFC 5044
# section 7.1.2): siw must ask for RFC 6581's peer-to-peer mode, and does not by itself.
siw_serves write_lat measured 1 "ib_write_lat -R -F -s 1429 -n 20"
siw_parameters=(peer_to_peer=1)
siw_asks write_lat-peer-to-peer measured 1 "ib_write_lat -R -F -s 1429 -n 20"
siw_parameters=()
limit=8
siw_asks write_lat expected "siw asks without peer-to-peer mode, so the server may not begin" \
	'took more than' measured 1 "ib_write_lat -R -F -s 1429 -n 20"
plan_done
