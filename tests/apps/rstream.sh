#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rstream: stream sockets over RDMA (rsockets), in its modes of waiting.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# Both sides must be told the same sizes and counts. NAME, lines of figures, options.
while read -r name lines options; do
	[[ $name ]] || continue
	at_server="rstream $options" version=4
	[[ $name != v6* ]] || { at_server+=" -b %6" && version=6; }
	pair "$name" "$at_server" "rstream $options -s %${version}" \
		client "$lines" '^[0-9a-z_]+ +[0-9]+[km]? +[0-9]+[km]? '
done <<-EOT
	default      8  -T v
	v4-all       1  -T v -S all -C 10
	v4-blocking  1  -T b -S 16384 -C 100 -I 10
	v4-nonblock  1  -T n -S 16384 -C 100 -I 10
	v4-async     1  -T a -S 16384 -C 100 -I 10
	v4-resolve   1  -T r -S 16384 -C 100 -I 10
	v4-inline    1  -T v -i 64 -S 64 -C 100 -I 10
	v6-verify    1  -T v -f ipv6 -S 4096 -C 100 -I 10
EOT
plan_done
