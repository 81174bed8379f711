#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rping with siw: RDMA Reads and Writes in turns, its data verified by the client.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "$0")/lib.sh"

for size in 64 1500 65535; do
	both_ways "v4-$size" exchange "rping -s -a %4 -v -C 5 -S $size" \
		"rping -c -a %4 -v -V -C 5 -S $size" client 5 'ping data: rdma-ping'
done
both_ways v6-64 exchange "rping -s -a %6 -v -C 5" "rping -c -a %6 -v -V -C 5" \
	client 5 'ping data: rdma-ping'
plan_done
