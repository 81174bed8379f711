#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# simulate runs, says what came of it, and writes plots and a capture that others can read.
#
# usage: simulate.sh SIMULATE
set -euo pipefail

simulate=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$simulate" --rate 20m --rtt 20ms --loss 0.1% --time 4s --settle 1s --flow rdma --flow stream:newreno:1s \
	--plot "$dir/plot.svg" --sequence "$dir/sequence.svg" --pcap "$dir/packets.pcapng" >"$dir/report"
cat "$dir/report"
grep -q '^flow 0 rdma cubic: ' "$dir/report"
grep -q '^flow 1 stream newreno: ' "$dir/report"
grep -q "^Jain's index" "$dir/report"
if grep -E 'FAILED|NOT CONNECTED' "$dir/report"; then exit 1; fi

python3 - "$dir/plot.svg" "$dir/sequence.svg" <<'PYTHON'
import sys
import xml.etree.ElementTree

for path in sys.argv[1:]:
    root = xml.etree.ElementTree.parse(path).getroot()
    text = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text"))
    drawn = sum(len(p.get("d", "")) for p in root.iter("{http://www.w3.org/2000/svg}path"))
    assert "time, s" in text, path
    assert drawn > 5000, path
PYTHON

if ! command -v tshark >/dev/null; then
	echo "no tshark: the capture is not looked at"
	exit 0
fi
read_capture() { # FILTER
	tshark -r "$dir/packets.pcapng" -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -Y "$1" 2>/dev/null | wc -l
}
(($(read_capture 'tcp.port == 5001 && iwarp_ddp') > 1000))
(($(read_capture 'tcp.port == 5002 && tcp.len > 0') > 1000))
(($(read_capture '_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0') == 0))

if "$simulate" --loss 200% 2>"$dir/error"; then exit 1; fi
grep -q '"loss" is "200%"; expected' "$dir/error"
