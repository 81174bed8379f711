#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rstream -T v: VOLUME_GB (100) GB in all, each byte compared at both ends, on a machine that VOLUME_LOAD (20) more
# processes keep busy. Both families, both placements; half of it in messages of 64 KiB, half in those of 1 MiB, and
# 1 in 50 in odd ones.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"

limit=36000
row='^[0-9a-z_]+ +[0-9.]+[kmg]? +[0-9]+[kmg]? '
# Of each family and placement.
megabytes=$((${VOLUME_GB:-100} * 1000 / 4))
# So many messages to one side, at most, and then as many to the other.
longest_turn=200

# They take what is left, and no more: a pair that waits for its turn among them waits for hours.
busy=()
for ((i = 0; i < ${VOLUME_LOAD:-20}; i++)); do
	chrt --idle 0 sh -c 'while :; do :; done' &
	busy+=("$!")
done
end_busy() {
	((!${#busy[@]})) || kill "${busy[@]}" 2>/dev/null || true
}
trap 'end_busy; end_beside; clean_up' EXIT

verified() { # SERVER CLIENT
	exchange "$1" "$2" server 1 "$row" client 1 "$row" || return 1
	remark="$(grep -E "$row" "$(log_of client)" | tr -s ' '), load $(cut -d ' ' -f 1 /proc/loadavg)"
}

of_size() { # BYTES MEGABYTES
	local messages=$(($2 * 1000000 / (2 * $1) + 1))
	local turn=$((messages < longest_turn ? messages : longest_turn))
	local rounds=$(((messages + turn - 1) / turn))
	local options="-T v -B 1048576 -f $family -S $1 -C $turn -I $rounds"
	run_case "$family-$placement-$1" verified "rstream $options -b $address" "rstream $options -s $address"
}

for placement in auto in-order; do
	server_extra=(--set "placement=$placement") client_extra=(--set "placement=$placement")
	for family in ip ipv6; do
		address=%4
		[[ $family == ip ]] || address=%6
		of_size 4093 $((megabytes / 50))
		of_size 65536 $((megabytes / 2))
		of_size 1048576 $((megabytes / 2))
	done
done
plan_done
