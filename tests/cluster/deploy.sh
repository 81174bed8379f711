#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Several processes on one host, as docs/deploy.md has it: each its own port, joined by a Linux
# bridge (TAP), by a process that forwards between memifs, by Open vSwitch with DPDK (vhost-user).
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"
# shellcheck source=tests/cluster/lib.sh
source "$(dirname "$0")/lib.sh"

only_over memif

ns=uiw-deploy-$$
switch=$work/switch
# One that many clients may connect to at the same time; rping -P mixes two such up.
echo=$root/build/examples/echo
# These drivers take a hardware address as an argument of the port, and not later.
mac='mac=02:00:00:00:77:%{slot:02x}'
trap 'ovs_down; ip netns del "$ns" 2>/dev/null || true; clean_up' EXIT

# Processes by one file: a server, and clients of it at the same time.
several() { # CLIENTS CONFIGURATION-FILE SERVER-ADDRESS [COMMAND-BEFORE...]
	local count=$1 file=$2 address=$3 i clients=()
	shift 3
	"$@" "$root/scripts/lib/timeout" "$limit" "$uiwarp" run --config "$file" -- "$echo" 7174 "$count" >"$(log_of server)" 2>&1 &
	jobs+=("$!")
	wait_for "$patience" has_line "$(stack_log_of all)" 'listening' ||
		{ say "the server does not listen"; return 1; }
	for ((i = 1; i <= count; i++)); do
		"$@" "$root/scripts/lib/timeout" "$limit" "$uiwarp" run --config "$file" -- "$echo" 7174 "$address" \
			>"$(log_of "client$i")" 2>&1 &
		jobs+=("$!")
		clients+=("$!")
	done
	for i in "${clients[@]}"; do
		wait "$i" || { say "a client ended with status $?"; return 1; }
	done
	# Each had an address of its own.
	(($(grep -o 'mtu 1500, 02:00:00:00:77:0[123]' "$(stack_log_of all)" | sort -u | wc -l) == count + 1)) ||
		{ say "not a port for each"; return 1; }
}

configuration() { # FILE PORT
	cat >"$1" <<-EOT
		port = $2
		address = 10.70.0.%{slot}/24
		slots = deploy-$$:1-3
		log = info
		log_file = $(stack_log_of all)
	EOT
}

bridge() {
	tap_bridge_up "$ns" 3
	rm -f "$(stack_log_of all)"
	configuration "$work/bridge.conf" "net_tap0,iface=tap%{slot}"
	say "mac = 02:00:00:00:77:%{slot:02x}" >>"$work/bridge.conf"
	several 2 "$work/bridge.conf" 10.70.0.1 ip netns exec "$ns"
}
run_case bridge bridge

# A memif goes to one other process: here to one that forwards between two.
memif() {
	"$uiwarp" wan --a "net_memif1,role=server,id=1,socket=$work/m1,socket-abstract=no" \
		--b "net_memif2,role=server,id=2,socket=$work/m2,socket-abstract=no" >"$(log_of wan)" 2>&1 &
	jobs+=("$!")
	wait_for "$patience" test -S "$work/m2" || { say "the forwarder does not start"; return 1; }
	rm -f "$(stack_log_of all)"
	configuration "$work/memif.conf" "net_memif0,role=client,id=%{slot},socket=$work/m%{slot},socket-abstract=no,$mac"
	several 1 "$work/memif.conf" 10.70.0.1
}
run_case memif memif

# ---- Open vSwitch ---------------------------------------------------------------------------------

vsctl() {
	ovs-vsctl --timeout=20 "--db=unix:$switch/db" "$@"
}

# In a directory of its own, beside any other that runs here; without hugepages.
ovs_up() {
	mkdir -p "$switch"
	export OVS_RUNDIR=$switch OVS_LOGDIR=$switch OVS_DBDIR=$switch OVS_SYSCONFDIR=$switch
	ovsdb-tool create "$switch/conf.db" /usr/share/openvswitch/vswitch.ovsschema
	ovsdb-server "$switch/conf.db" "--remote=punix:$switch/db" "--pidfile=$switch/db.pid" --detach --no-chdir \
		"--log-file=$switch/db.log"
	vsctl --no-wait init
	vsctl --no-wait set Open_vSwitch . other_config:dpdk-init=true other_config:pmd-maxsleep=100 \
		other_config:dpdk-extra="--no-huge --legacy-mem -m 512 --no-pci"
	/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk "unix:$switch/db" "--pidfile=$switch/vs.pid" --detach \
		--no-chdir "--log-file=$switch/vs.log"
	vsctl add-br br0 -- set bridge br0 datapath_type=netdev
}

ovs_down() {
	local file
	for file in "$switch"/vs.pid "$switch"/db.pid; do
		[[ ! -s $file ]] || kill "$(<"$file")" 2>/dev/null || true
	done
}

vhost() {
	local i
	for i in 1 2 3; do
		vsctl add-port br0 "v$i" -- set Interface "v$i" type=dpdkvhostuserclient \
			options:vhost-server-path="$switch/v$i"
	done
	rm -f "$(stack_log_of all)"
	configuration "$work/vhost.conf" "net_virtio_user0,path=$switch/v%{slot},server=1,$mac"
	# Open vSwitch takes its time to serve a port that has just come.
	say "settle = 5" >>"$work/vhost.conf"
	several 2 "$work/vhost.conf" 10.70.0.1
}

skipped() {
	inconclusive="openvswitch-switch-dpdk is not installed"
}

if [[ -x /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk ]]; then
	ovs_up >"$out/deploy-ovs.log" 2>&1 || { say "# Open vSwitch does not start"; tail -n 5 "$out/deploy-ovs.log"; }
	run_case ovs-vhost vhost
else
	run_case ovs-vhost skipped
fi
plan_done
