# shellcheck shell=bash disable=SC2034,SC2154 # goes between the transport, lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# ESP between our stack and Linux's. Sourced by its users, which say in $family (0: IPv4, 1: IPv6) and $sas,
# the lines of all SAs that were in use, what a case is about.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
only_over siw-fixed

# Without OpenSSL there is nothing to test.
[[ $("$uiwarp" run --set port=x --set address=10.0.0.1/24 --set ipsec=/dev/null -- true 2>&1) != *"without OpenSSL"* ]] || {
	plan_done
	exit 0
}
ours=(--set "ipsec=$work/ipsec") capture_is=esp
# What SAs have besides, whether a gateway is before the guest's host, and whether SAs end before all knew of it. Lower
# SPIs than $spis are of cases before.
family=0 sas=() more='' gateway='' strangers='' sudden='' spis=0

# Our end reads these lines, as soon as it sees that they have changed.
we_have() { # LINE...
	(umask 077 && printf '%s\n' "$@" >"$work/ipsec.new")
	mv "$work/ipsec.new" "$work/ipsec"
}

# The programs of a case; then Linux has dropped nothing for ESP's sake, and nothing was in the clear, if none but the
# two ends are on the wire.
protected() { # FUNCTION [ARGUMENT]...
	our_side=client
	[[ $guest_side == server ]] || our_side=server
	of_linux >"$case_dir/of_linux" || return 1
	"$@" || return 1
	[[ $sudden ]] || linux_is_content || return 1
	[[ $strangers ]] || wire_is_protected
}

# ---- what went over the wire, and what was dropped -------------------------------------------------

# The key of an SA that is behind these words.
key_of() { # SA WORDS
	[[ $1 == *"$2 0x"* ]] || return 1
	local rest=${1#*"$2 "}
	say "${rest%% *}"
}

# The SAs in tshark's words.
sas_for_tshark() {
	local sa ends key words protocol=(IPv4 IPv6) numbers='"32-bit","0"'
	[[ $more != *esn* ]] || numbers='"64-bit","0"'
	for sa in "${sas[@]}"; do
		[[ $sa =~ \ src\ ([^ ]+)\ dst\ ([^ ]+)\ .*\ spi\ ([0-9a-fx]+) ]] || continue
		ends=("${BASH_REMATCH[@]:1}")
		if key=$(key_of "$sa" "'rfc4106(gcm(aes))'"); then
			words="\"AES-GCM with 16 octet ICV [RFC4106]\",\"$key\",\"NULL\",\"\""
		elif key=$(key_of "$sa" "'cbc(aes)'"); then
			words="\"AES-CBC [RFC3602]\",\"$key\",\"HMAC-SHA-1-96 [RFC2404]\",\"$(key_of "$sa" "'hmac(sha1)'")\""
		else
			words="\"NULL\",\"\",\"HMAC-SHA-1-96 [RFC2404]\",\"$(key_of "$sa" "'hmac(sha1)'")\""
		fi
		printf -- '-o\nuat:esp_sa:"%s","%s","%s","0x%08x",%s,%s\n' "${protocol[family]}" "${ends[@]}" "$words" "$numbers"
	done
}

packets() { # FILTER
	tshark -r "$out/$case_name.pcapng" -o esp.enable_encryption_decode:TRUE -o tcp.try_heuristic_first:TRUE \
		"${keys[@]}" -Y "$1" 2>/dev/null | wc -l
}

# In the clear is what a link needs, and nothing else; and with the keys tshark sees what is in all of ESP: TCP, and
# the port mapper's question.
wire_is_protected() {
	local keys=() all inside
	mapfile -t keys < <(sas_for_tshark)
	all=$(packets '(ip || ipv6) && !esp && !icmpv6 && !igmp')
	((!all)) || { say "$all packets are in the clear"; return 1; }
	all="esp.spi >= $spis"
	inside=$(packets "$all && (tcp.port || udp.port == 3935)")
	[[ $more != *espinudp* ]] || all+=' && udp.port == 4500'
	all=$(packets "$all")
	((all && all == inside)) || { say "of $all packets of ESP tshark reads $inside"; return 1; }
	inside=$(packets 'esp && iwarp_mpa.ulpdulength')
	((inside)) || { say "tshark sees no MPA inside"; return 1; }
}

# What Linux has dropped, a reason and a count each, of all cases that this guest has seen.
of_linux() {
	guest control "${gateway:+ip netns exec gateway }cat /proc/net/xfrm_stat"
}

# Nothing is dropped there since the case has begun ($case_dir/of_linux).
linux_is_content() {
	of_linux >"$case_dir/of_linux.now" || return 1
	diff "$case_dir/of_linux" "$case_dir/of_linux.now" || { say "Linux has dropped packets"; return 1; }
}

# Of the process of our end.
metrics() {
	"$uiwarp" stat --prometheus "$(program_pid "$our_side")" 2>/dev/null
}

# What ESP has dropped, a reason and a count each.
drops() {
	metrics | sed -n 's/^uiwarp_drops_total{.*reason="esp_\([a-z_]*\)".*} \(.*\)/\1 \2/p' | grep -v ' 0$' | sort
}

told_are() { # FILE
	diff "$1" <(drops) >/dev/null
}

sum_of() { # FILE...
	awk '{ n[$1] += $2 } END { for (reason in n) print reason, n[reason] }' "$@" | sort
}

# The transfer goes on, so all that had waited in the wire before this case has come. Its SAs are gone.
only_unknown_before() {
	drops >"$case_dir/drops"
	! grep -v '^rx_no_sa ' "$case_dir/drops" || { say "packets were dropped before"; return 1; }
}

# ---- what programs do ------------------------------------------------------------------------------

of_family() { # SIZE
	verified $((family ? 6 : 4)) 3 "$1"
}

# Programs that go on until they are told, and a function meanwhile, which finds our end's SAs as they are.
meanwhile() { # FUNCTION [ARGUMENT]...
	local server_job client_job job
	start_both "rping -s -a %4 -S 1000" "rping -c -a %4 -v -V -S 1000" || return 1
	goes_on && only_unknown_before && "$@" && goes_on || return 1
	guest control end
	job=${our_side}_job
	wait "${!job}" || true
	rm -f "$case_dir/$our_side.pid"
}

goes_on() {
	local at
	at=$(lines_of client 'ping data')
	wait_for "$patience" has_lines client 'ping data' $((at + 20)) || { say "the transfer does not go on"; return 1; }
}
