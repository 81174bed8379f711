#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that know nothing of it, under ESP: their data, what is on the wire, and who is left out.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
only_over memif

# Without OpenSSL there is nothing to test.
[[ $("$uiwarp" run --set port=x --set address=10.0.0.1/24 --set ipsec=/dev/null -- true 2>&1) != *"without OpenSSL"* ]] || {
	plan_done
	exit 0
}

transport_settings server
key=$(openssl rand -hex 16) salt=0a0b0c0d
# Both ends have the same file; what is not about an end has no effect there.
states() { # MODE MORE
	local both
	for both in "$client_v4 $server_v4 0x1001" "$server_v4 $client_v4 0x2001"; do
		# shellcheck disable=SC2086 # words
		set -- "$1" "$2" $both
		say "ip xfrm state add src $3 dst $4 proto esp spi $5 mode $1 aead 'rfc4106(gcm(aes))' 0x$key$salt 128 $2"
	done
}
policies() { # MODE
	local direction
	for direction in "$client_v4 $server_v4" "$server_v4 $client_v4"; do
		# shellcheck disable=SC2086 # words
		set -- "$1" $direction
		say "ip xfrm policy add src $2 dst $3 dir out tmpl src $2 dst $3 proto esp mode $1"
		say "ip xfrm policy add src $2 dst $3 dir in tmpl src $2 dst $3 proto esp mode $1"
	done
}
protect() { # NAME MODE [MORE]
	(umask 077 && { states "$2" "${3:-}"; policies "$2"; } >"$work/$1")
	server_extra=(--set "ipsec=$work/$1")
	client_extra=("${server_extra[@]}")
}

# What the server's port saw is ESP alone, and with the keys tshark sees TCP inside.
decrypted() { # FUNCTION ARGUMENTS...
	local packets=$work/packets.pcapng sa=AES-GCM algorithm='AES-GCM with 16 octet ICV [RFC4106]' seen
	server_extra+=(--set "capture=$packets")
	"$@" || return 1
	command -v tshark >/dev/null || return 0
	seen=$(tshark -r "$packets" -T fields -e ip.proto ip 2>/dev/null | sort -u)
	[[ $seen == 50 ]] || { say "protocols on the wire: $seen"; return 1; }
	sa="\"IPv4\",\"*\",\"*\",\"*\",\"$algorithm\",\"0x$key$salt\",\"NULL\",\"\""
	for sa in "$sa" "$sa,\"32-bit\",\"0\""; do
		seen=$(tshark -r "$packets" -o esp.enable_encryption_decode:TRUE -o "uat:esp_sa:$sa" \
			-Y 'esp && tcp.port == 7174' 2>/dev/null | wc -l)
		((!seen)) || return 0
	done
	say "tshark sees no TCP inside"
	return 1
}
protect transport transport
pair write_bw "ib_write_bw -R -F -a -n 10" "ib_write_bw -R -F -a -n 10 %4" client 23 '^ *[0-9]+ +[0-9]+ '
run_case tshark decrypted exchange "rping -s -a %4 -v -C 10 -S 16384" "rping -c -a %4 -v -V -C 10 -S 16384" \
	client 10 'ping data: rdma-ping'
protect esn transport 'replay-window 1024 flag esn'
pair esn "rping -s -a %4 -v -C 10" "rping -c -a %4 -v -V -C 10" client 10 'ping data: rdma-ping'
protect tunnel tunnel 'encap espinudp 4500 4500 0.0.0.0'
pair tunnel_in_udp "rping -s -a %4 -v -C 10 -S 16384" "rping -c -a %4 -v -V -C 10 -S 16384" \
	client 10 'ping data: rdma-ping'

# A client in the clear, and one with another key.
left_out() { # REASON
	local server_job client_job
	start_both "rping -s -a %4 -v -C 1" "rping -c -a %4 -v -C 1" || return 1
	! wait "$client_job" || { say "the client was not left out"; return 1; }
	rm -f "$case_dir/client.pid"
	wait_for "$patience" has_line "$(stack_log_of server)" "ipsec: $1" || { say "the server's log does not say '$1'"; return 1; }
}
protect transport transport
client_extra=(--set user_timeout=2000)
run_case in_the_clear left_out 'a packet came in the clear'
protect transport transport
key=ff${key:2}
(umask 077 && { states transport ''; policies transport; } >"$work/other")
client_extra=(--set "ipsec=$work/other")
run_case another_key left_out 'bad ICV'

# What is right otherwise has one fault, in the client's file. What else can be said is in
# tests/unit/tools/test_doctor_esp.c: each takes as long as all that doctor waits for.
protect transport transport
run_case doctor doctored 0 '^good .*IPsec has 1 SAs in, 1 out and 2 policies' '^good .*room for ESP, pass' '^good .*speaks MPA'
spoilt() { # NAME SED-SCRIPT
	(umask 077 && sed "$2" "$work/transport" >"$work/$1")
}
another_key=$(openssl rand -hex 16)
spoilt no_sa "/state add src $client_v4 /d"
client_extra=(--set "ipsec=$work/no_sa")
run_case doctor-no_sa doctored 3 '^WRONG .*no SA from one of our addresses' \
	'^WRONG .*to be protected, and there is no SA for them' '^  do: .*add a "state"'
spoilt other_keys "s/0x$key/0x$another_key/"
client_extra=(--set "ipsec=$work/other_keys")
run_case doctor-other_keys doctored 2 '^WRONG .*left under ESP, and nothing came back' '^  do: .*another key for them'

plan_done
