# shellcheck shell=bash disable=SC2154 # the transport knows
# SPDX-License-Identifier: BSD-2-Clause
# Our stack on NICs that DPDK drives, in QEMU guests. Sourced by the programs in tests/nic.
set -- -t nic -o "$(dirname "${BASH_SOURCE[0]}")/../../out/test/nic" "$@"
# shellcheck source=tests/apps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../apps/lib.sh"

# An emulated guest may get no processor for long. Nobody waits longer than for what he waits for.
patience=120 limit=300

# Told to the cases: the NIC, and the driver of Linux's that hands it over.
nic='' handed_by=''

# A case in both roles: the names say which side is the server.
both_ways() { # NAME FUNCTION [ARGUMENT]...
	in_guest "$1-guest-serves" server "${@:2}"
	in_guest "$1-guest-asks" client "${@:2}"
}

in_guest() { # NAME server|client (the guest's side) FUNCTION [ARGUMENT]...
	run_case "$nic-$handed_by-$1" with_guest "${@:2}"
}

# What the stack in the guest said is kept, whatever came of the case.
with_guest() { # server|client FUNCTION [ARGUMENT]...
	local status=0
	guest_is "$1"
	nic_boot "$nic" "$handed_by" || return 1
	guest control end || return 1
	"${@:2}" || status=$?
	guest control "cat /tmp/stack.log" >"$(stack_log_of "$guest_side")" 2>/dev/null || true
	return "$status"
}

# In a guest a server may be late.
transport_again() {
	guest control end
}

guest_says() { # REGEX
	guest control "grep -qE '$1' /tmp/stack.log"
}

# What came over the wire, by tshark, which knows nothing of offloads: all checksums good, and from both ends, or one,
# segments of so many bytes at least.
wire_is_good() { # BYTES [ENDS]
	tshark -r "$out/$case_name.pcapng" -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -Y tcp -T fields \
		-e eth.src -e tcp.len -e ip.checksum.status -e tcp.checksum.status -e tcp.checksum 2>/dev/null |
		awk -F '\t' -v least="$1" -v ends="${2-2}" '
		{ frames++ }
		# 0xffff is 0 as well (RFC 1624); Linux writes it where it cuts segments, and tshark wants 0.
		($3 != "" && $3 != 1) || ($4 != 1 && $5 != "0xffff") { bad++ }
		$2 > most[$1] { most[$1] = $2 }
		END {
			if (!frames || bad) {
				print frames + 0, "frames with TCP,", bad + 0, "of them with wrong checksums"
				exit 1
			}
			for (end in most)
				if (most[end] >= least)
					large++
			if (large != ends) {
				print "frames with", least, "bytes came from", large + 0, "ends"
				exit 1
			}
		}'
}
