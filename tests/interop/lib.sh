# shellcheck shell=bash disable=SC2154 # the transport says which siw
# SPDX-License-Identifier: BSD-2-Clause
# Our stack against Linux's siw. Sourced by the programs in tests/interop, which run over siw-stock and
# siw-fixed (see tests/apps/lib.sh and scripts/lib/transport/siw.sh). Every case is captured by our
# stack, and tshark reads the capture.
set -- -t siw-fixed -o "$(dirname "${BASH_SOURCE[0]}")/../../out/test/interop" "$@"
# shellcheck source=tests/apps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../apps/lib.sh"

# For the cases to set: parameters of siw, more --set of ours, FPDUs without CRC expected.
siw_parameters=() ours=() without_crc=no

capture_of() {
	say "$out/$case_name.pcapng"
}

# The stacks and siw as a case wants them, then its function.
against() { # server|client (siw's side) FUNCTION [ARGUMENT]...
	siw_is "$1"
	shift
	if ((${#siw_parameters[@]})); then
		siw_load "$siw_adjustable" "${siw_parameters[@]}" || return 1
	else
		siw_load "$siw_plain" || return 1
	fi
	server_extra=("${ours[@]}" --set "capture=$(capture_of)")
	client_extra=("${server_extra[@]}")
	"$@" && decoded
}

decoded() {
	local options=-q
	[[ $without_crc == no ]] || options=-qn
	"$root/scripts/decode" "$options" "$(capture_of)"
}

# A case in both roles: the names say who is the server, so who is MPA's responder.
both_ways() { # NAME FUNCTION [ARGUMENT]...
	run_case "$1-siw-serves" against server "${@:2}"
	run_case "$1-siw-asks" against client "${@:2}"
}
