#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Short runs of the programs, captured by both stacks: tshark must decode every FPDU, with a good
# CRC, and find nothing malformed. Its verdict is not ours to soften. Our own checker must find no
# demand of the RFCs broken, and our stack must take what its peers sent a second time.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"

captured() { # ARGUMENT-OF-exchange...
	server_extra=(--set "capture=$out/$case_name.server.pcapng")
	client_extra=(--set "capture=$out/$case_name.client.pcapng")
	exchange "$@" || return 1
	"$root/scripts/decode" -q "$out/$case_name".{server,client}.pcapng || return 1
	"$uiwarp" pcap check --each "$out/$case_name".{server,client}.pcapng || return 1
	"$uiwarp" pcap replay "$out/$case_name.server.pcapng" || return 1
	"$uiwarp" pcap replay --responder "$out/$case_name.client.pcapng"
}

while IFS='|' read -r name server client; do
	[[ $name ]] && run_case "$name" captured "$server" "$client"
done <<-EOT
	rping-64|rping -s -a %4 -C 20|rping -c -a %4 -V -C 20
	rping-65535|rping -s -a %4 -C 5 -S 65535|rping -c -a %4 -V -C 5 -S 65535
	rping-v6|rping -s -a %6 -C 20 -S 3000|rping -c -a %6 -V -C 20 -S 3000
	rdma_client|rdma_server|rdma_client -s %4
	rdma_xclient|rdma_xserver -c r|rdma_xclient -s %4 -c r
	ucmatose|ucmatose -b %4 -c 4 -C 20 -S 3000|ucmatose -s %4 -c 4 -C 20 -S 3000
	rstream|rstream -S 4096 -C 20 -I 5|rstream -s %4 -S 4096 -C 20 -I 5
	write_bw|ib_write_bw -R -F -s 20000 -n 20|ib_write_bw -R -F -s 20000 -n 20 %4
	write_lat|ib_write_lat -R -F -s 8 -n 50|ib_write_lat -R -F -s 8 -n 50 %4
	read_bw|ib_read_bw -R -F -s 20000 -n 20|ib_read_bw -R -F -s 20000 -n 20 %4
	read_lat|ib_read_lat -R -F -s 8 -n 50|ib_read_lat -R -F -s 8 -n 50 %4
	send_bw|ib_send_bw -R -F -s 20000 -n 20 -q 4|ib_send_bw -R -F -s 20000 -n 20 -q 4 %4
	send_lat|ib_send_lat -R -F -s 70000 -n 20|ib_send_lat -R -F -s 70000 -n 20 %4
EOT

# The oracle itself: two octets of payload that changed places in a good capture are a bad CRC, and TCP's checksum is as
# it was. A changed one, which that sees, is damage on the way: our checker blames nobody.
flipped() {
	local good=$out/$case_name.server.pcapng
	captured "rping -s -a %4 -C 5" "rping -c -a %4 -V -C 5" || return 1
	LC_ALL=C sed 's/rdma-ping-3/mdra-ping-3/' "$good" >"$case_dir/flipped.pcapng"
	cmp -s "$good" "$case_dir/flipped.pcapng" && { say "nothing to change"; return 1; }
	if "$root/scripts/decode" -q "$case_dir/flipped.pcapng"; then
		say "a changed byte was not noticed"
		return 1
	fi
	if "$uiwarp" pcap check "$case_dir/flipped.pcapng"; then
		say "our checker did not notice a changed byte"
		return 1
	fi
	LC_ALL=C sed 's/rdma-ping-3/rdma-pong-3/' "$good" >"$case_dir/damaged.pcapng"
	if ! "$uiwarp" pcap check "$case_dir/damaged.pcapng" >"$case_dir/damaged" ||
		! grep -q 'TCP checksum is wrong' "$case_dir/damaged"; then
		say "our checker took damage for its sender's fault, or told nothing"
		return 1
	fi
}
run_case flipped flipped

# CRCs are off only when both sides want that (RFC 5044 section 7.1); their field stays.
crc() { # SERVER CLIENT DECODE-OPTIONS
	server_extra=(--set "crc=$1" --set "capture=$out/$case_name.server.pcapng")
	client_extra=(--set "crc=$2")
	exchange "rping -s -a %4 -C 5" "rping -c -a %4 -V -C 5" || return 1
	"$root/scripts/decode" "$3" "$out/$case_name.server.pcapng"
}
run_case crc-off crc off off -qn
run_case crc-server crc on off -q
run_case crc-client crc off on -q

# Markers are for each direction alone (RFC 5044 section 4.3): a side that has them on gets them. That every
# FPDU is decoded, with a good CRC, is seen from their number: the same as without markers, as all
# fit a segment either way. Of a connection with markers one way only, tshark 4.0 decodes that way
# alone. And it counts a marker right behind an FPDU to that one, not to the next as section 4.3 has
# it: the size is one at which none falls there, and no two FPDUs share a segment.
dissected() { # FILE FIELD FILTER: how often the field is there
	tshark -r "$1" -o tcp.try_heuristic_first:TRUE -o tcp.desegment_tcp_streams:TRUE \
		-o tcp.reassemble_out_of_order:TRUE --disable-protocol rpcordma \
		-Y "$2 && $3" -T fields -e "$2" 2>/dev/null | tr , '\n' | wc -l
}

markers() { # SERVER CLIENT
	local plain=$case_dir/plain.pcapng file=$out/$case_name.server.pcapng where have want
	server_extra=(--set "capture=$plain") client_extra=()
	exchange "rping -s -a %4 -C 20 -S 1400" "rping -c -a %4 -V -C 20 -S 1400" || return 1
	server_extra=(--set "markers=$1" --set "capture=$file")
	client_extra=(--set "markers=$2")
	exchange "rping -s -a %4 -C 20 -S 1400" "rping -c -a %4 -V -C 20 -S 1400" || return 1
	"$root/scripts/decode" -q "$file" || return 1
	for where in "$1 tcp.dstport" "$2 tcp.srcport"; do
		have=$(dissected "$file" iwarp_mpa.marker_fpduptr "${where#* } == 7174")
		if [[ $where == off* ]]; then
			((have == 0)) || { say "$have markers that nobody asked for"; return 1; }
			continue
		fi
		((have > 20)) || { say "only $have markers"; return 1; }
		have=$(dissected "$file" iwarp_mpa.ulpdulength "${where#* } == 7174")
		want=$(dissected "$plain" iwarp_mpa.ulpdulength "${where#* } == 7174")
		((have == want)) || { say "$have of $want FPDUs decoded"; return 1; }
	done
}
run_case markers-both markers on on
run_case markers-server markers on off
run_case markers-client markers off on
plan_done
