#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rdma_server and rdma_client: one message each way, over the synchronous rdma_cm calls.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

pair v4 "rdma_server -p 7471" "rdma_client -s %4 -p 7471" server 1 'end 0' client 1 'end 0'
pair v6 "rdma_server -s %6 -p 7472" "rdma_client -s %6 -p 7472" server 1 'end 0' client 1 'end 0'
plan_done
