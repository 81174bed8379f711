#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Open MPI over libfabric's verbs (mtl ofi): ranks in namespaces of their own, each with a stack of
# ours on an AF_PACKET interface, all on one Linux bridge. mpirun has a daemon start in each, as on
# separate hosts; what these say to each other goes over Linux's TCP on a second bridge.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"
# shellcheck source=scripts/lib/netns.sh
source "$root/scripts/lib/netns.sh"

only_over memif

prefix=uiw-mpi-$$

missing() {
	local program
	for program in mpicc mpirun; do
		command -v "$program" >/dev/null ||
			{ say "openmpi-bin and libopenmpi-dev are not installed"; return; }
	done
	command -v fi_info >/dev/null || { say "libfabric-bin is not installed"; return; }
	why_no_namespaces
}

# One of two bridges, with a leg in each host.
leg() { # HOST BRIDGE
	ip -n "$prefix-0" link add "$2$1" type veth peer name "$2" netns "$prefix-$1"
	ip -n "$prefix-0" link set "$2$1" master "$2" up
	ip -n "$prefix-$1" link set "$2" addrgenmode none
	ip -n "$prefix-$1" link set "$2" up
	ip netns exec "$prefix-$1" ethtool -K "$2" tx off rx off tso off gso off gro off >/dev/null
}

cluster_up() { # HOSTS
	local i bridge
	ip netns add "$prefix-0"
	ip -n "$prefix-0" link set lo up
	for bridge in data ctl; do
		ip -n "$prefix-0" link add "$bridge" type bridge
		ip -n "$prefix-0" link set "$bridge" up
	done
	ip -n "$prefix-0" addr add 10.51.0.254/24 dev ctl
	for ((i = 1; i <= $1; i++)); do
		ip netns add "$prefix-$i"
		ip -n "$prefix-$i" link set lo up
		leg "$i" data
		leg "$i" ctl
		ip -n "$prefix-$i" addr add "10.51.0.$i/24" dev ctl
	done
}

cluster_down() {
	local i
	for i in 0 1 2 3 4; do
		ip netns del "$prefix-$i" 2>/dev/null || true
	done
}
# As lib.sh's own, and the cluster.
trap 'cluster_down; clean_up' EXIT

# In the place of ssh: into the namespace, with a host name of its own.
write_agent() {
	cat >"$work/agent" <<-EOT
		#!/bin/bash
		host=\$1
		shift
		exec ip netns exec $prefix-\${host#n} unshare --uts sh -c "hostname \$host; \$*"
	EOT
	chmod +x "$work/agent"
}

# All share one configuration: each takes an address by its slot.
write_configuration() {
	cat >"$work/ranks.conf" <<-EOT
		port = net_af_packet0,iface=data
		address = 10.50.0.%{slot}/24
		slots = mpi-$$:1-9
		log = info
		log_file = $out/$case_name.stack.log
	EOT
}

ranks() { # NUMBER
	local hosts='' i
	cluster_down
	cluster_up "$1"
	for ((i = 1; i <= $1; i++)); do
		hosts+=${hosts:+,}n$i
	done
	write_agent
	write_configuration
	ip netns exec "$prefix-0" unshare --uts sh -c 'hostname n0; exec "$@"' - \
		env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 3 "$limit" mpirun \
		--mca plm_rsh_agent "$work/agent" --host "$hosts" -n "$1" --mca oob_tcp_if_include 10.51.0.0/24 \
		--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "verbs;ofi_rxm" \
		--mca mpi_yield_when_idle 1 \
		"$uiwarp" run --config "$work/ranks.conf" -- "$work/ranks" 10 \
		>"$(log_of client)" 2>"$(errors_of client)" ||
		{ say "mpirun ended with status $?"; return 1; }
	for i in allreduce alltoall ring all; do
		has_lines client "^$i ok with $1 ranks" 1 || { say "$i was not right"; return 1; }
	done
	# Nothing else could have carried it: pml cm has no other way.
	(($(grep -c 'listening on 10\.50\.0\.' "$out/$case_name.stack.log") >= $1)) ||
		{ say "the ranks did not use our stack"; return 1; }
	remark="$(grep -E '^latency 1 ' "$(log_of client)"), $(grep -E '^bandwidth 1048576' "$(log_of client)")"
}

skipped() {
	inconclusive=$why
}

why=$(missing)
if [[ ! $why ]] && ! mpicc -O2 -Wall -o "$work/ranks" "$root/tests/cluster/ranks.c" 2>"$out/$suite-mpicc.log"; then
	why="mpicc does not compile"
fi
for n in 2 4; do
	if [[ $why ]]; then run_case "ofi-$n" skipped; else run_case "ofi-$n" ranks "$n"; fi
done
plan_done
