#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ibv_devices and ibv_devinfo: the device is found and tells about itself; nothing is connected.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

alone() { # COMMAND [REGEX]...
	local command
	read -ra command <<<"$1"
	shift
	start server "${command[@]}"
	finish server "$started" || return 1
	while (($#)); do
		has_lines server "$1" 1 || { say "no line matches '$1'"; return 1; }
		shift
	done
}

run_case ibv_devices alone ibv_devices '^ *uiw0[[:space:]]+[0-9a-f]{16}$'
run_case ibv_devinfo alone "ibv_devinfo -d uiw0" 'hca_id:[[:space:]]+uiw0' \
	'transport:[[:space:]]+iWARP \(1\)'
run_case ibv_devinfo_v alone "ibv_devinfo -v" 'hca_id:[[:space:]]+uiw0' \
	'max_qp_init_rd_atom:[[:space:]]+[1-9]' 'link_layer:[[:space:]]+Ethernet' \
	'gid_tbl_len:[[:space:]]+2' 'GID\[ *0\]:[[:space:]]+(0000:){5}ffff:' 'max_mr_size:[[:space:]]+0x[0-9a-f]+'
server_extra=(--set "name=wanted0")
run_case name alone ibv_devices '^ *wanted0[[:space:]]+[0-9a-f]{16}$'
plan_done
