#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Linux to Linux through uiwarp wan: what passes is whole, what is asked for happens. Times are
# only held against what they cannot be less than.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"
only_over af_packet

# The router forwards no more: the emulator is the wire between its two devices, and the hosts at
# the outside are Linux's.
make_wire() {
	local side n=0
	netns_in router sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward'
	for side in server client; do
		n=$((n + 1))
		netns_in router ip addr flush dev "$side"
		netns_in router sh -c "echo 1 >/proc/sys/net/ipv6/conf/$side/disable_ipv6"
		netns_in "$side" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/uiw0/disable_ipv6'
		netns_address "$side" uiw0 "10.9.0.$n/24" "fd09::$n/64" "fe80::$n/64"
	done
}
make_wire
far4=10.9.0.1 far6=fd09::1

# Start the emulator; $wan is its process id.
wan_up() { # ARGUMENT...
	local log
	log=$(log_of wan)
	rm -f "$log"
	# shellcheck disable=SC2016 # expanded by the inner shell
	netns_in router bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/wan.pid" \
		"$uiwarp" wan --json "${ports[@]}" --seed 3 "$@" >"$log" 2>"$(errors_of wan)" \
		<"${wan_stdin:-/dev/null}" &
	jobs+=("$!")
	wan_job=$!
	wait_for "$patience" has_line "$log" '"ready"' || { say "it does not start"; return 1; }
	wan=$(cat "$case_dir/wan.pid")
}
ports=(--a "net_af_packet0,iface=server" --b "net_af_packet1,iface=client")

# End it by a signal: in order, with status 0 and the totals.
wan_down() { # [SIGNAL]
	local status=0
	kill -"${1:-INT}" "$wan"
	wait "$wan_job" || status=$?
	rm -f "$case_dir/wan.pid"
	((status == 0)) || { say "the emulator $(status_text $status)"; return 1; }
	total 't["seconds"] > 0'
}

# What is true of the last line of statistics, in Python.
total() { # EXPRESSION
	tail -n 1 "$(log_of wan)" | python3 -c '
import json, sys
t = json.load(sys.stdin)
x, y = t["a_to_b"], t["b_to_a"]
sys.exit(0 if eval(sys.argv[1]) else f"not so: {sys.argv[1]}: {t}")' "$1"
}

near() { # COMMAND...
	netns_in client timeout "$limit" "$@"
}

pinged() { # ADDRESS COUNT [PING-OPTION]...
	local address=$1 count=$2
	shift 2
	near ping -n -c "$count" -i 0.02 -W 10 "$@" "$address" >"$(log_of ping)" 2>&1
	has_line "$(log_of ping)" ' 0% packet loss' || { say "pings were lost"; return 1; }
}

# The shortest round trip of the last pings is not shorter than this.
took_at_least() { # MILLISECONDS
	awk -F '[=/ ]+' -v least="$1" '/^rtt/ { found = 1; ok = $6 >= least; print "shortest: " $6 }
		END { exit !(found && ok) }' "$(log_of ping)" ||
		{ say "a round trip was shorter than $1 ms"; return 1; }
}

delayed() { # ADDRESS
	wan_up --rate 100m --delay 20ms || return 1
	pinged "$1" 20 || return 1
	took_at_least 40 || return 1
	wan_down || return 1
	# A frame or two of the hosts' own, such as for a neighbour, may be on their way at the end.
	total '20 <= x["frames_out"] <= x["frames_in"] <= x["frames_out"] + 2' || return 1
	total 'sum(x["dropped"].values()) + sum(y["dropped"].values()) == 0'
}
run_case delay-v4 delayed $far4
run_case delay-v6 delayed $far6

one_way() {
	wan_up --delay 1ms --a-to-b delay=30ms || return 1
	pinged $far4 5 || return 1
	took_at_least 31 || return 1
	wan_down TERM
}
run_case one-direction one_way

full_frames() {
	wan_up || return 1
	pinged $far4 5 -M "do" -s 1472 || return 1
	pinged $far6 5 -M "do" -s 1452 || return 1
	wan_down
}
run_case full-frames full_frames

# Linux takes the tag off and so hands it to the driver apart from the frame.
tagged() {
	wan_up || return 1
	netns_in server timeout "$limit" python3 "$root/tests/netns/tag.py" expect uiw0 1207 \
		>"$(log_of expect)" 2>&1 &
	local job=$!
	jobs+=("$job")
	wait_for "$patience" has_line "$(log_of expect)" ready || return 1
	near python3 "$root/tests/netns/tag.py" send uiw0 1207 || return 1
	wait "$job" || { cat "$(log_of expect)"; return 1; }
	wan_down
}
run_case vlan tagged

nothing_passes() {
	wan_up --loss 100% || return 1
	! near ping -n -c 3 -i 0.1 -W 1 $far4 >"$(log_of ping)" 2>&1 ||
		{ say "something passed"; return 1; }
	wan_down || return 1
	total 'y["dropped"]["loss"] >= 1 and y["frames_out"] == 0'
}
run_case loss-of-all nothing_passes

black_hole() {
	wan_up --mtu 1000 || return 1
	pinged $far4 3 -M "do" -s 972 || return 1
	! near ping -n -c 2 -i 0.1 -W 1 -M "do" -s 973 $far4 >>"$(log_of ping)" 2>&1 ||
		{ say "more than the MTU passed"; return 1; }
	wan_down || return 1
	total 'y["dropped"]["mtu"] == 2'
}
run_case mtu black_hole

# Bytes from the near side to the far one, compared there; $seconds is what it took.
transferred() { # ADDRESS BYTES
	netns_in server timeout "$limit" python3 "$root/tests/netns/transfer.py" \
		serve "$1" 7001 "$2" >"$(log_of serve)" 2>&1 &
	local job=$!
	jobs+=("$job")
	wait_for "$patience" listens || { say "nobody listens"; return 1; }
	near python3 "$root/tests/netns/transfer.py" send "$1" 7001 "$2" \
		>"$case_dir/seconds" 2>"$(log_of send)" || { cat "$(log_of send)"; return 1; }
	wait "$job" || { cat "$(log_of serve)"; return 1; }
	seconds=$(<"$case_dir/seconds")
}
listens() {
	[[ $(netns_in server ss -Hltn 'sport = :7001') ]]
}

whole() { # ADDRESS
	wan_up --rate 200m --delay 3ms --jitter 200us --loss 0.3% --reorder 1% --reorder-by 1ms \
		--duplicate 1% --corrupt 0.2% || return 1
	transferred "$1" 15000000 || return 1
	wan_down || return 1
	total 'y["dropped"]["loss"] > 5 and y["corrupted"] > 3 and y["duplicated"] > 20' || return 1
	total 'y["reordered"] > 20 and x["dropped"]["loss"] > 0'
}
run_case tcp-v4 whole $far4
run_case tcp-v6 whole $far6

not_faster() {
	wan_up --rate 40m --queue 100ms || return 1
	transferred $far4 5000000 || return 1
	# 5 MB at 40 Mbit/s, the headers apart.
	awk -v s="$seconds" 'BEGIN { exit !(s >= 1) }' || { say "5 MB in $seconds s"; return 1; }
	wan_down || return 1
	total 'y["bytes_out"] > 5000000 and y["queue_ns_max"] > 1000000'
}
run_case rate not_faster

changed() {
	mkfifo "$case_dir/control"
	# Opened for both, so that neither end waits for the other.
	exec 7<>"$case_dir/control"
	wan_stdin=$case_dir/control wan_up --loss 100% --control || return 1
	! near ping -n -c 1 -W 1 $far4 >"$(log_of ping)" 2>&1 || { say "something passed"; return 1; }
	say 'delay=5s,loss=none' >&7
	say 'loss=0' >&7
	wait_for "$patience" near ping -n -c 1 -W 1 $far4 >>"$(log_of ping)" 2>&1 ||
		{ say "the change was not made"; return 1; }
	say 'a-to-b delay=15ms' >&7
	wait_for "$patience" took_longer || { say "the second change was not made"; return 1; }
	exec 7>&-
	[[ $(<"$(errors_of wan)") == 'uiwarp wan: "loss" is "none"; expected '* ]] || return 1
	wan_down
}
took_longer() {
	pinged $far4 1 && took_at_least 15
}
run_case control changed

asked() {
	wan_up || return 1
	pinged $far4 3 || return 1
	kill -USR1 "$wan"
	wait_for "$patience" has_line "$(log_of wan)" '"seconds"' || return 1
	total 'x["frames_out"] >= 3' || return 1
	pinged $far4 3 || return 1
	wan_down HUP || return 1
	total 'x["frames_out"] >= 6'
}
run_case signals asked

# Linux's offloads: what cannot pass a wire is said, not passed on in part.
offloads() {
	netns_in client ethtool -K uiw0 tx on tso on gso on >/dev/null
	wan_up || return 1
	wait_for "$patience" near ping -n -c 1 -W 1 $far4 >"$(log_of ping)" 2>&1 || { say "no ping passes"; return 1; }
	netns_in server timeout "$limit" python3 "$root/tests/netns/transfer.py" serve $far4 7001 1000000 \
		>"$(log_of serve)" 2>&1 &
	jobs+=("$!")
	wait_for "$patience" listens || return 1
	near timeout "$limit" python3 "$root/tests/netns/transfer.py" send $far4 7001 1000000 \
		>"$(log_of send)" 2>&1 &
	jobs+=("$!")
	wait_for "$patience" has_line "$(errors_of wan)" 'ethtool -K DEVICE tx off' ||
		{ say "it does not tell of the offloads"; return 1; }
	wan_down
}
offloads_and_back() {
	local status=0
	offloads || status=$?
	netns_in client ethtool -K uiw0 tx off tso off gso off >/dev/null
	return $status
}
run_case offloads offloads_and_back

# The same between TAP interfaces of its own; fragments pass here as they are.
taps() {
	local side n=0
	local ports=(--a "net_tap0,iface=uiwt1" --b "net_tap1,iface=uiwt2")
	wan_up --delay 10ms || return 1
	for side in server client; do
		n=$((n + 1))
		netns_in router ip link set uiwt$n netns "${netns_prefix:?}-$side"
		netns_in "$side" ip link set uiwt$n up
		netns_in "$side" ip addr add "10.11.0.$n/24" dev uiwt$n
	done
	wait_for "$patience" near ping -n -c 1 -W 1 10.11.0.1 >"$(log_of ping)" 2>&1 ||
		{ say "no ping comes through"; return 1; }
	pinged 10.11.0.1 5 -s 8000 || return 1
	took_at_least 20 || return 1
	wan_down || return 1
	total 'x["frames_out"] >= 30 and x["dropped"]["oversize"] == 0'
}
run_case tap taps

# What is too large for the port that it would leave by is dropped, and all else passes: a TAP's driver would keep such a
# frame for ever, and all behind it.
mtus() {
	local ports=(--a "net_tap0,iface=uiwt1" --b "net_af_packet1,iface=client")
	netns_in router ip link set client mtu 9000
	netns_in client ip link set uiw0 mtu 9000
	wan_up || return 1
	netns_in router ip link set uiwt1 netns "${netns_prefix:?}-server"
	netns_in server ip link set uiwt1 up
	netns_in server ip addr add 10.12.0.1/24 dev uiwt1
	netns_in client ip addr add 10.12.0.2/24 dev uiw0
	wait_for "$patience" near ping -n -c 1 -W 1 10.12.0.1 >"$(log_of ping)" 2>&1 ||
		{ say "no ping comes through"; return 1; }
	! near ping -n -c 2 -i 0.1 -W 1 -s 4000 10.12.0.1 >>"$(log_of ping)" 2>&1 ||
		{ say "more than the MTU passed"; return 1; }
	pinged 10.12.0.1 5 -s 1472 || return 1
	has_line "$(errors_of wan)" 'port net_af_packet1,iface=client: frames larger than the MTU of port net_tap0' || return 1
	wan_down || return 1
	total 'y["dropped"]["oversize"] == 2 and y["dropped"]["refused"] == 0'
}
mtus_and_back() {
	local status=0
	mtus || status=$?
	netns_in client ip addr del 10.12.0.2/24 dev uiw0
	netns_in client ip link set uiw0 mtu 1500
	netns_in router ip link set client mtu 1500
	return $status
}
run_case mtu-of-the-other mtus_and_back

# The descriptor of a TAP that is deleted tells of that without end.
gone() {
	local ports=(--a "net_tap0,iface=uiwt1" --b "net_af_packet1,iface=client")
	wan_up || return 1
	netns_in router ip link del uiwt1
	wait_for "$patience" has_line "$(errors_of wan)" 'port net_tap0,iface=uiwt1: its interface is down or gone' ||
		{ say "it does not tell"; return 1; }
	wait_for "$patience" rests || { say "it does not rest"; return 1; }
	wan_down
}
rests() {
	[[ $(awk '{ print $3 }' "/proc/$wan/stat") == S ]]
}
run_case gone gone

# Each is told of, once. The emulator looks at a link as often as it tells what it does here.
outages() { # [--poll]
	local n looks
	wan_up --stats 100ms "$@" || return 1
	for n in 1 2; do
		netns_in router ip link set server down
		wait_for "$patience" told_of_outages "$n" || { say "it does not tell of outage $n"; return 1; }
		netns_in router ip link set server up
		wait_for "$patience" near ping -n -c 1 -W 1 $far4 >"$(log_of ping)" 2>&1 ||
			{ say "nothing passes after outage $n"; return 1; }
		looks=$(has_looked)
		wait_for "$patience" looked_since "$looks" || { say "it does not look"; return 1; }
	done
	wan_down && told_of_outages 2
}
has_looked() {
	grep -c '"at"' "$(log_of wan)"
}
looked_since() { # LOOKS
	(($(has_looked) >= $1 + 2))
}
told_of_outages() { # COUNT
	[[ $(grep -c 'port net_af_packet0,iface=server: its interface is down or gone' "$(errors_of wan)") == "$1" ]]
}
run_case outages outages
run_case outages-poll outages --poll
plan_done
