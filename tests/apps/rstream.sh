#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rstream: stream sockets over RDMA (rsockets), in its modes of waiting.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# Verifying every size takes minutes where others load the machine.
limit=240

# rstream -T a takes the POLLHUP of a peer that is done already for an error (status 16), or its POLLERR
# when it has gone (8), even with the last bytes still unread: only then is it tried again. Where
# the end comes with the last bytes each time, which is a matter of the machine, nothing is shown.
exchange_patiently() { # ARGUMENT-OF-exchange...
	local try said
	for try in {1..4}; do
		said=$(exchange "$@") && return 0
		say "try $try: $said"
		[[ $said == *"the client ended with status "@(8|16) ]] || return 1
		stop_all
	done
	inconclusive="rstream -T a took its peer's end for an error $try times"
}

# Both sides must be told the same sizes and counts. NAME, lines of figures, options.
while read -r name lines options; do
	[[ $name ]] || continue
	at_server="rstream $options" version=4
	[[ $name != v6* ]] || { at_server+=" -b %6" && version=6; }
	run_case "$name" exchange_patiently "$at_server" "rstream $options -s %${version}" \
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
