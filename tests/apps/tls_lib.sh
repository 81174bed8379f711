# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Certificates and settings for tests of TLS; the certificates are in $pki. Sourced after lib.sh.

pki=$work/pki
mkdir "$pki"

# Without OpenSSL there is nothing to test.
only_with_tls() {
	[[ $("$uiwarp" run --set port=x --set address=10.0.0.1/24 --set tls=on -- true 2>&1) != *"without OpenSSL"* ]] || {
		plan_done
		exit 0
	}
}

make_ca() { # NAME
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-subj "/CN=$1" -keyout "$pki/$1.key" -out "$pki/$1.pem" 2>/dev/null
}

issue() { # CA NAME ALTERNATIVE-NAMES [DAYS]; the days may be over
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" \
		-addext "subjectAltName=$3" -keyout "$pki/$2.key" 2>/dev/null |
		openssl x509 -req -CA "$pki/$1.pem" -CAkey "$pki/$1.key" -CAcreateserial -days "${4:-2}" \
			-copy_extensions copyall -out "$pki/$2.pem" 2>/dev/null
}

# The settings of who has a certificate.
has() { # MODE CA NAME
	say "--set tls=$1 --set tls_ca=$pki/$2.pem --set tls_certificate=$pki/$3.pem --set tls_key=$pki/$3.key"
}

# The server's and the client's settings for the next cases.
as() { # SERVER CLIENT
	read -ra server_extra <<<"$1"
	read -ra client_extra <<<"$2"
}

# ---- who is not believed ------------------------------------------------------------------------

# What an unmodified program is told of a peer that is not believed: the event and the status of docs/security.md,
# once, and nothing that comes after it.
told() { # EVENT-AND-STATUS
	has_lines client "cma event RDMA_CM_EVENT_$1\$" 1 || { say "the client's event is not $1"; return 1; }
	(($(lines_of client 'cma event ') == 1)) || { say "the client was told more than one event"; return 1; }
	! has_line "$(log_of client)" 'ping data' || { say "something got through"; return 1; }
}
rejected='REJECTED, error -129'

# The client fails and is told so, and both logs say why.
refused() { # SERVER-REASON CLIENT-REASON
	local server_job client_job
	start_both "rping -s -a %4 -v -C 1" "rping -c -a %4 -v -C 1" || return 1
	! wait "$client_job" || { say "the client was not refused"; return 1; }
	rm -f "$case_dir/client.pid"
	has_line "$(stack_log_of client)" "tls: .*$2" || { say "the client's log does not say '$2'"; return 1; }
	wait_for "$patience" has_line "$(stack_log_of server)" "tls: .*$1" || { say "the server's log does not say '$1'"; return 1; }
	told "$rejected"
}

# A client in the clear, at a server that requires TLS.
refused_clear() {
	local server_job client_job
	start_both "rping -s -a %4 -v -C 1" "rping -c -a %4 -v -C 1" || return 1
	! wait "$client_job" || { say "the client was not refused"; return 1; }
	rm -f "$case_dir/client.pid"
	wait_for "$patience" has_line "$(stack_log_of server)" 'does not speak TLS, which is required' || return 1
	told "REJECTED, error -104"
}
