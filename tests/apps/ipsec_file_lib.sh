# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What Linux's ip says of a kernel's SAs and policies, for ipsec_file.sh to source.

short=0x000102030405060708090a0b0c0d0e0f10111213 long=0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223
digest=0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
# Lines that many SAs have.
aead="aead rfc4106(gcm(aes)) $short (160 bits) 128" context='anti-replay context: seq 0x0, oseq 0x0, bitmap 0x00000000'

# Windows that the kernel has in its longer form: of an SA with ESN, or beyond 32.
esn_context() { # WINDOW WORDS WORDS-SHOWN
	printf 'anti-replay esn context:\n\t seq-hi 0x0, seq 0x0, oseq-hi 0x0, oseq 0x0\n'
	printf '\t replay_window %u, bitmap-length %u\n\t' "$1" "$2"
	printf ' 00000000%.0s' $(seq "$3")
}

# One SA. LINE is what it has between its window and its lifetime; $bytes, $packets, $add, $add_soft and $use are limits.
sa() { # SRC DST PROTOCOL SPI REQID MODE WINDOW FLAGS LINE...
	printf 'src %s dst %s\n' "$1" "$2"
	printf '\tproto %s spi %s(%u) reqid %u(0x%08x) mode %s\n' "$3" "$4" "$4" "$5" "$5" "$6"
	printf '\treplay-window %u seq 0x00000000 flag %s (0x00000000)\n' "$7" "$8"
	printf '\t%s\n' "${@:9}"
	cat <<END
	lifetime config:
	  limit: soft (INF)(bytes), hard ${bytes:-(INF)}(bytes)
	  limit: soft (INF)(packets), hard ${packets:-(INF)}(packets)
	  expire add: soft ${add_soft:-0}(sec), hard ${add:-0}(sec)
	  expire use: soft 0(sec), hard ${use:-0}(sec)
	lifetime current:
	  0(bytes), 0(packets)
	  add 2026-11-29 13:18:08 use -
	stats:
	  replay-window 0 replay 0 failed 0
END
}

# As `ip -s` of Debian 12 and of later ones says it, the newest first: with ESN, in UDP, other algorithms, one that is
# still negotiated, windows that the kernel has in its longer form, what uiwarp would refuse.
kernel_states() {
	bytes=18446744073709551614 packets=4000000000 add_soft=3300 add=3960 \
		sa 10.0.0.1 10.0.0.2 esp 0xc2a3a1c9 1 transport 0 esn \
		"aead rfc4106(gcm(aes)) $long (288 bits) 128" "$(esn_context 1 1 1)" \
		"sel src 10.0.0.1/32 dst 10.0.0.2/32 proto tcp uid 0"
	sa 10.0.0.2 10.0.0.1 esp 0xcd0f0a33 1 tunnel 0 'af-unspec esn' \
		"$aead" "encap type espinudp sport 4500 dport 4501 addr 0.0.0.0" "$(esn_context 64 2 2)" \
		"sel src 0.0.0.0/0 dst 0.0.0.0/0 uid 0" "dir in"
	sa 10.0.0.9 10.0.0.1 esp 0xcd0f0a34 2 tunnel 32 '' "auth-trunc hmac(sha256) $digest (256 bits) 128" \
		"enc cbc(des3_ede) 0x55 (8 bits)" "$context"
	sa 10.0.0.8 10.0.0.1 esp 0xcd0f0a36 4 tunnel 32 '' "auth-trunc hmac(sha256) $digest (256 bits) 128" \
		"enc cbc(aes) $digest (256 bits)" "$context"
	sa 10.0.0.1 10.0.0.8 esp 0xcd0f0a37 4 tunnel 0 '' "auth-trunc hmac(sha1) $short (160 bits) 96" \
		"enc ecb(cipher_null)  (0 bits)" "$context"
	add=18446744073709551615 use=86400 sa fd00::2 fd00::1 esp 0x00000101 0 transport 0 '' "$aead" "$context"
	packets=1000 sa fd00::2 fd00::1 esp 0x00000102 0 transport 0 '' "$aead" "$(esn_context 128 4 4)"
	bytes=5000 sa fd00::2 fd00::1 esp 0x00000103 0 transport 4 '' "$aead" "$context"
	sa fd00::2 fd00::1 esp 0x00000104 0 transport 0 '' "$aead" "$(esn_context 8192 256 4)"
	sa 10.0.0.7 10.0.0.1 esp 0xcd0f0a35 3 tunnel 0 '' "$context"
	sa 10.0.1.1 10.0.0.1 esp 0xcd0f0a41 5 tunnel 32 '' "mark 0x2a/0xffffffff " "$aead" "$context"
	sa 10.0.1.2 10.0.0.1 esp 0xcd0f0a42 5 tunnel 32 '' "$aead" "$context" "if_id 0x2a"
	sa 10.0.1.3 10.0.0.1 ah 0xcd0f0a43 5 transport 32 '' "auth-trunc hmac(sha256) $digest (256 bits) 128" "$context"
	sa 10.0.1.4 10.0.0.1 esp 0xcd0f0a44 5 beet 32 '' "$aead" "$context"
	sa 10.0.1.5 10.0.0.1 esp 0xcd0f0a45 5 transport 32 '' "$aead" "$context" \
		"sel src 10.0.1.5/32 dst 10.0.0.1/32 proto icmp type 8 code 0 uid 0"
	sa 10.0.2.1 10.0.0.1 esp 0xcd0f0a51 6 transport 32 '' "auth-trunc hmac(sha256) $digest (256 bits) 128" \
		"enc cbc(aes) 0x000102030405060708090a0b0c0d0e0f1011121314151617 (192 bits)" "$context"
	sa 10.0.2.2 10.0.0.1 esp 0xcd0f0a52 6 transport 32 '' \
		"aead rfc4106(gcm(aes)) 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b (224 bits) 128" "$context"
	sa 10.0.2.3 10.0.0.1 esp 0xcd0f0a53 6 transport 32 '' "auth-trunc hmac(sha256) $short (160 bits) 128" \
		"enc cbc(aes) $digest (256 bits)" "$context"
	sa 10.0.2.4 10.0.0.1 esp 0xcd0f0a54 6 transport 32 '' "$aead" \
		"encap type espinudp-nonike sport 4500 dport 4500 addr 0.0.0.0" "$context"
	sa 10.0.2.5 10.0.0.1 esp 0xcd0f0a55 6 transport 32 '' "$aead" "encap type espintcp sport 4500 dport 4500 addr 0.0.0.0" \
		"$context"
	sa 10.0.2.6 10.0.0.1 esp 0xcd0f0a56 6 transport 32 '' "enc cbc(aes) $digest (256 bits)" "$context"
	sa 10.0.2.7 10.0.0.1 esp 0x000000ff 6 transport 32 '' "$aead" "$context"
	sa 0.0.0.0 10.0.0.1 esp 0xcd0f0a58 6 transport 32 '' "$aead" "$context"
	sa fd00::9 10.0.0.1 esp 0xcd0f0a59 6 tunnel 32 '' "$aead" "$context"
	packets=0 sa 10.0.2.8 10.0.0.1 esp 0xcd0f0a5a 6 transport 32 '' "$aead" "$context"
}

# Of templates more than one, of tunnels, with an SPI, for sockets and for what is forwarded, what uiwarp would refuse.
kernel_policies() {
	cat <<'END'
src 10.9.0.0/24 dst 10.9.0.0/24 
	dir out priority 0 ptype main 
src 10.9.0.1/32 dst 10.9.0.2/32 
	dir out priority 0 ptype main 
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp reqid 0 mode transport
src 10.0.0.1/32 dst 10.0.0.2/32 proto tcp 
	dir out priority 372351 ptype main 
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp spi 0xc2a3a1c9 reqid 1 mode transport
src 10.0.0.2/32 dst 10.0.0.1/32 proto tcp dport 7174 
	dir fwd priority 372351 ptype main 
	tmpl src 10.0.0.2 dst 10.0.0.1
		proto esp reqid 1 mode tunnel
src 10.0.0.2/32 dst 10.0.0.1/32 proto tcp dport 7174 
	dir in priority 372351 ptype main 
	tmpl src 10.0.0.2 dst 10.0.0.1
		proto esp spi 0x00000000 reqid 0 mode tunnel
src 0.0.0.0/0 dst 0.0.0.0/0 
	socket in priority 0 ptype main 
src 10.0.1.1/32 dst 10.0.0.1/32 
	dir in priority 372351 ptype main 
	mark 0x2a/0xffffffff 
	tmpl src 10.0.1.1 dst 10.0.0.1
		proto esp reqid 5 mode tunnel
src 0.0.0.0/0 dst 0.0.0.0/0 
	dir out priority 372352 ptype main 
	tmpl src 10.0.0.1 dst 10.0.1.2
		proto esp spi 0xcd0f0a42 reqid 5 mode tunnel
	if_id 0x2a
src 10.0.1.3/32 dst 10.0.0.1/32 
	dir in priority 372351 ptype main 
	tmpl src 10.0.1.3 dst 10.0.0.1
		proto comp reqid 5 mode tunnel
		level use 
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp reqid 5 mode transport
src 10.0.1.4/32 dst 10.0.0.1/32 
	dir in priority 372351 ptype main 
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp reqid 5 mode transport
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp reqid 6 mode transport
src 10.0.1.5/32 dst 10.0.0.1/32 dev eth0 
	dir in priority 372351 ptype main 
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp reqid 5 mode transport
src 10.0.1.6/32 dst 10.0.0.1/32 proto sctp sport 7 
	dir in priority 372351 ptype main 
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp reqid 5 mode transport
src 10.0.1.7/32 dst 10.0.0.1/32 
	dir in priority 372351 ptype main 
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp reqid 5 mode transport
		level use 
src 10.0.0.0/8 dst 10.0.0.1/32 
	dir in action block priority 400000 ptype main 
END
}
