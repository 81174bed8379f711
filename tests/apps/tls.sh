#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that know nothing of it, over TLS: who is believed and who is not, by certificates and by
# shared keys, and what openssl and tshark see of it.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/apps/tls_lib.sh
source "$(dirname "$0")/tls_lib.sh"
[[ $transport == kernel ]] || only_over memif
only_with_tls

make_ca ours
make_ca theirs
transport_settings server
issue ours server "IP:$server_v4,IP:$server_v6"
issue ours client "DNS:client.test"
issue ours client_host "IP:$client_v4"
issue ours other "IP:192.0.2.1"
issue theirs stranger "DNS:client.test"
issue ours expired_server "IP:$server_v4" -1
issue ours expired_client "DNS:client.test" -1
printf 'node:%s\n' 00112233445566778899aabbccddeeff >"$pki/psk"
printf 'node:%s\n' ff112233445566778899aabbccddeeff >"$pki/other_psk"
chmod 600 "$pki"/*psk

server_is=$(has required ours server)
client_is=$(has required ours client)

as "$server_is" "$client_is"
pair write_bw "ib_write_bw -R -F -a -n 10" "ib_write_bw -R -F -a -n 10 %4" client 23 '^ *[0-9]+ +[0-9]+ '
pair read_bw "ib_read_bw -R -F -s 65536 -n 100" "ib_read_bw -R -F -s 65536 -n 100 %4" client 1 '^ *[0-9]+ +[0-9]+ '
pair send_bw_qps "ib_send_bw -R -F -q 4 -s 4096 -n 1000" "ib_send_bw -R -F -q 4 -s 4096 -n 1000 %4" \
	client 1 '^ *[0-9]+ +[0-9]+ '
pair rping-v4 "rping -s -a %4 -v -C 10 -S 16384" "rping -c -a %4 -v -V -C 10 -S 16384" \
	client 10 'ping data: rdma-ping'
pair rping-v6 "rping -s -a %6 -v -C 10" "rping -c -a %6 -v -V -C 10" client 10 'ping data: rdma-ping'

# Without rdma_cm (docs/connect.md).
as "$server_is --set tls_peer_name=client.test" "$client_is"
pair pairing "ibv_rc_pingpong -g 0 -n 100" "ibv_rc_pingpong -g 0 -n 100 %h" client 1 'iters in'
as "$server_is" "$(has required ours client_host)"
pair pairing-addresses "ibv_rc_pingpong -g 0 -n 100" "ibv_rc_pingpong -g 0 -n 100 %h" client 1 'iters in'

# Whichever side has another host's certificate, and whichever of the two it is that connects.
pairing_refused() { # BY-SIDE OTHER
	local server_job client_job by=$1 other=$2
	start_both "ibv_rc_pingpong -g 0 -n 1" "ibv_rc_pingpong -g 0 -n 1 %h" || return 1
	! wait "$client_job" || { say "the client was not refused"; return 1; }
	rm -f "$case_dir/client.pid"
	has_line "$(errors_of client)" 'Failed status transport retry counter exceeded' ||
		{ say "the client's program was told something else"; return 1; }
	has_line "$(stack_log_of "$by")" 'tls: .*certificate: hostname mismatch' || { say "the $by's log does not say why"; return 1; }
	has_line "$(stack_log_of "$other")" 'tls: .*handshake failed|tls: .*alert' || { say "the $other's log says nothing"; return 1; }
	! has_line "$(log_of server)" 'iters in' || { say "something got through"; return 1; }
}
as "$server_is" "$(has required ours other)"
run_case pairing-wrong_client pairing_refused server client
as "$(has required ours other)" "$(has required ours client_host)"
run_case pairing-wrong_server pairing_refused client server

as "--set tls=required --set tls_psk=$pki/psk" "--set tls=required --set tls_psk=$pki/psk"
pair psk "rping -s -a %4 -v -C 10" "rping -c -a %4 -v -V -C 10" client 10 'ping data: rdma-ping'

# Datagrams have no TLS.
no_datagrams() {
	transport_settings client
	! "$uiwarp" run "${settings[@]}" "${client_extra[@]}" -- ibv_ud_pingpong -g 0 >"$case_dir/said" 2>&1 || return 1
	has_line "$case_dir/said" 'there are no UD queue pairs: tls = required' ||
		{ cat "$case_dir/said"; say "it does not say why"; return 1; }
	(($(grep -c '^uiwarp: ' "$case_dir/said") == 1)) || { cat "$case_dir/said"; say "not one sentence of ours"; return 1; }
}
as "$server_is" "$client_is"
run_case no_datagrams no_datagrams

# A server that takes both.
as "$(has on ours server)" ""
pair clear_client "rping -s -a %4 -v -C 10" "rping -c -a %4 -v -V -C 10" client 10 'ping data: rdma-ping'
as "$(has on ours server)" "$client_is"
pair tls_client "rping -s -a %4 -v -C 10" "rping -c -a %4 -v -V -C 10" client 10 'ping data: rdma-ping'

as "$server_is" "$(has required ours stranger)"
run_case unknown_ca refused 'certificate: ' 'alert|handshake failed'
as "$(has required ours other)" "$client_is"
run_case wrong_name refused 'handshake failed' 'certificate: hostname mismatch'
as "$(has required ours expired_server)" "$client_is"
run_case expired_server refused 'handshake failed' 'certificate: certificate has expired'
as "$server_is" "$(has required ours expired_client)"
run_case expired_client refused 'certificate: certificate has expired' 'alert|handshake failed'
as "$server_is" ""
run_case clear_refused refused_clear
as "--set tls=required --set tls_psk=$pki/psk" "--set tls=required --set tls_psk=$pki/other_psk"
run_case other_psk refused 'handshake failed' 'handshake failed'

# It takes the connection, as far as Linux does that for it, and says nothing.
unanswered() {
	start_foreign silent python3 -c 'import signal, socket, sys
listener = socket.create_server((sys.argv[1], 7175))
print("listens", flush=True)
signal.pause()' "$server_v4"
	wait_for "$patience" has_line "$(log_of silent)" listens || { say "nobody listens"; return 1; }
	start client rping -c -a "$server_v4" -p 7175 -v -C 1
	! wait "$started" || { say "the client was not told"; return 1; }
	rm -f "$case_dir/client.pid"
	has_line "$(stack_log_of client)" 'tls: .*given up before its handshake was done' ||
		{ say "the client's log does not say why"; return 1; }
	told "UNREACHABLE, error -110"
}

# The other end is openssl, which speaks nothing newer than TLS 1.2 and has a certificate that would be believed.
older_server() {
	local log
	log=$(log_of openssl)
	# -www: else it ends with its input.
	start_foreign openssl openssl s_server -tls1_2 -www -accept "$server_v4:7175" \
		-cert "$pki/server.pem" -key "$pki/server.key" -CAfile "$pki/ours.pem"
	wait_for "$patience" has_line "$log" '^ACCEPT' || { say "openssl does not listen"; return 1; }
	start client rping -c -a "$server_v4" -p 7175 -v -C 1
	! wait "$started" || { say "the client was not refused"; return 1; }
	rm -f "$case_dir/client.pid"
	has_line "$(stack_log_of client)" 'tls: .*protocol version' || { say "the client's log does not say why"; return 1; }
	wait_for "$patience" has_line "$log" 'alert protocol version|unsupported protocol' ||
		{ say "openssl has no alert"; return 1; }
	told "$rejected"
}
older_client() {
	local log
	log=$(log_of openssl)
	start server rping -s -P -a "$server_v4" -p 7174
	wait_listening "$started" || return 1
	! transport_in client "$root/scripts/lib/timeout" "$limit" openssl s_client -tls1_2 -connect "$server_v4:7174" \
		-cert "$pki/client.pem" -key "$pki/client.key" -CAfile "$pki/ours.pem" >"$log" 2>&1 </dev/null ||
		{ say "openssl was not refused"; return 1; }
	has_line "$log" 'alert protocol version' || { say "openssl has no alert"; return 1; }
	wait_for "$patience" has_line "$(stack_log_of server)" 'tls: .*unsupported protocol' ||
		{ say "the server's log does not say why"; return 1; }
	start client rping -c -a "$server_v4" -p 7174 -v -V -C 2
	finish client "$started"
}
# Which reaches no memif.
if [[ $transport == kernel ]]; then
	as "$server_is" "$client_is"
	run_case older_server older_server
	run_case older_client older_client
	as "" "$client_is --set startup_timeout=1000"
	run_case unanswered unanswered
fi

# Handshakes that are not gone on with: who is believed gets through beside them, and they end.
half_done() {
	local crowd
	start server rping -s -P -a "$server_v4" -p 7174
	wait_listening "$started" || return 1
	transport_in client "$root/scripts/lib/timeout" "$limit" "$root/tests/apps/tls_strangers.py" "$server_v4" 7174 200 \
		>"$(log_of crowd)" 2>"$(errors_of crowd)" </dev/null &
	crowd=$!
	jobs+=("$crowd")
	wait_for "$patience" has_line "$(log_of crowd)" waiting || { say "the crowd does not come"; return 1; }
	start client rping -c -a "$server_v4" -p 7174 -v -V -C 10
	finish client "$started" || return 1
	wait "$crowd" || { say "the server does not end them"; return 1; }
	is_alive "$(program_pid server)" || { say "the server is gone"; return 1; }
}
if [[ $transport == kernel ]]; then
	as "$server_is --set startup_timeout=6000" "$client_is"
	run_case half_done half_done
fi

as "$server_is" "$client_is"
run_case doctor doctored 0 '^note .*tls_certificate expires in (1 day|2 days);' \
	'^good .*, and TLS on it' '^good .*speaks MPA'
as "$(has required ours other)" "$client_is"
run_case doctor-wrong_name doctored 1 '^WRONG .*there is no TLS with' '^WRONG .*certificate: hostname mismatch' '^  do: .*tls_peer_name'
as "$server_is" "$(has required ours stranger)"
run_case doctor-unknown_ca doctored 1 '^WRONG .*does not believe us|^WRONG .*the alert .unknown CA' '^  do: .*tls_ca'
as "" "$client_is"
run_case doctor-no_tls doctored 1 '^WRONG .*hears TLS: it speaks none' '^  do: .*tls = off'
as "$server_is" ""
run_case doctor-wants_tls doctored 1 '^WRONG .*ends it when it hears MPA' '^  do: .*it wants TLS'

# What cannot work is said at the start.
complains() { # SENTENCE SETTING...
	local sentence=$1
	shift
	transport_settings client
	! "$uiwarp" run "${settings[@]}" "$@" -- ibv_devinfo >"$case_dir/said" 2>&1 || true
	has_line "$case_dir/said" "$sentence" || { cat "$case_dir/said"; say "it does not say '$sentence'"; return 1; }
}
chmod 644 "$pki/stranger.key"
read -ra readable <<<"$(has required ours stranger)"
run_case readable_key complains 'tls_key .*others may read' "${readable[@]}"
as "$server_is" "$(has required ours stranger)"
run_case doctor-readable_key doctored 1 '^WRONG .*others may read' '^  do: .*the file'
run_case no_ca complains '"tls_ca" is missing' --set tls=on --set "tls_certificate=$pki/client.pem" \
	--set "tls_key=$pki/client.key"
run_case both complains 'expected one of them' --set tls=on --set "tls_psk=$pki/psk" --set "tls_ca=$pki/ours.pem"

# The packets: nothing of the text in the clear; tshark and our own checker read it with the log of the keys.
decoded() {
	local packets=$case_dir/packets.pcapng keys=$case_dir/keys port
	server_extra+=(--set "tls_keylog=$keys" --set "capture=$packets")
	exchange "rping -s -a %4 -p 7174 -v -C 10" "rping -c -a %4 -p 7174 -v -V -C 10" || return 1
	! grep -qa 'rdma-ping-' "$packets" || { say "the text is in the clear"; return 1; }
	! grep -qa 'MPA ID Re' "$packets" || { say "MPA is in the clear"; return 1; }
	[[ $(stat -c %a "$keys") == 600 ]] || { say "others may read the log of keys"; return 1; }
	port=$(tshark -r "$packets" -o "tls.keylog_file:$keys" -d tcp.port==7174,tls -q -z follow,tls,raw,0 2>/dev/null)
	grep -q "$(printf 'MPA ID Req Frame' | od -An -tx1 | tr -d ' \n')" <<<"$port" ||
		{ say "tshark does not find MPA's request"; return 1; }
	grep -q "$(printf 'rdma-ping-3' | od -An -tx1 | tr -d ' \n')" <<<"$port" ||
		{ say "tshark does not find the text"; return 1; }
	"$uiwarp" pcap check --keylog "$keys" "$packets" || return 1
	port=$("$uiwarp" pcap show --keylog "$keys" "$packets" | grep -c 'RDMA Read Request')
	((port == 10)) || { say "$port Read Requests are shown, not 10"; return 1; }
}
as "$server_is" "$client_is"
# The kernel's TCP is captured by other means.
if [[ $transport == memif ]] && type -p tshark >/dev/null; then
	run_case decoded decoded
fi
plan_done
