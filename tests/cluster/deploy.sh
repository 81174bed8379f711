#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Several processes on one host, as docs/deploy.md has it: each its own port, joined by a Linux
# bridge (TAP), by Open vSwitch with DPDK over memif, and over vhost-user.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"

only_over memif

ns=uiw-deploy-$$
switch=$work/switch
trap 'ovs_down; ip netns del "$ns" 2>/dev/null || true; clean_up' EXIT

# Three processes by one file: a server, and two clients of it at the same time.
three() { # CONFIGURATION-FILE SERVER-ADDRESS [COMMAND-BEFORE...]
	local file=$1 address=$2 i clients=()
	shift 2
	"$@" timeout -k 3 "$limit" "$uiwarp" run --config "$file" -- rping -s -P >"$(log_of server)" 2>&1 &
	jobs+=("$!")
	wait_for "$patience" has_line "$(stack_log_of all)" 'listening' ||
		{ say "the server does not listen"; return 1; }
	for i in 1 2; do
		"$@" timeout -k 3 "$limit" "$uiwarp" run --config "$file" -- rping -c -a "$address" -V -C 20 \
			>"$(log_of "client$i")" 2>&1 &
		jobs+=("$!")
		clients+=("$!")
	done
	for i in "${clients[@]}"; do
		wait "$i" || { say "a client ended with status $?"; return 1; }
	done
	# Each had an address of its own.
	(($(grep -o 'mtu 1500, 02:00:00:00:77:0[123]' "$(stack_log_of all)" | sort -u | wc -l) == 3)) ||
		{ say "not three ports"; return 1; }
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
	local i
	ip netns add "$ns"
	ip -n "$ns" link add br0 type bridge
	ip -n "$ns" link set br0 up
	for i in 1 2 3; do
		ip -n "$ns" tuntap add dev "tap$i" mode tap multi_queue
		ip -n "$ns" link set "tap$i" addrgenmode none master br0 up
	done
	rm -f "$(stack_log_of all)"
	configuration "$work/bridge.conf" "net_tap0,iface=tap%{slot},mac=02:00:00:00:77:%{slot:02x}"
	three "$work/bridge.conf" 10.70.0.1 ip netns exec "$ns"
}
run_case bridge bridge

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
	configuration "$work/vhost.conf" "net_virtio_user0,path=$switch/v%{slot},server=1,mac=02:00:00:00:77:%{slot:02x}"
	three "$work/vhost.conf" 10.70.0.1
}

memif() {
	local i
	for i in 1 2 3; do
		vsctl add-port br0 "m$i" -- set Interface "m$i" type=dpdk options:dpdk-devargs="net_memif$i,role=server,id=$i,socket=$switch/m$i,socket-abstract=no"
	done
	rm -f "$(stack_log_of all)"
	configuration "$work/memif.conf" "net_memif0,role=client,id=%{slot},socket=$switch/m%{slot},socket-abstract=no,mac=02:00:00:00:77:%{slot:02x}"
	# Open vSwitch looks at such a port's link every five seconds.
	say "settle = 6" >>"$work/memif.conf"
	three "$work/memif.conf" 10.70.0.1
}

skipped() {
	inconclusive="openvswitch-switch-dpdk is not installed"
}

if [[ -x /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk ]]; then
	ovs_up >"$out/deploy-ovs.log" 2>&1 || { say "# Open vSwitch does not start"; tail -n 5 "$out/deploy-ovs.log"; }
	run_case ovs-vhost vhost
	run_case ovs-memif memif
else
	run_case ovs-vhost skipped
	run_case ovs-memif skipped
fi
plan_done
