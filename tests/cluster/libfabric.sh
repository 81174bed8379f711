#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# libfabric's verbs provider: what fi_info finds, and fi_pingpong over connections (msg) and over
# what ofi_rxm makes of them (rdm), its data checked.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/../applications/lib.sh"

only_over memif

# fi_pingpong's first words go over the kernel's TCP, and it then uses the address that these came
# to: so Linux must have our addresses too. Here in a namespace of its own, on lo.
private() {
	unshare --net --map-root-user "$@"
}
missing=
private true 2>/dev/null || missing="no network namespaces here"

# fi_pingpong's own port shows when its server is ready.
rendezvous=47592

pingpong() { # PROVIDER ENDPOINT
	local server client
	transport_settings server
	server=("$uiwarp" run "${settings[@]}" -- fi_pingpong -p "$1" -e "$2" -I "$bulk" -c)
	transport_settings client
	client=("$uiwarp" run "${settings[@]}" -- fi_pingpong -p "$1" -e "$2" -I "$bulk" -c "$server_v4")
	export server_log client_log server_line client_line
	server_log=$(log_of server) client_log=$(log_of client)
	server_line=$(printf '%q ' "${server[@]}") client_line=$(printf '%q ' "${client[@]}")
	# shellcheck disable=SC2016 # for the inner shell
	private "$root/scripts/lib/timeout" "$limit" bash -c '
		ip link set lo up
		ip addr add 10.77.0.1/32 dev lo
		ip addr add 10.77.0.2/32 dev lo
		eval "$server_line" >"$server_log" 2>&1 &
		for ((i = 0; i < 200; i++)); do
			[[ $(ss -Htln "sport = :$0") ]] && break
			sleep 0.05
		done
		eval "$client_line" >"$client_log" 2>&1 || exit 1
		wait $!' "$rendezvous" || { say "fi_pingpong ended with an error"; return 1; }
	# Sizes from 64 bytes to 1 MiB, each of them whole at both ends.
	local side
	for side in server client; do
		(($(lines_of "$side" "^[0-9]+[km]? +$bulk +=$bulk ") == 6)) ||
			{ say "the $side did not check 6 sizes"; return 1; }
	done
}

found() {
	transport_settings server
	timeout "$limit" "$uiwarp" run "${settings[@]}" -- fi_info -p verbs >"$(log_of server)" 2>&1
	if ! has_lines server 'domain: uiw0' 1 || ! has_lines server 'protocol: FI_PROTO_IWARP' 1; then
		say "fi_info finds no iWARP device"
		return 1
	fi
}

# Its verbs provider has datagrams of InfiniBand's devices only.
no_datagrams() {
	local status=0
	transport_settings server
	FI_LOG_LEVEL=info timeout "$limit" "$uiwarp" run "${settings[@]}" -- fi_info -p verbs -t FI_EP_DGRAM \
		>"$(log_of server)" 2>&1 || status=$?
	((status && status != 124)) || { say "fi_info ended with $status"; return 1; }
	has_lines server 'checking domain: #1 uiw0' 1 || { say "no word of uiw0"; return 1; }
	has_lines server 'Supported: FI_EP_MSG' 1 || { say "no word of what it has"; return 1; }
}

skipped() {
	inconclusive=$missing
}

pair_of() { # NAME PROVIDER ENDPOINT
	local line="fi_pingpong -p '$2' -e $3 -I $bulk -c" function=(pingpong "$2" "$3")
	[[ ! $missing ]] || function=(skipped)
	application "$1" "$line" "$line %4" "${function[@]}"
}

package=libfabric-bin
bulk=20
checked="the device and its protocol, FI_PROTO_IWARP"
application fi_info "" "fi_info -p verbs" found
checked="both ends compare the data (-c) of each size"
pair_of pingpong-msg verbs msg
pair_of pingpong-rdm "verbs;ofi_rxm" rdm
checked="its log says what it offers of uiw0: FI_EP_MSG"
expected="refused: libfabric offers no datagrams of an iWARP device, so none of verbs;ofi_rxd either"
application fi_info-dgram "" "fi_info -p verbs -t FI_EP_DGRAM" no_datagrams
rows_done
