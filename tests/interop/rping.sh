#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rping with siw: RDMA Reads and Writes in turns, its data verified by the client.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "$0")/lib.sh"

for size in 64 1500 65535; do
	both_ways "v4-$size" verified 4 5 "$size"
done
both_ways v6-64 verified 6 5
plan_done
