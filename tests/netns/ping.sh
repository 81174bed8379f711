#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Linux's ping to one of our stacks: small, large, in fragments, from two hops away.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

pinged() { # ADDRESS SIZE [PING-OPTION]...
	local address=$1 size=$2
	shift 2
	netns_in router ping -n -c 5 -i 0.2 -W 5 -s "$size" "$@" "$address" >"$(log_of ping)" 2>&1
	has_line "$(log_of ping)" ' 0% packet loss' || { say "pings were lost"; return 1; }
}

for size in 0 56 1472; do
	run_case "v4-$size" with_server pinged "$server_v4" "$size" -M "do"
done
for size in 0 56 1452; do
	run_case "v6-$size" with_server pinged "$server_v6" "$size" -M "do"
done
for size in 1473 4000 20000; do
	run_case "v4-fragments-$size" with_server pinged "$server_v4" "$size"
	run_case "v6-fragments-$size" with_server pinged "$server_v6" "$size"
done
# Larger than what is reassembled, perhaps; either way the stack goes on.
survives() {
	netns_in router ping -n -c 5 -i 0.2 -W 1 -s 65000 "$1" >"$(log_of ping)" 2>&1 || true
	pinged "$1" 56
}
run_case v4-fragments-65000 with_server survives "$server_v4"
run_case v6-fragments-65000 with_server survives "$server_v6"
plan_done
