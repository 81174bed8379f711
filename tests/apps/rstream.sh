#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rstream: stream sockets over RDMA (rsockets), in its modes of waiting.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

pair v4 "rstream" "rstream -s %4" client 1 '^64k_bw'
for mode in b n a v r; do
	pair "v4-$mode" "rstream -T $mode" "rstream -s %4 -T $mode -S 16384 -I 20" client 1 '^16k'
done
pair v4-verify-all "rstream -T v -S all" "rstream -s %4 -T v -S all"
pair v6 "rstream -f ipv6 -b %6 -S 4096 -I 20" "rstream -f ipv6 -s %6 -S 4096 -I 20" client 1 '^4k'
plan_done
