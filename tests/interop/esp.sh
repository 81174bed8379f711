#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ESP with Linux's: siw under it in transport mode, and a Linux gateway in tunnel mode before a siw that knows
# nothing of it. Keys that change, and packets of strangers. Linux is told the very lines of our file.
# shellcheck source=tests/interop/esp_lib.sh
source "$(dirname "$0")/esp_lib.sh"
# Those of the SAs: by family, IPv4 and IPv6. The guest's own are elsewhere if a gateway is before it.
# $spis is the first SPI of a case. Each has its own, and those of one before stay unknown in the next: a packet of its
# that has waited in the wire is then none that somebody has forged.
outside_ends=("${outside_addresses[@]}") guest_ends=("${guest_addresses[@]}") gateway='' spis=4096

# ---- both ends' SAs and policies ------------------------------------------------------------------

# Of the cases that follow: what encrypts, octets of its key, mode, more words of an SA and of a policy's selector.
encryption=gcm key_len=16 mode=transport more='' selector=''

algorithms() {
	local hmac
	hmac="auth-trunc 'hmac(sha1)' 0x$(openssl rand -hex 20) 96"
	case $encryption in
	gcm) say "aead 'rfc4106(gcm(aes))' 0x$(openssl rand -hex $((key_len + 4))) 128" ;;
	cbc) say "enc 'cbc(aes)' 0x$(openssl rand -hex "$key_len") $hmac" ;;
	null) say "enc 'ecb(cipher_null)' '' $hmac" ;;
	esac
}

# One SA. They are told by number: even ones are to the guest.
state() { # FAMILY NUMBER
	local ends=("${outside_ends[$1]}" "${guest_ends[$1]}")
	say "ip xfrm state add src ${ends[$2 % 2]} dst ${ends[1 - $2 % 2]} proto esp spi $((spis + $2)) mode $mode" \
		"$(algorithms) $more"
}

# The policies of an end; a gateway has a direction of its own for what it passes on.
policies() { # FAMILY TO-THE-GUEST FROM-THE-GUEST
	local hosts=("${outside_addresses[$1]}" "${guest_addresses[$1]}") ends=("${outside_ends[$1]}" "${guest_ends[$1]}")
	local tmpl="proto esp mode $mode"
	say "ip xfrm policy add src ${hosts[0]} dst ${hosts[1]} $selector dir $2 tmpl src ${ends[0]} dst ${ends[1]} $tmpl"
	say "ip xfrm policy add src ${hosts[1]} dst ${hosts[0]} $selector dir $3 tmpl src ${ends[1]} dst ${ends[0]} $tmpl"
}

# What does IPsec on the guest's side gets such lines as commands.
linux_does() { # LINE...
	local line
	for line in "$@"; do
		guest control "${line/#ip /ip ${gateway:+-n gateway }}" || { say "Linux does not take: $line"; return 1; }
	done
}

# Both ends have SAs 0 and 1, and policies; then the function runs. Of all cases, $sas are the lines of the SAs.
secured() { # FAMILY FUNCTION [ARGUMENT]...
	local lines
	family=$1 spis=$((spis + 16))
	shift
	guest control insecure || return 1
	[[ $more != *espinudp* ]] || guest control "udp_encapsulation ${gateway:+/usr/bin/ip netns exec gateway}" || return 1
	sas=("$(state "$family" 0)" "$(state "$family" 1)")
	mapfile -t lines < <(policies "$family" out in)
	we_have "${sas[@]}" "${lines[@]}"
	mapfile -t lines < <(policies "$family" in out
		[[ ! $gateway ]] || policies "$family" fwd out | head -n 1)
	linux_does "${sas[@]}" "${lines[@]}" || return 1
	protected "$@"
}

# ---- kinds of cases --------------------------------------------------------------------------------

sas_in_are() { # COUNT
	metrics | grep -Eq "^uiwarp_esp_sas_in\{.*\} $1\$"
}

# The SA has carried packets of so many octets, by Linux's account.
carries() { # NUMBER
	local id="src ${guest_ends[family]} dst ${outside_ends[family]}"
	(($1 % 2)) || id="src ${outside_ends[family]} dst ${guest_ends[family]}"
	[[ $(guest control "ip ${gateway:+-n gateway }-s xfrm state get $id proto esp spi $((spis + $1))") =~ current:[[:space:]]+([0-9]+)\(bytes\) ]] &&
		((BASH_REMATCH[1] > 10000))
}

# First both receive by the new SAs, too, and then they send by them; the old ones go last. Nothing is lost.
rekeyed() {
	local policy number old
	mapfile -t policy < <(policies "$family" out in)
	sas+=("$(state "$family" 2)" "$(state "$family" 3)")
	linux_does "${sas[2]}" || return 1
	we_have "${sas[@]}" "${policy[@]}"
	wait_for "$patience" sas_in_are 2 || { say "the file was not read again"; return 1; }
	linux_does "${sas[3]}" || return 1
	for number in 2 3; do
		wait_for "$patience" carries "$number" || { say "SA $number is not in use"; return 1; }
	done
	we_have "${sas[@]:2}" "${policy[@]}"
	wait_for "$patience" sas_in_are 1 || { say "the file was not read a third time"; return 1; }
	goes_on || return 1
	for number in 0 1; do
		old=${sas[number]/ add / delete }
		linux_does "${old% mode *}" || return 1
	done
	told_are "$case_dir/drops" || { drops; say "packets were dropped"; return 1; }
}

# What one without the keys makes of a packet that he has seen is dropped for what it is, each time.
strangers() {
	guest control "esp_stranger send eth0 7" >"$case_dir/sent" || { cat "$case_dir/sent"; say "nothing was sent"; return 1; }
	sum_of "$case_dir/drops" "$case_dir/sent" >"$case_dir/expected"
	wait_for "$patience" told_are "$case_dir/expected" ||
		{ diff "$case_dir/expected" <(drops); say "other drops are counted"; return 1; }
}

# ---- transport mode --------------------------------------------------------------------------------

both_ways v4 secured 0 of_family 65535
both_ways rekeyed secured 0 meanwhile rekeyed
more='replay-window 32' strangers=yes
both_ways strangers secured 0 meanwhile strangers
strangers='' key_len=32 more='replay-window 1024 flag esn'
both_ways esn-256 secured 0 of_family 16384
more='encap espinudp 4500 4500 0.0.0.0'
both_ways in-udp secured 0 of_family 16384
# What RFC 7146 wants besides.
more='replay-window 32' encryption=cbc key_len=16
both_ways cbc-sha1 secured 0 of_family 65535
more='replay-window 64 flag esn' encryption=null
both_ways null-sha1-esn secured 0 of_family 16384
encryption=gcm key_len=32
# Linux's policies are for neighbour discovery, too: so these are for TCP.
more='' selector='proto 6'
both_ways v6-256 secured 1 of_family 65535

# ---- a gateway of Linux's, in tunnel mode ----------------------------------------------------------

behind_gateway() { # FAMILY FUNCTION [ARGUMENT]...
	guest control gateway >"$case_dir/gateway" || { cat "$case_dir/gateway"; say "the gateway cannot be made"; return 1; }
	# On the interface that is the host's now.
	# shellcheck disable=SC2034 # the transport's
	siw_loaded=''
	prepared && secured "$@"
}
mode=tunnel gateway=yes selector='' key_len=16
guest_addresses=(10.67.0.2 fd67::2)
ours+=(--set "gateway=${guest_ends[0]}" --set "gateway=${guest_ends[1]}")
both_ways gateway-v4 behind_gateway 0 of_family 65535
both_ways gateway-rekeyed behind_gateway 0 meanwhile rekeyed
key_len=32
both_ways gateway-v6-256 behind_gateway 1 of_family 65535
more='replay-window 4096 flag esn encap espinudp 4500 4500 0.0.0.0'
both_ways gateway-esn-in-udp behind_gateway 0 of_family 16384
more='replay-window 64' encryption=cbc key_len=16
both_ways gateway-cbc-sha1 behind_gateway 0 of_family 16384
plan_done
