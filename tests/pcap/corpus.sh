#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What `uiwarp pcap show` and tshark read in each capture of pcap/corpus must be the same: start-up
# frames, FPDUs by opcode and length, CRCs; or differ as the index there says.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"
only_over memif

mapfile -t files < <("$root/tests/corpus/corpus.py" list)
for file in "${files[@]}"; do
	name=${file%.pcap*}
	run_case "${name/\//-}" "$root/tests/corpus/corpus.py" oracle "$uiwarp" "$file"
done
plan_done
