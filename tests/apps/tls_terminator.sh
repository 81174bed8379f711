#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Terminators of TLS that know nothing of RDMA: one end speaks TLS, the other plain iWARP, and stunnel
# or HAProxy stands between them, in front of the server or of the client.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/apps/tls_lib.sh
source "$(dirname "$0")/tls_lib.sh"
# shellcheck source=tests/apps/terminator_lib.sh
source "$(dirname "$0")/terminator_lib.sh"
only_over kernel
only_with_tls

server_port=7174
make_ca ours
issue ours server "IP:$server_v4,DNS:server.test"
issue ours client "DNS:client.test"
terminators_of "$server_v4"

set_ends() { # server|client: the end that the terminator stands before is the plain one.
	if [[ $1 == server ]]; then
		as "" "$(has required ours client)"
	else
		as "$(has required ours server)" ""
	fi
}

through() { # stunnel|haproxy server|client
	set_ends "$2"
	rings_through "$@"
}

# The terminator is nobody whom the end that speaks TLS believes.
refused() { # stunnel|haproxy server|client
	local tls=$2
	[[ $2 == server ]] && tls=client || tls=server
	set_ends "$2"
	start server rping -s -a "$server_v4" -p "$server_port" -v -C 1
	wait_listening "$started" || return 1
	start_terminator "$1" "$2" stranger || return 1
	start client rping -c -a "$server_v4" -p "$terminator_port" -v -C 1
	! wait "$started" || { say "the client was not refused"; return 1; }
	rm -f "$case_dir/client.pid"
	wait_for "$patience" has_line "$(stack_log_of "$tls")" 'tls: .*certificate: ' ||
		{ say "the $tls does not say why"; return 1; }
	! has_line "$(log_of client)" 'ping data' || { say "something got through"; return 1; }
}

for terminator in stunnel haproxy; do
	for side in server client; do
		program=${terminator/stunnel/stunnel4}
		type -p "$program" >/dev/null || { result ok "$suite-$terminator-before-$side" "SKIP $program is not installed" && continue; }
		run_case "$terminator-before-$side" through "$terminator" "$side"
		run_case "$terminator-stranger-before-$side" refused "$terminator" "$side"
	done
done
plan_done
