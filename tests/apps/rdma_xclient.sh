#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rdma_xserver and rdma_xclient with reliable connections, through extended verbs. The server
# has no option for an address and listens on IPv4.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

pair rc-v4 "rdma_xserver -c r" "rdma_xclient -s %4 -c r" server 1 'end 0' client 1 'end 0'
plan_done
