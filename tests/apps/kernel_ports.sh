#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The host's addresses and ports (port = kernel): what other processes and users have is in use, `address` narrows
# what is ours, and a link-local address is one of an interface.
# shellcheck disable=SC2154 # of the transport
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
only_over kernel

# A persistent server at an address, and a client that it serves.
serves() { # ADDRESS-OF-THE-SERVER ADDRESS
	start server rping -s -P -a "$1"
	wait_listening "$started" || return 1
	start client rping -c -a "$2" -V -C 5
	finish client "$started"
}

# ---- in use -------------------------------------------------------------------------------------

as_another_process() { # COMMAND...
	transport_in second "$@"
}

# Another user of this machine, in the same network.
as_another_user() { # COMMAND...
	nsenter -t "$kernel_holder" -n setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

is_in_use() { # AS...
	local status=0
	serves 127.0.0.1 127.0.0.1 || return 1
	"$@" timeout "$limit" "$uiwarp" run -- rping -s -a 127.0.0.1 -C 1 >"$(log_of second)" 2>&1 </dev/null ||
		status=$?
	((status && status != 124)) || { say "a second listener there $(status_text "$status")"; return 1; }
	has_line "$(log_of second)" 'rdma_bind_addr: Address already in use' || return 1
	is_alive "$(program_pid server)"
}
run_case in_use-process is_in_use as_another_process
if as_another_user "$uiwarp" --version >/dev/null 2>&1; then
	run_case in_use-user is_in_use as_another_user
else
	run_case in_use-user eval 'inconclusive="this program may not be another user here"'
fi

# ---- narrowed -----------------------------------------------------------------------------------

# Two programs listen at all addresses that are theirs, at the same port, and each is met at its own.
narrowed() {
	local first
	server_extra=(--set address=127.0.0.2/8)
	serves 0.0.0.0 127.0.0.2 || return 1
	first=$(program_pid server)
	mv "$case_dir/server.pid" "$case_dir/first.pid"
	server_extra=(--set address=127.0.0.3/8)
	serves 0.0.0.0 127.0.0.3 || return 1
	server_extra=()
	start client rping -c -a 127.0.0.1 -V -C 5
	! wait "$started" || { say "somebody is at 127.0.0.1"; return 1; }
	start client rping -c -a 127.0.0.2 -V -C 5
	finish client "$started" || return 1
	is_alive "$first"
}
run_case narrowed narrowed

# ---- of an interface ----------------------------------------------------------------------------

inside() { # COMMAND...
	transport_in any "$@"
}
inside ip link add veth0 type veth peer name veth1
for n in 0 1; do
	inside ip link set "veth$n" addrgenmode none
	inside ip addr add "fe80::$n:1/64" dev "veth$n" nodad
	inside ip link set "veth$n" up
done

run_case link_local serves fe80::0:1%veth0 fe80::0:1%veth0
run_case link_local-wildcard serves ::0 fe80::1:1%veth1

no_scope() {
	serves ::0 fe80::1:1%veth1 || return 1
	start client rping -c -a fe80::1:1 -V -C 5
	! wait "$started" || { say "it connects to an address of no interface"; return 1; }
	has_lines client 'rdma_resolve_addr: Invalid argument' 1
}
run_case link_local-no_scope no_scope
plan_done
