#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rdma_xserver and rdma_xclient with reliable connections, through extended verbs.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

pair rc-v4 "rdma_xserver -c r" "rdma_xclient -s %4 -c r" server 1 'end 0' client 1 'end 0'
pair rc-v6 "rdma_xserver -c r" "rdma_xclient -s %6 -c r" server 1 'end 0' client 1 'end 0'
plan_done
