#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# udaddy: UD queue pairs that find each other by rdma_cm (RDMA_PS_UDP, docs/ud.md).
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# Behind a router neither is of the other's subnet.
case $transport in
af_packet | tap) server_extra=(--set ud=on) client_extra=(--set ud=on) ;;
esac

all='data transfers complete' good='return status 0'
pair v4 "udaddy -b %4" "udaddy -s %4" server 1 "$good" client 1 "$good" client 1 "$all"
pair v4-many "udaddy -b %4 -c 8 -C 50 -S 900" "udaddy -s %4 -c 8 -C 50 -S 900" \
	server 1 "$good" client 1 "$good" client 1 "$all"
pair v6 "udaddy -b %6" "udaddy -s %6" server 1 "$good" client 1 "$good" client 1 "$all"
plan_done
