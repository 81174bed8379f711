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
