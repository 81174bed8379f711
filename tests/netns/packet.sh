#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is peculiar to AF_PACKET ports: frames of a fixed size in rings, and the rights that a process
# needs and does not need.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"

only_over af_packet

bulk=200
bandwidth='^ *[0-9]+ +[0-9]+ '

# ---- jumbo frames -------------------------------------------------------------------------------

wire_mtu() { # BYTES
	local side
	for side in server client; do
		netns_in "$side" ip link set uiw0 mtu "$1"
		netns_in router ip link set "$side" mtu "$1"
	done
}

counted() { # bytes | packets: that came to the server
	netns_in server cat "/sys/class/net/uiw0/statistics/rx_$1"
}

# Writes to the server's memory, in frames of more than so many bytes on average.
large_frames() { # BYTES
	local packets bytes mean
	packets=$(counted packets) bytes=$(counted bytes)
	exchange 'ib_write_bw -R -F -s 262144 -n %n' 'ib_write_bw -R -F -s 262144 -n %n %4' \
		client 1 "$bandwidth" || return 1
	packets=$(($(counted packets) - packets)) bytes=$(($(counted bytes) - bytes))
	mean=$((bytes / packets))
	((mean > $1)) || { say "frames of $mean bytes"; return 1; }
	remark="frames of $mean bytes"
	# As the data is looked at only here; and over IPv6.
	exchange 'rping -s -a %6 -V -C 20 -S 60000' 'rping -c -a %6 -V -C 20 -S 60000'
}

jumbo() { # BYTES [--set SETTING]...: for both sides
	local status=0 least=$1
	shift
	server_extra=("$@") client_extra=("$@")
	wire_mtu 9000
	large_frames "$least" || status=$?
	wire_mtu 1500
	server_extra=() client_extra=()
	return $status
}

given='port=net_af_packet0,iface=uiw0,framesz=16384,blocksz=65536'
run_case jumbo jumbo 6000
run_case jumbo-mtu jumbo 3000 --set mtu=4000
run_case jumbo-framesz jumbo 6000 --set "$given" --set mtu=9000
run_case jumbo-framesz-alone jumbo 6000 --set port=net_af_packet0,iface=uiw0,framesz=12000

# ---- two processes on one interface --------------------------------------------------------------

# shellcheck disable=SC2317 # run_case calls this
neighbours() { # ARGUMENT-OF-exchange...
	local status=0
	(
		transport_of_neighbours
		trap stop_all EXIT
		exchange "$@"
	) || status=$?
	return $status
}

run_case neighbours-v4 neighbours 'rping -s -a %4 -V -C 20 -S 60000' 'rping -c -a %4 -V -C 20 -S 60000'
run_case neighbours-v6 neighbours 'rping -s -a %6 -V -C 20 -S 60000' 'rping -c -a %6 -V -C 20 -S 60000'

# ---- an ordinary user ---------------------------------------------------------------------------

# The interface's owner is somebody else: it is neither made promiscuous nor given an address.
as_user=()

transport_in() { # SIDE COMMAND...
	local side=$1
	shift
	netns_in "$side" "${as_user[@]}" "$@"
}

stack_log_of() { # SIDE
	say "$case_dir/$1.stack.log"
}

interface_state() {
	netns_in server cat /sys/class/net/uiw0/flags /sys/class/net/uiw0/address
}

ordinary() { # CAPABILITIES SERVER CLIENT [SIDE COUNT REGEX]...
	local user=65534 before status=0 caps=$1
	shift
	# A checkout may be closed to others: then it is root, with no more rights than these.
	setpriv --reuid $user --clear-groups test -x "$uiwarp" || user=0
	chmod 711 "$work"
	chmod 777 "$case_dir"
	before=$(interface_state)
	as_user=(env -u XDG_RUNTIME_DIR "${locked[@]}" setpriv --reuid "$user" --regid "$user" --clear-groups
		--inh-caps "$caps" --ambient-caps "$caps" --bounding-set "$caps")
	exchange "$@" || status=$?
	as_user=()
	((status == 0)) || return $status
	[[ $(interface_state) == "$before" ]] || { say "the interface was changed"; return 1; }
	remark="as user $user"
}

with_mac() { # ARGUMENT-OF-ordinary...
	local status=0
	server_extra=(--set mac=02:00:00:00:70:01)
	ordinary "$@" || status=$?
	server_extra=()
	return $status
}

# Refused in one sentence.
without_rights() {
	ordinary -all 'rping -s -a %4 -C 1' 'rping -c -a %4 -C 1' && return 1
	has_lines server 'AF_PACKET socket' 1 || has_line "$(stack_log_of server)" 'AF_PACKET socket' ||
		{ say "does not say what it may not"; return 1; }
}

raw=-all,+net_raw
locked=()
v4=('rping -s -a %4 -V -C 50 -S 20000' 'rping -c -a %4 -V -C 50 -S 20000')
v6=('rping -s -a %6 -V -C 50 -S 20000' 'rping -c -a %6 -V -C 50 -S 20000')
run_case raw-v4 ordinary $raw "${v4[@]}"
run_case raw-v6 ordinary $raw "${v6[@]}"
run_case raw-bandwidth ordinary $raw 'ib_write_bw -R -F -n %n' 'ib_write_bw -R -F -n %n %4' \
	client 1 "$bandwidth"
run_case raw-mac with_mac $raw "${v6[@]}"
# What ordinary users could lock for long: less than the rings are.
locked=(prlimit --memlock=65536:65536)
run_case raw-memlock ordinary $raw "${v4[@]}"
locked=()
run_case none without_rights
plan_done
