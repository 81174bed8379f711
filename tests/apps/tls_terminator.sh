#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Terminators of TLS that know nothing of RDMA: one end speaks TLS, the other plain iWARP, and stunnel
# or HAProxy stands between them, in front of the server or of the client.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/apps/tls_lib.sh
source "$(dirname "$0")/tls_lib.sh"
only_over kernel
only_with_tls

# The program that listens, and the terminator before it.
server_port=7174 terminator_port=7175

make_ca ours
make_ca theirs
issue ours server "IP:$server_v4,DNS:server.test"
issue ours client "DNS:client.test"
issue ours terminator "IP:$server_v4"
issue theirs stranger "IP:$server_v4"
for name in terminator stranger; do
	# HAProxy wants both in one file.
	(umask 077 && cat "$pki/$name.pem" "$pki/$name.key" >"$pki/$name.both")
done

stunnel_config() { # server|client NAME
	local connects=no
	[[ $1 == server ]] || connects=yes
	cat <<-END
		foreground = yes
		pid =
		syslog = no
		[iwarp]
		client = $connects
		accept = $server_v4:$terminator_port
		connect = $server_v4:$server_port
		cert = $pki/$2.both
		CAfile = $pki/ours.pem
		verifyChain = yes
		sslVersion = TLSv1.3
	END
}

haproxy_config() { # server|client NAME
	local front='' back=''
	if [[ $1 == server ]]; then
		front="ssl crt $pki/$2.both ca-file $pki/ours.pem verify required ssl-min-ver TLSv1.3 alpn iwarp"
	else
		back="ssl crt $pki/$2.both ca-file $pki/ours.pem verify required verifyhost server.test ssl-min-ver TLSv1.3"
	fi
	cat <<-END
		defaults
		  mode tcp
		  timeout connect ${patience}s
		  timeout client ${limit}s
		  timeout server ${limit}s
		listen iwarp
		  bind $server_v4:$terminator_port $front
		  server there $server_v4:$server_port $back
	END
}

terminator_listens() {
	linux_listening "$terminator_port"
}

# In front of the server it takes TLS and connects in the clear; in front of the client it does the
# opposite.
start_terminator() { # stunnel|haproxy server|client NAME
	local command config=$case_dir/terminator.conf
	"$1_config" "$2" "$3" >"$config"
	case $1 in
	stunnel) command=(stunnel4 "$config") ;;
	haproxy) command=(haproxy -db -f "$config") ;;
	esac
	# shellcheck disable=SC2016 # expanded by the inner shell
	transport_in server "$root/scripts/lib/timeout" "$limit" bash -c 'echo $$ >"$0"; exec "$@"' \
		"$case_dir/terminator.pid" "${command[@]}" >"$(log_of terminator)" 2>&1 </dev/null &
	jobs+=("$!")
	wait_for "$patience" terminator_listens || { say "$1 does not listen"; return 1; }
}

set_ends() { # server|client: the end that the terminator stands before is the plain one.
	if [[ $1 == server ]]; then
		as "" "$(has required ours client)"
	else
		as "$(has required ours server)" ""
	fi
}

through() { # stunnel|haproxy server|client
	local server client
	set_ends "$2"
	start server rping -s -a "$server_v4" -p "$server_port" -v -C 20 -S 60000
	server=$started
	wait_listening "$server" || return 1
	start_terminator "$1" "$2" terminator || return 1
	start client rping -c -a "$server_v4" -p "$terminator_port" -v -V -C 20 -S 60000
	client=$started
	finish client "$client" && finish server "$server" || return 1
	has_lines client 'ping data: rdma-ping' 20 || { say "not all pings came back"; return 1; }
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
