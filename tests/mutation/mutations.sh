#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How right the checker of captures is, over all of pcap/corpus: the table of docs/pcap.md.
# usage: tests/mutation/mutations.sh PROGRAM          print it
#        tests/mutation/mutations.sh PROGRAM check    no false alarm, and docs/pcap.md has it as it is now
#        tests/mutation/mutations.sh PROGRAM sample   of some captures, for sanitizers: no false alarm
set -euo pipefail
program=$(realpath "$1")
CDPATH='' cd -- "$(dirname "$0")/../../pcap/corpus"
case ${2-} in
check) exec "$program" -1 -d ../../docs/pcap.md ./*.pcap* siw/*.pcap* ;;
sample) exec "$program" -1 ops-rev2.pcapng ops-rtr-read-markers-nocrc.pcapng path-markers-loss.pcapng \
	terminate-untagged.pcapng siw/crc-both.pcap ;;
*) exec "$program" ./*.pcap* siw/*.pcap* ;;
esac
