# shellcheck shell=bash disable=SC2154 # goes between tls_lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Terminators of TLS between two programs: stunnel and HAProxy. Sourced after tls_lib.sh.

# Where it listens, at an address that terminators_of is told.
terminator_port=7175
pings=20

# Certificates of one that our CA knows, and of one that it does not. Theirs is another.
terminators_of() { # ADDRESS
	local name
	terminator_at=$1
	make_ca theirs
	issue ours terminator "IP:$1"
	issue theirs stranger "IP:$1"
	for name in terminator stranger; do
		# HAProxy wants both in one file.
		(umask 077 && cat "$pki/$name.pem" "$pki/$name.key" >"$pki/$name.both")
	done
}

stunnel_config() { # server|client NAME
	local connects=no
	[[ $1 == server ]] || connects=yes
	cat <<-END
		foreground = yes
		pid =
		syslog = no
		[iwarp]
		client = $connects
		accept = $terminator_at:$terminator_port
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
		  bind $terminator_at:$terminator_port $front
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
	start_foreign terminator "${command[@]}"
	wait_for "$patience" terminator_listens || { say "$1 does not listen"; return 1; }
}

# rping by way of the terminator, its data verified by the client.
rings_through() { # stunnel|haproxy server|client
	local server client
	start server rping -s -a "$server_v4" -p "$server_port" -v -C "$pings" -S 60000
	server=$started
	wait_listening "$server" || return 1
	start_terminator "$1" "$2" terminator || return 1
	start client rping -c -a "$terminator_at" -p "$terminator_port" -v -V -C "$pings" -S 60000
	client=$started
	finish client "$client" && finish server "$server" || return 1
	has_lines client 'ping data: rdma-ping' "$pings" || { say "not all pings came back"; return 1; }
}
