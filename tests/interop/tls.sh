#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # the transport has the addresses
# siw, which has no TLS, with a terminator before it: stunnel or HAProxy, outside of the guest, where our side's TCP is
# the host's own. The terminator cuts the stream anew for siw.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/apps/tls_lib.sh
source "$(dirname "$0")/../apps/tls_lib.sh"
# shellcheck source=tests/apps/terminator_lib.sh
source "$(dirname "$0")/../apps/terminator_lib.sh"
only_over siw-kernel
only_with_tls

# What is captured is between the terminator and siw. Under TLS our side asks for no CRC, nor does siw.
pings=5 capture_is=plain
make_ca ours
issue ours server "IP:${outside_addresses[0]},DNS:server.test"
issue ours client "DNS:client.test"
terminators_of "${outside_addresses[0]}"

for terminator in stunnel haproxy; do
	program=${terminator/stunnel/stunnel4}
	type -p "$program" >/dev/null || { result ok "$suite-$terminator" "SKIP $program is not installed" && continue; }
	read -ra ours <<<"$(has required ours client)"
	siw_serves "$terminator" rings_through "$terminator" server
	read -ra ours <<<"$(has required ours server)"
	siw_asks "$terminator" rings_through "$terminator" client
done
plan_done
