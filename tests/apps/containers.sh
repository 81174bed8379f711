#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What two containers without privileges have: network, mount and user namespaces of their own, nothing but what is
# installed, no file that can be written to, a user that nobody knows (tests/apps/sandbox). Not a word is complained
# of, and no system call is used that packaging/container/system-calls does not list.
# shellcheck disable=SC2154 # of the transport
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
only_over kernel_veth

sandbox=$root/tests/apps/sandbox
listed=$root/packaging/container/system-calls
# Of each side: one of a recipe, and one as a cluster gives it to a project.
declare -A uid_of=([server]=54321 [client]=1000680000)
tree=$work/tree
DESTDIR=$tree meson install -C "${uiwarp%/tools/uiwarp}" --no-rebuild >"$out/install.log" 2>&1 ||
	die "meson install fails: see $out/install.log"
# Those that every default profile allows; the rest of the file are those that may be refused.
allowed=$(sed '/refuse/,$d' "$listed" >"$work/allowed" && "$root/tests/apps/filtered.py" --numbers "$work/allowed")

# The words of the stack go to stderr, as there is no file to write them to.
transport_run() { # SIDE COMMAND...
	local side=$1 filter=(--calls "$allowed")
	shift
	[[ ! ${only:-} ]] || filter=(--only "$only")
	# shellcheck disable=SC2016 # expanded by the inner shell
	transport_in "$side" "$root/scripts/lib/timeout" "$limit" \
		bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/$side.pid" "$sandbox" "${filter[@]}" "$tree" "${uid_of[$side]}" uiwarp run "$@"
}

transport_listening() {
	[[ $(transport_in server ss -ltnH) ]]
}

# Nothing is complained of on either side.
contained() { # AS-exchange...
	local side
	exchange "$@" || return 1
	for side in server client; do
		! has_line "$(errors_of "$side")" 'uiwarp: ' ||
			{ say "it complains: $(grep -m 1 uiwarp: "$(errors_of "$side")")"; return 1; }
	done
}

run_case contained-rping contained "rping -s -v -C 10 -S 65535" "rping -c -a %4 -v -V -C 10 -S 65535" \
	server 10 'ping data: rdma-ping' client 10 'ping data: rdma-ping'
run_case contained-rping-v6 contained "rping -s -a ::0 -v -C 10" "rping -c -a %6 -v -V -C 10" client 10 'ping data: rdma-ping'
run_case contained-write_bw contained "ib_write_bw -R -F -n 1000" "ib_write_bw -R -F -n 1000 %4" client 1 '^ 65536 '
run_case contained-send_lat contained "ib_send_lat -F -n 100" "ib_send_lat -F -n 100 %4" client 1 '^ 2 '

# A container that shares the server's network finds the port taken, though its user is another; one with a network of
# its own has it.
in_use() {
	local server_job second status=0 elsewhere
	start server rping -s -P -a ::0
	server_job=$started
	wait_listening "$server_job" || return 1
	second=("$sandbox" --calls "$allowed" "$tree" "${uid_of[client]}" uiwarp run rping -s -C 1 -a "$server_v4")
	transport_in server "$root/scripts/lib/timeout" "$limit" "${second[@]}" >"$(log_of second)" 2>&1 </dev/null || status=$?
	((status && status != 124)) || { say "a second listener there $(status_text "$status")"; return 1; }
	has_line "$(log_of second)" 'rdma_bind_addr: Address already in use' || return 1
	start client rping -s -P -a ::0
	elsewhere=$started
	wait_for "$patience" listens_elsewhere || { say "a network of its own does not have the port"; return 1; }
	is_alive "$server_job" && is_alive "$elsewhere"
}

listens_elsewhere() {
	[[ $(transport_in client ss -ltnH) == *:7174* ]]
}
run_case contained-in_use in_use

# Those that are listed, and io_uring is none of them, which runtimes filter. The kernel tells: another ends the process.
calls() {
	local only
	only=$("$root/tests/apps/filtered.py" --numbers "$listed")
	contained "rping -s -v -C 3" "rping -c -a %4 -v -V -C 3"
}
run_case contained-calls calls

# The sandbox is what it is said to be: nothing can be written, and what is not listed is refused.
is_closed() {
	local side inside
	for side in server client; do
		inside=("$sandbox" --calls "$allowed" "$tree" "${uid_of[$side]}")
		! transport_in "$side" "${inside[@]}" unshare -U true >"$(log_of "$side")" 2>&1 || return 1
		has_line "$(log_of "$side")" 'unshare failed: Operation not permitted' || return 1
		# shellcheck disable=SC2016 # expanded by the inner shell
		transport_in "$side" "$sandbox" "$tree" "${uid_of[$side]}" sh -c 'id -u
			for to in / /run /tmp /dev /etc /usr /usr/local/bin; do
				! (: >"$to/x") 2>/dev/null || echo "$to can be written to"
			done' >"$(log_of "$side")" 2>&1 || return 1
		[[ $(<"$(log_of "$side")") == "${uid_of[$side]}" ]] || { cat "$(log_of "$side")"; return 1; }
	done
}
run_case contained-is_closed is_closed

# Where a launcher enters each container by a runtime, as `podman exec` and `kubectl exec` do. MPI's daemons want a
# /tmp of their own, and they and their shared memory other system calls than ours. The launcher is in the client's
# network, and in the user namespace of both.
write_agent() {
	say '#!/bin/bash'
	declare -p kernel_server sandbox tree uid_of
	# shellcheck disable=SC2016 # expanded by the agent
	say 'side=$1 enter=()
shift
[[ $side == client ]] || enter=(nsenter -t "$kernel_server" -n --)
exec "${enter[@]}" "$sandbox" --name "$side" --tmp "$tree" "${uid_of[$side]}" sh -c "$*"'
}

ranks() {
	local part
	command -v mpirun mpicc >/dev/null || { inconclusive="openmpi-bin, libopenmpi-dev are not installed"; return 0; }
	mpicc -O2 -Wall -o "$tree/usr/local/bin/ranks" "$root/tests/cluster/ranks.c" || return 1
	write_agent >"$tree/usr/local/bin/enter"
	chmod +x "$tree/usr/local/bin/enter"
	# libfabric takes the first address that there is, and that of lo leads nowhere: each has its own only.
	transport_in client env PATH="$tree/usr/local/bin:$PATH" OMPI_ALLOW_RUN_AS_ROOT=1 \
		OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$root/scripts/lib/timeout" "$limit" mpirun \
		--mca plm_rsh_agent enter --mca plm_rsh_no_tree_spawn 1 --mca mpi_yield_when_idle 1 \
		--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "verbs;ofi_rxm" \
		--host server -n 1 /usr/local/bin/uiwarp run --set "address=$server_v4/24" -- /usr/local/bin/ranks 5 : \
		--host client -n 1 /usr/local/bin/uiwarp run --set "address=$client_v4/24" -- /usr/local/bin/ranks 5 \
		>"$(log_of client)" 2>"$(errors_of client)" || { say "mpirun ended with status $?"; return 1; }
	for part in allreduce alltoall ring all; do
		has_lines client "^$part ok with 2 ranks" 1 || { say "$part was not right"; return 1; }
	done
	remark="1 byte $(awk '$1 == "latency" && $2 == 1 { print $3 }' "$(log_of client)") us"
}
# Ranks poll without a pause: beside other work each message waits for a turn of the processor.
limit=180 run_case contained-mpi ranks
plan_done
