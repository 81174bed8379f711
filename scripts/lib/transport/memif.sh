# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Two stacks joined by shared memory: no root, no hugepages, no network.

transport_up() { :; }
transport_down() { :; }
transport_missing() { :; }

transport_in() { # SIDE COMMAND...
	shift
	"$@"
}

transport_settings() { # SIDE; fills the array `settings`
	local role=client n=2
	[[ $1 == server ]] && role=server n=1
	settings=(
		--set "port=net_memif0,role=$role,socket=$case_dir/memif,socket-abstract=no"
		--set "address=10.77.0.$n/24" --set "address=fd77::$n/64"
	)
}

transport_reset() {
	rm -f "$case_dir/memif"
}

# The server's end must be there before the client's looks for it.
transport_ready() {
	[[ -S $case_dir/memif ]]
}

server_v4=10.77.0.1 server_v6=fd77::1 client_v4=10.77.0.2 bulk=200 control_host=127.0.0.1
