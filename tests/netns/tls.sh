#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Foreign ends of TLS: openssl s_client and s_server on Linux's TCP, opposite a program on our stack.
# They carry bytes: MPA's start-up frames are seen, and a CRC is used only if the foreign end asks.
# shellcheck disable=SC2154 # of the libraries
# shellcheck source=tests/netns/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/apps/tls_lib.sh
source "$(dirname "$0")/../apps/tls_lib.sh"
only_over af_packet

linux_v4=10.1.0.1
make_ca ours
make_ca theirs
issue ours server "IP:$server_v4"
issue ours linux "IP:$linux_v4"
issue theirs stranger "IP:$linux_v4"
as "$(has required ours server)" ""

# A request of revision 2, without private data; flags 40 asks for CRCs.
request() { # FLAGS
	printf 'MPA ID Req Frame%b%b' "\\x$1" '\x02\x00\x04\x80\x01\xc0\x01'
}

linux_has() { # NAME
	say -CAfile "$pki/ours.pem" -cert "$pki/$1.pem" -key "$pki/$1.key"
}

hex_of() { # FILE OFFSET COUNT
	od -An -tx1 -j "$2" -N "$3" "$1" | tr -d ' \n'
}

has_bytes() { # FILE COUNT
	(($(stat -c %s "$1") >= $2))
}

linux_listens() {
	[[ $(netns_in router ss -ltnH 'sport = :7174') ]]
}

# s_client sends a request, and the answer is a reply with these flags.
s_client() { # REQUEST-FLAGS REPLY-FLAGS [OPTION]...
	local flags=$1 want=$2 answer=$case_dir/answer who job
	shift 2
	read -ra who <<<"$(linux_has linux)"
	start server rping -s -a "$server_v4" -v -C 1
	wait_listening "$started" || return 1
	mkfifo "$case_dir/in"
	ip netns exec "$netns_prefix-router" timeout "$limit" openssl s_client -quiet -verify_return_error -tls1_3 "$@" "${who[@]}" \
		-connect "$server_v4:7174" <"$case_dir/in" >"$answer" 2>"$(errors_of linux)" &
	job=$!
	jobs+=("$job")
	exec {to}>"$case_dir/in"
	request "$flags" >&"$to"
	wait_for "$patience" has_bytes "$answer" 24 || { say "there is no reply"; return 1; }
	exec {to}>&-
	[[ $(head -c 16 "$answer") == "MPA ID Rep Frame" ]] || { say "that is no reply"; return 1; }
	[[ $(hex_of "$answer" 16 2) == "${want}02" ]] || { say "flags and revision are $(hex_of "$answer" 16 2)"; return 1; }
}
run_case s_client-aes128 s_client 10 10 -ciphersuites TLS_AES_128_GCM_SHA256 -alpn iwarp
run_case s_client-aes256 s_client 10 10 -ciphersuites TLS_AES_256_GCM_SHA384
run_case s_client-chacha s_client 10 10 -ciphersuites TLS_CHACHA20_POLY1305_SHA256
run_case s_client-crc s_client 50 50
run_case s_client-short s_client 10 10 -maxfraglen 512

# Who is not believed hears why.
s_client_refused() { # ALERT OPTION...
	local alert=$1
	shift
	start server rping -s -a "$server_v4" -v -C 1
	wait_listening "$started" || return 1
	request 10 | netns_in router timeout "$limit" openssl s_client -quiet "$@" \
		-connect "$server_v4:7174" >"$case_dir/answer" 2>"$(errors_of linux)" || true
	has_line "$(errors_of linux)" "$alert" || { say "it hears no '$alert'"; return 1; }
	[[ ! -s $case_dir/answer ]] || { say "it gets an answer"; return 1; }
	wait_for "$patience" has_line "$(stack_log_of server)" 'tls: .*handshake failed'
}
read -ra stranger <<<"$(linux_has stranger)"
run_case s_client-stranger s_client_refused 'alert (unknown ca|decrypt error|bad certificate)' "${stranger[@]}"
run_case s_client-nobody s_client_refused 'alert certificate required' -CAfile "$pki/ours.pem"
read -ra linux <<<"$(linux_has linux)"
run_case s_client-other s_client_refused 'alert no application protocol' "${linux[@]}" -alpn h2
run_case s_client-older s_client_refused 'alert protocol version' -CAfile "$pki/ours.pem" -tls1_2

# s_server, with its tickets, hears our request, without the C bit.
s_server() { # OPTION...
	local who heard=$case_dir/heard job
	read -ra who <<<"$(linux_has linux)"
	mkfifo "$case_dir/in"
	ip netns exec "$netns_prefix-router" timeout "$limit" openssl s_server -quiet -Verify 1 -verify_return_error "$@" "${who[@]}" \
		-accept "$linux_v4:7174" <"$case_dir/in" >"$heard" 2>"$(errors_of linux)" &
	job=$!
	jobs+=("$job")
	exec {to}>"$case_dir/in"
	wait_for "$patience" linux_listens || return 1
	start server rping -c -a "$linux_v4" -C 1
	wait_for "$patience" grep -qas 'MPA ID Req Frame' "$heard" || { say "it hears no request"; return 1; }
	exec {to}>&-
	(($(grep -ac 'MPA ID Req Frame' "$heard") == 1)) || return 1
	(((0x$(hex_of "$heard" 16 1) & 0x40) == 0)) || { say "the request asks for CRCs"; return 1; }
}
run_case s_server s_server -tls1_3
run_case s_server-alpn s_server -alpn h2,iwarp -ciphersuites TLS_AES_256_GCM_SHA384
plan_done
