#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Linux's ping to one of our stacks: small, large, in fragments.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

pinged() { # ADDRESS SIZE [PING-OPTION]...
	local address=$1 size=$2
	shift 2
	linux_side ping -n -c 5 -i 0.2 -W "$patience" -s "$size" "$@" "$address" >"$(log_of ping)" 2>&1
	has_line "$(log_of ping)" ' 0% packet loss' || { say "pings were lost"; return 1; }
}

for size in 0 56 1472; do
	run_case "v4-$size" with_server pinged "$server_v4" "$size" -M "do"
done
for size in 0 56 1452; do
	run_case "v6-$size" with_server pinged "$server_v6" "$size" -M "do"
done
# In fragments, because Linux is told of a smaller path MTU; the answer fits one packet.
in_fragments() { # ADDRESS SIZE MTU
	linux_side ip route replace "$1" dev "$(linux_device)" mtu "$3"
	pinged "$1" "$2"
	linux_side ip route del "$1" dev "$(linux_device)"
}
run_case v4-2-fragments with_server in_fragments "$server_v4" 1400 1000
run_case v4-3-fragments with_server in_fragments "$server_v4" 1400 576
run_case v6-2-fragments with_server in_fragments "$server_v6" 1400 1280

# An answer that would need fragments is not sent: that is not there yet. The stack goes on.
survives() { # ADDRESS SIZE
	linux_side ping -n -c 5 -i 0.2 -W 1 -s "$2" "$1" >"$(log_of large)" 2>&1 || true
	pinged "$1" 56
}
for size in 1473 20000 65000; do
	run_case "v4-survives-$size" with_server survives "$server_v4" "$size"
	run_case "v6-survives-$size" with_server survives "$server_v6" "$size"
done
plan_done
