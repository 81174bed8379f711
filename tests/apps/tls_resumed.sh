#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# openssl s_client takes our server's ticket, and resumes its session with it; a server whose certificate
# has changed since does a whole handshake.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/apps/tls_lib.sh
source "$(dirname "$0")/tls_lib.sh"
only_over kernel
only_with_tls

make_ca ours
issue ours server "IP:$server_v4"
issue ours client "DNS:client.test"

serve() {
	start server rping -s -P -a "$server_v4" -p 7174
	wait_listening "$started"
}

s_client() { # OPTION...
	transport_in client "$root/scripts/lib/timeout" "$limit" openssl s_client -connect "$server_v4:7174" -tls1_3 -alpn iwarp \
		-CAfile "$pki/ours.pem" -cert "$pki/client.pem" -key "$pki/client.key" -verify_return_error "$@"
}

# The ticket comes behind the handshake: stay until it is there.
take_ticket() { # FILE
	local stays
	mkfifo "$case_dir/in"
	s_client -sess_out "$1" <"$case_dir/in" >"$(log_of client)" 2>"$(errors_of client)" &
	stays=$!
	jobs+=("$stays")
	exec 8>"$case_dir/in"
	wait_for "$patience" test -s "$1" || { say "there is no ticket"; exec 8>&-; return 1; }
	exec 8>&-
	wait "$stays" || { say "openssl has failed"; return 1; }
	has_line "$(log_of client)" '^New, TLSv1.3' || { say "the first was resumed"; return 1; }
	has_line "$(log_of client)" 'ALPN protocol: iwarp' || { say "there is no ALPN"; return 1; }
}

resumed() {
	local ticket=$case_dir/ticket
	serve && take_ticket "$ticket" || return 1
	s_client -sess_in "$ticket" </dev/null >"$(log_of again)" 2>"$(errors_of again)" ||
		{ say "openssl cannot resume"; return 1; }
	has_line "$(log_of again)" '^Reused, TLSv1.3' || { say "it was not resumed"; return 1; }
	has_line "$(log_of again)" 'Early data was not sent' || { say "there is early data"; return 1; }
	is_alive "$(program_pid server)" || { say "the server is gone"; return 1; }
}
as "$(has required ours server)" ""
run_case resumed resumed

not_known() {
	local ticket=$case_dir/ticket
	serve && take_ticket "$ticket" || return 1
	issue ours server "IP:$server_v4,DNS:again.test"
	s_client -sess_in "$ticket" </dev/null >"$(log_of again)" 2>"$(errors_of again)" ||
		{ say "openssl does not get in"; return 1; }
	has_line "$(log_of again)" '^New, TLSv1.3' || { say "it was resumed with other certificates"; return 1; }
}
run_case resumed-not_known not_known
plan_done
