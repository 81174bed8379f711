#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a new user does wrong is said in one sentence, on stderr at the default log level: programs
# say "unreachable" or "-110" at best.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

only_over memif

socket() {
	say "$case_dir/first.sock"
}

# Run a program on a memif of this case: ROLE ADDRESS COMMAND...
on_memif() {
	local role=$1 address=$2
	shift 2
	"$root/scripts/lib/timeout" "$limit" "$uiwarp" run \
		--set "port=net_memif0,role=$role,socket=$(socket),socket-abstract=no" \
		--set "address=$address" "${extra[@]}" -- "$@"
}

# A server that stays, with rping listening; its process is in $server.
serve() { # ADDRESS COMMAND...
	extra=(--set log=info --set "log_file=$(stack_log_of server)")
	rm -f "$(stack_log_of server)"
	on_memif server "$@" >"$(log_of server)" 2>"$(errors_of server)" </dev/null &
	jobs+=("$!")
	extra=()
	wait_for "$patience" has_line "$(stack_log_of server)" listening ||
		{ say "the server does not listen"; return 1; }
}

# A client that fails, and says so.
client_fails() { # ADDRESS COMMAND...
	! on_memif client "$@" >"$(log_of client)" 2>"$(errors_of client)" </dev/null ||
		{ say "the client ended well"; return 1; }
}

no_server() {
	client_fails 10.0.0.2/24 rping -c -C 1 -a 10.0.0.1 || return 1
	one_sentence client "nobody listens at the memif socket $(socket)" role=server "uiwarp doctor 10.0.0.1 7174"
}

# A server without its client: the program connects, the client did not come.
no_client() {
	on_memif server 10.0.0.1/24 rping -c -C 1 -a 10.0.0.2 >"$(log_of client)" 2>"$(errors_of client)" </dev/null &&
		{ say "the program ended well"; return 1; }
	one_sentence client "no other process has come to the memif socket $(socket)" role=client
}

# Both ends say role=client: neither comes to anything, and each says why.
two_clients() {
	local job
	on_memif client 10.0.0.1/24 rping -c -C 1 -a 10.0.0.2 >"$(log_of server)" 2>"$(errors_of server)" </dev/null &
	job=$!
	jobs+=("$job")
	client_fails 10.0.0.2/24 rping -c -C 1 -a 10.0.0.1 || return 1
	! wait "$job" || { say "the other client ended well"; return 1; }
	one_sentence server "nobody listens at the memif socket" role=server || return 1
	one_sentence client "nobody listens at the memif socket" role=server
}

# Both ends say role=server: the second is told.
two_servers() {
	serve 10.0.0.1/24 rping -s -P -a 10.0.0.1 || return 1
	! on_memif server 10.0.0.2/24 rping -c -C 1 -a 10.0.0.1 >"$(log_of client)" 2>"$(errors_of client)" </dev/null ||
		{ say "the other server ended well"; return 1; }
	one_sentence client "another process is the server" role=client
}

# A word of the port's arguments, or the port itself, is wrong: it is said what to write.
wrong_port() { # PORT WORD...
	local port=$1
	shift
	"$root/scripts/lib/timeout" "$limit" "$uiwarp" run --set "port=$port" --set address=10.0.0.1/24 -- \
		rping -c -C 1 -a 10.0.0.2 >"$(log_of client)" 2>"$(errors_of client)" </dev/null &&
		{ say "the program ended well"; return 1; }
	one_sentence client "$@"
}

# Two are connected, and a third process comes.
second_client() {
	serve 10.0.0.1/24 rping -s -P -a 10.0.0.1 || return 1
	on_memif client 10.0.0.2/24 rping -c -a 10.0.0.1 -v >"$(log_of first)" 2>"$(errors_of first)" </dev/null &
	jobs+=("$!")
	wait_for "$patience" has_line "$(log_of first)" 'ping data' ||
		{ say "the first client does not get through"; return 1; }
	client_fails 10.0.0.3/24 rping -c -C 1 -a 10.0.0.1 || return 1
	one_sentence client "does not take this one" "a memif joins two"
}

same_address() {
	serve 10.0.0.1/24 rping -s -P -a 10.0.0.1 || return 1
	client_fails 10.0.0.1/24 rping -c -C 1 -a 10.0.0.1 || return 1
	one_sentence client 10.0.0.1 "is in use by process" "(rping)"
}

# The link is there, and nothing else is right: WORDS are separated by '|'.
misses() { # ADDRESS TARGET WORDS [--set ASSIGNMENT]...
	local address=$1 target=$2 words
	IFS='|' read -ra words <<<"$3"
	shift 3
	serve 10.0.0.1/24 rping -s -P -a 10.0.0.1 || return 1
	extra=("$@")
	client_fails "$address" rping -c -C 1 -a "$target" -p 7175 || return 1
	one_sentence client "${words[@]}"
}

unsupported() { # WORDS COMMAND...
	local kind=$1
	shift
	on_memif server 10.0.0.1/24 "$@" >"$(log_of client)" 2>"$(errors_of client)" </dev/null &&
		{ say "the program ended well"; return 1; }
	one_sentence client "$kind" "iWARP does not have"
}

bare() {
	env -u UIWARP_CONFIG -u UIWARP_SET LD_PRELOAD="$root/build/provider/shim/libuiwarp-preload.so" \
		timeout "$limit" ibv_devices >"$(log_of client)" 2>"$(errors_of client)" </dev/null || true
	one_sentence client LD_PRELOAD UIWARP_CONFIG "uiwarp run"
}

# DPDK prints only what was asked for.
dpdk_lines() {
	extra=(--set log=debug)
	on_memif server 10.0.0.1/24 ibv_devinfo >"$(log_of client)" 2>"$(errors_of client)" || return 1
	grep -q 'DPDK: ' "$(errors_of client)" || { say "no line of DPDK's with log=debug"; return 1; }
	extra=(--set log=info)
	on_memif server 10.0.0.1/24 ibv_devinfo >"$(log_of client)" 2>"$(errors_of client)" || return 1
	! grep -q 'DPDK: ' "$(errors_of client)" || { say "a line of DPDK's with log=info"; return 1; }
}

extra=()
run_case no_server no_server
run_case no_client no_client
run_case two_clients two_clients
run_case two_servers two_servers
run_case role wrong_port net_memif0,role=serve "expected server" client
run_case interface wrong_port eth1 "port = net_af_packet0,iface=eth1"
run_case no_interface wrong_port net_af_packet0 "net_af_packet0,iface=eth1"
run_case second_client second_client
run_case same_address same_address
run_case refused misses 10.0.0.2/24 10.0.0.1 "10.0.0.1 refuses|port 7175|uiwarp doctor 10.0.0.1 7175|with the same --config and --set"
run_case no_answer misses 10.0.0.2/24 10.0.0.9 "10.0.0.9 does not answer ARP"
run_case no_answer_v6 misses fd77::2/64 fd77::9 "fd77::9 does not answer neighbour solicitations"
run_case no_route misses 10.0.0.2/24 192.0.2.1 "no route to 192.0.2.1|gateway"
run_case dead_gateway misses 10.0.0.2/24 192.0.2.1 "the gateway 10.0.0.9|does not answer ARP" \
	--set gateway=10.0.0.9
run_case uc unsupported "UC queue pairs" ibv_uc_pingpong -g 0
run_case xrc unsupported "XRC" ibv_xsrq_pingpong -g 0
run_case bare bare
run_case dpdk_lines dpdk_lines
plan_done
