#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Open MPI over libfabric's verbs (mtl ofi), and why not by its own (btl openib): ranks in namespaces of
# their own, each with a stack of ours on an AF_PACKET interface, all on one Linux bridge. mpirun has a
# daemon start in each, as on separate hosts; what these say to each other goes over Linux's TCP on a
# second bridge.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/../applications/lib.sh"
# shellcheck source=scripts/lib/netns.sh
source "$root/scripts/lib/netns.sh"

only_over memif

prefix=uiw-mpi-$$
# Ranks poll without a pause: beside other work each message waits for a turn of the processor.
limit=180

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

launch() { # RANKS MPIRUN-OPTION...
	local hosts='' i n=$1
	shift
	cluster_down
	cluster_up "$n"
	for ((i = 1; i <= n; i++)); do
		hosts+=${hosts:+,}n$i
	done
	write_agent
	write_configuration
	ip netns exec "$prefix-0" unshare --uts sh -c 'hostname n0; exec "$@"' - \
		env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$root/scripts/lib/timeout" "$limit" mpirun \
		--mca plm_rsh_agent "$work/agent" --host "$hosts" -n "$n" --mca oob_tcp_if_include 10.51.0.0/24 \
		--mca mpi_yield_when_idle 1 "$@" \
		"$uiwarp" run --config "$work/ranks.conf" -- "$work/ranks" 5 \
		>"$(log_of client)" 2>"$(errors_of client)"
}

ranks() { # NUMBER MPIRUN-OPTION...
	local n=$1 part
	launch "$@" || { say "mpirun ended with status $?"; return 1; }
	for part in allreduce alltoall ring all; do
		has_lines client "^$part ok with $n ranks" 1 || { say "$part was not right"; return 1; }
	done
	# Nothing else could have carried it: pml cm has no other way.
	(($(grep -c 'listening on 10\.50\.0\.' "$out/$case_name.stack.log") >= n)) ||
		{ say "the ranks did not use our stack"; return 1; }
	# From 0 and 1 bytes to 1 MiB.
	(($(lines_of client '^latency +[0-9]+ +[0-9.]+$') == 22 &&
		$(lines_of client '^bandwidth +[0-9]+ +[0-9.]+$') == 21)) ||
		{ say "not a figure for each size"; return 1; }
	remark="1 byte $(figure latency 1) us, 1 MiB $(figure bandwidth 1048576) MB/s"
}

figure() { # WHAT SIZE
	awk -v what="$1" -v size="$2" '$1 == what && $2 == size { print $3 }' "$(log_of client)"
}

# Debian's btl openib has no way to connect but udcm, over datagrams. As soon as it has one, this fails.
openib() { # MPIRUN-OPTION...
	! launch 2 "$@" || { say "btl openib runs: docs/applications.md says that it cannot"; return 1; }
	if ! has_lines client 'Invalid name: +rdmacm' 1 || ! has_lines client 'All possible valid names: +udcm$' 1; then
		say "btl openib does not say why"
		return 1
	fi
	ompi_info --param btl openib --level 9 | grep 'select OpenFabrics connections (valid values: udcm)' >/dev/null ||
		{ say "ompi_info knows of other connection methods than udcm"; return 1; }
}

skipped() {
	inconclusive=$why
}

package=openmpi-bin
why=$(why_no_namespaces)
if [[ ! $why ]] && ! mpicc -O2 -Wall -o "$work/ranks" "$root/tests/cluster/ranks.c" 2>"$out/$suite-mpicc.log"; then
	why="mpicc does not compile (libopenmpi-dev)"
fi

# Like application, with what mpirun is told.
run() { # NAME RANKS FUNCTION MPIRUN-OPTION...
	local name=$1 n=$2 function=("$3") typed
	shift 3
	typed="mpirun -n $n --mca mpi_yield_when_idle 1 $* uiwarp run --config FILE -- ./ranks 5"
	# As a shell takes it.
	typed=${typed/verbs;ofi_rxm/\"verbs;ofi_rxm\"}
	[[ ${function[0]} != ranks ]] || function+=("$n")
	[[ ! $why ]] || function=(skipped)
	application "$name" "" "$typed" "${function[@]}" "$@"
}

ofi=(--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "verbs;ofi_rxm")
checked="each rank, in a namespace of its own, compares all elements of allreduce, alltoall and a ring"
run ofi-2 2 ranks "${ofi[@]}"
run ofi-4 4 ranks "${ofi[@]}"
expected="refused by Debian's build: its btl openib has no rdmacm, only udcm (\`ompi_info --param btl openib --level 9\`)"
checked="its words, and those of ompi_info"
run openib 2 openib --mca pml ob1 --mca btl openib,self --mca btl_openib_cpc_include rdmacm
rows_done
