#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rdma_server and rdma_client with siw: one message each way.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "$0")/lib.sh"

both_ways v4 exchange "rdma_server -p 7471" "rdma_client -s %4 -p 7471" server 1 'end 0' client 1 'end 0'
both_ways v6 exchange "rdma_server -s %6 -p 7472" "rdma_client -s %6 -p 7472" \
	server 1 'end 0' client 1 'end 0'
siw_serves ucmatose exchange "ucmatose -b %4 -c 2 -C 10 -S 3000" "ucmatose -s %4 -c 2 -C 10 -S 3000"
# Its server sends first: see perftest.sh.
siw_parameters=(peer_to_peer=1)
siw_asks ucmatose exchange "ucmatose -b %4 -c 2 -C 10 -S 3000" "ucmatose -s %4 -c 2 -C 10 -S 3000"
plan_done
