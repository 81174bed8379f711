# shellcheck shell=bash disable=SC2034,SC2154 # goes between esp_lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# What the daemons of IKE have agreed on, as scripts/ipsec-file has written it for us: in the guest, as $keeper_file.
# shellcheck source=tests/interop/esp_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/esp_lib.sh"

# Each look asks the guest, which takes its time.
looks=20
keeper_file=/tmp/keeper/ipsec

# The file that is written for us, as it comes to be. Every SA that it ever had is remembered, for tshark.
follow() {
	local line lines
	mapfile -t lines < <(guest control "cat $keeper_file")
	[[ ${lines[*]} != "${now[*]}" ]] || return 0
	now=("${lines[@]}")
	we_have "${now[@]}"
	for line in "${now[@]}"; do
		[[ $line != *' state add '* || " ${sas[*]}" == *" $line"* ]] || sas+=("$line")
	done
}

# So many SAs were agreed on since the beginning.
seen() { # COUNT
	follow
	((${#sas[@]} == $1))
}

# Our end has read the file, which has so many SAs for what comes; that of before stays for some seconds.
receives_by() { # COUNT
	follow
	metrics | grep -Eq "^uiwarp_esp_sas_in\{.*\} $1\$"
}

# What one of the daemons is told to do.
ike() { # SIDE WORDS-FOR-SWANCTL...
	guest control "ike $*" >"$case_dir/ike" 2>&1 || { cat "$case_dir/ike"; say "strongSwan did not do: $*"; return 1; }
}

negotiated() { # FUNCTION [ARGUMENT]...
	now=() sas=()
	guest control keeper >"$case_dir/keeper" || { cat "$case_dir/keeper"; say "no daemons"; return 1; }
	guest control "ike keeper --terminate --ike uiwarp --force" >/dev/null || true
	guest control "speak $dialect" >"$case_dir/keeper" || { cat "$case_dir/keeper"; say "they do not speak $dialect"; return 1; }
	guest control insecure || return 1
	{ ike "$initiator" --initiate --child rdma && wait_for "$looks" seen 2; } ||
		{ guest control "tail -n 30 /tmp/keeper/log /tmp/linux/log"; say "no SAs"; return 1; }
	protected "$@"
}
