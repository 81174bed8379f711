#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# mckey: messages of UD queue pairs to a multicast group that both sides have joined by rdma_cm (docs/ud.md).
# The server receives, and the client sends.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# Routers do not pass on what keeps to its subnet.
case $transport in
af_packet | tap)
	plan_done
	exit 0
	;;
esac

run_case group-v4 in_group "mckey -m 239.1.2.3 -b %4" "mckey -m 239.1.2.3 -b $client_v4 -s"
members=4
run_case group-v4-many in_group "mckey -m 239.1.2.3 -b %4 -c 4 -C 50 -S 1000" \
	"mckey -m 239.1.2.3 -b $client_v4 -s -c 1 -C 50 -S 1000"
members=1
run_case group-send_only in_group "mckey -m 239.1.2.3 -b %4" "mckey -m 239.1.2.3 -b $client_v4 -s -o -l"
run_case group-unbound in_group "mckey -m 239.1.2.3" "mckey -m 239.1.2.3 -s"
# Linux has no way to groups of IPv6 over its loopback interface.
[[ $transport == kernel ]] || run_case group-v6 in_group "mckey -m ff05::1:3" "mckey -m ff05::1:3 -s"
plan_done
