#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gather = on over a TAP, whose driver takes payload from where it lies in the program's memory: it comes as it is
# there, also where the path loses it and copies are sent again. What a NIC reads by itself is in tests/nic.
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"
only_over tap
server_extra=(--set gather=on --set crc=off) client_extra=("${server_extra[@]}")

# By the stack of a side it is not 0; with MORE digits, for a regular expression, it is larger.
counted() { # SIDE COUNTER [MORE]
	transport_in "$1" "$uiwarp" stat --json "$(program_pid "$1")" 2>/dev/null | grep -qE "\"$2\": ?[1-9]${3-}"
}

# Read Responses go one way, Writes the other, and rping compares what came back.
both_count() { # [COUNTER-OF-THE-CLIENT]
	local server_job client_job side
	start_both "rping -s -a %4 -P -S 60000" "rping -c -a %4 -V -C 100000000 -S 60000" || return 1
	for side in server client; do
		wait_for "$patience" counted "$side" external_out ||
			{ say "the $side sends nothing from the program's memory"; return 1; }
	done
	[[ ! ${1-} ]] || wait_for "$patience" counted client "$1" || { say "$1 does not count"; return 1; }
	is_alive "$(program_pid client)" || { say "the client has ended"; return 1; }
	is_alive "$(program_pid server)" || { say "the server has ended"; return 1; }
}

all_right() {
	probed_right send server 'received: 16000 bytes right' && probed_right write server 'buffer: right' &&
		probed_right read client 'read: right'
}

with_loss() { # COMMAND...
	local status=0
	netns_in client tc qdisc add dev uiw0 root tbf rate 30mbit burst 4000 limit 12000 || return 1
	"$@" || status=$?
	netns_in client tc qdisc del dev uiw0 root
	return "$status"
}

# A CRC would be of other bytes than those that are sent, if the program writes: with one, all is copied.
nothing_with_crc() {
	local server_extra=(--set gather=on) client_extra=(--set gather=on)
	start_both "rping -s -a %4 -P -S 60000" "rping -c -a %4 -V -C 100000000 -S 60000" || return 1
	wait_for "$patience" counted client bytes_out '[0-9]{6}' || { say "nothing goes"; return 1; }
	! counted client external_out
}

PATH=$root/build/tests/interop:$PATH
run_case counts both_count
run_case right all_right
run_case loss-counts with_loss both_count retransmits
run_case loss-right with_loss all_right
run_case crc nothing_with_crc
plan_done
