#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a new user does wrong without any configuration (port = kernel) is said in one sentence, and what it advises helps.
# shellcheck disable=SC2154 # of the transport
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
only_over kernel

unset UIWARP_CONFIG UIWARP_SET
inside() { # COMMAND...
	transport_in any "$root/scripts/lib/timeout" "$limit" "$@"
}

# A client that fails, and says why with each of WORDS.
misses() { # ADDRESS WORD...
	! inside "$uiwarp" run -- rping -c -C 1 -a "$1" -p 7179 >"$(log_of client)" 2>"$(errors_of client)" </dev/null ||
		{ say "the client ended well"; return 1; }
	one_sentence client "${@:2}"
}

# The command that the sentence names, as it stands there.
advised() {
	local words
	read -ra words <<<"$(sed -n 's/.*("uiwarp \(doctor [^"]*\)".*/\1/p' "$(errors_of client)")"
	inside "$uiwarp" "${words[@]}" >"$(log_of doctor)" 2>&1
}

refused() {
	misses 127.0.0.1 "127.0.0.1 refuses" "port 7179" || return 1
	! advised || { say "the doctor finds nothing"; return 1; }
	has_line "$(log_of doctor)" '^good .*no configuration is given: port kernel' || { say "it looks elsewhere"; return 1; }
	has_line "$(log_of doctor)" '^WRONG .*nobody listens there' || { say "the doctor finds something else"; return 1; }
}
run_case refused refused

served() {
	start server rping -s -P -a 127.0.0.1
	wait_listening "$started" || return 1
	inside "$uiwarp" doctor 127.0.0.1 7174 >"$(log_of doctor)" 2>&1 || { cat "$(log_of doctor)"; return 1; }
	has_line "$(log_of doctor)" '^nothing is wrong'
}
run_case served served

run_case no_route misses 192.0.2.1 "the host has no route to 192.0.2.1" "ip route get"

# What listens speaks first, and waits: so do many programs.
another_program() {
	inside /usr/bin/python3 -c 'import signal, socket
l = socket.create_server(("127.0.0.1", 7179))
s = l.accept()[0]
s.sendall(b"220 \r\n")
signal.pause()' >"$(log_of server)" 2>&1 </dev/null &
	jobs+=("$!")
	wait_for "$patience" listens || { say "nobody listens"; return 1; }
	misses 127.0.0.1 "what port 7179 of 127.0.0.1 answers is not understood"
}

listens() {
	[[ $(inside ss -ltnH) == *:7179* ]]
}
run_case another_program another_program

# Something is plugged in, and nobody is there.
no_answer() {
	inside ip link add veth0 type veth peer name veth1 && inside ip link set veth1 up &&
		inside ip addr add 10.79.0.1/24 dev veth0 && inside ip link set veth0 up || return 1
	misses 10.79.0.7 "10.79.0.7 cannot be reached" "ip neigh"
}
run_case no_answer no_answer

# The doctor takes the addresses that the sentences have, and says what an address lacks.
finds() { # WHAT ARGUMENT...
	inside "$uiwarp" doctor "${@:2}" >"$(log_of doctor)" 2>&1
	has_line "$(log_of doctor)" "$1" || { cat "$(log_of doctor)"; return 1; }
}

link_local() {
	inside ip addr add fe80::7/64 dev veth0 nodad || return 1
	finds '^WRONG .*fe80::7%[0-9]+ refuses connections to port 7174' fe80::7%veth0 7174 &&
		finds '^nothing is wrong' fe80::7%veth0 &&
		finds '^WRONG .*fe80::7 is link-local and does not say of which interface' fe80::7
}
run_case link_local link_local

no_host() {
	finds '^WRONG .*"host.invalid" is no host' host.invalid
}
run_case no_host no_host

no_interface() {
	! inside unshare -n "$uiwarp" run -- rping -s >"$(log_of client)" 2>"$(errors_of client)" </dev/null ||
		{ say "the program ended well"; return 1; }
	one_sentence client "no interface of this host is up" "ip link set lo up"
}
run_case no_interface no_interface
plan_done
