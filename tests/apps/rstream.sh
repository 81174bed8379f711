#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rstream: stream sockets over RDMA (rsockets), in its modes of waiting.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# Both sides must be told the same sizes and counts. NAME, lines of figures, options.
while read -r name lines options; do
	[[ $name ]] || continue
	pair "$name" "rstream $options" "rstream $options -s %${name:1:1}" \
		client "$lines" '^[0-9a-z_]+ +[0-9]+[km]? +[0-9]+[km]? '
done <<-EOT
	v4-default   8  -T v
	v4-all       1  -T v -S all -C 10
	v4-blocking  1  -T b -S 16384 -C 100 -I 10
	v4-nonblock  1  -T n -S 16384 -C 100 -I 10
	v4-async     1  -T a -S 16384 -C 100 -I 10
	v4-resolve   1  -T r -S 16384 -C 100 -I 10
	v4-inline    1  -T v -i 64 -S 64 -C 100 -I 10
	v6-verify    1  -T v -b %6 -f ipv6 -S 4096 -C 100 -I 10
EOT
plan_done
