#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rping: RDMA Reads and Writes in turns, its data shown by the server and verified by the client.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# Its largest size is 65535, whatever it says itself.
for size in 64 1024 4096 16384 65535; do
	pair "v4-$size" "rping -s -a %4 -v -C 10 -S $size" "rping -c -a %4 -v -V -C 10 -S $size" \
		server 10 'ping data: rdma-ping' client 10 'ping data: rdma-ping'
done
pair v6-64 "rping -s -a %6 -v -C 10" "rping -c -a %6 -v -V -C 10" \
	server 10 'ping data: rdma-ping' client 10 'ping data: rdma-ping'
pair v6-65535 "rping -s -a %6 -v -C 5 -S 65535" "rping -c -a %6 -v -V -C 5 -S 65535" \
	client 5 'ping data: rdma-ping'
pair wildcard-v4 "rping -s -v -C 10" "rping -c -a %4 -v -V -C 10" client 10 'ping data: rdma-ping'
pair wildcard-v6 "rping -s -a ::0 -v -C 10" "rping -c -a %6 -v -V -C 10" \
	client 10 'ping data: rdma-ping'
pair many "rping -s -a %4 -C 1000" "rping -c -a %4 -v -V -C 1000" client 1000 'ping data: rdma-ping'

# A persistent server takes one client after the other, and two at once.
persistent() {
	server_persists=yes exchange "rping -s -P -a %4 -v" "rping -c -a %4 -v -V -C 10" \
		client 10 'ping data: rdma-ping' || return 1
	start client rping -c -a "$server_v4" -V -C 50
	finish client "$started" || return 1
	is_alive "$(program_pid server)" || { say "the server is gone"; return 1; }
}
run_case persistent persistent

# A memif's client that shows its peer its packet buffers: the file of them has to be one that can be sealed.
zero_copy() {
	local client_extra=(--set "port=net_memif0,role=client,socket=$case_dir/memif,socket-abstract=no,zero-copy=yes")
	exchange "rping -s -a %4 -v -C 10" "rping -c -a %4 -v -V -C 10" client 10 'ping data: rdma-ping'
}
[[ $transport != memif ]] || run_case zero-copy zero_copy
plan_done
