#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ceph's async+rdma messenger over rdma_cm: a monitor, an OSD and clients in one namespace, each with a TAP
# of its own on a Linux bridge. Linux has no address there: nothing else can carry what they say.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/../applications/lib.sh"
# shellcheck source=tests/cluster/lib.sh
source "$(dirname "$0")/lib.sh"

only_over memif

ns=uiw-ceph-$$
store=$work/ceph
# Not in jobs: they outlive a case.
daemons=()
export CEPH_CONF=$store/ceph.conf

ceph_down() {
	local pid file
	for file in "$store"/*.job; do
		[[ ! -s $file ]] || kill -9 "$(<"$file")" 2>/dev/null || true
	done
	for pid in "${daemons[@]}"; do
		wait "$pid" 2>/dev/null || true
	done
	daemons=()
	ip netns del "$ns" 2>/dev/null || true
}
# As lib.sh's own, and the cluster.
trap 'ceph_down; clean_up' EXIT

# One file for all: the monitor comes first, then the OSD, then one client at a time.
write_configuration() {
	cat >"$store/uiwarp.conf" <<-EOT
		port = net_tap0,iface=tap%{slot}
		address = 10.72.0.%{slot}/24
		mac = 02:00:00:00:72:%{slot:02x}
		slots = ceph-$$:1-3
		log = info
		log_file = $out/$suite.stack.log
	EOT
	# Patience for a busy machine, memory for a small one.
	cat >"$CEPH_CONF" <<-EOT
		[global]
		fsid = 6d1f0c2e-7a52-4b8e-9c65-2f3b8a1d0e47
		mon_host = v1:10.72.0.1:6789
		auth_cluster_required = none
		auth_service_required = none
		auth_client_required = none
		run_dir = $store
		admin_socket = $store/\$name.\$pid.asok
		log_file = $out/$suite.\$name.log
		pid_file = $store/\$name.pid
		ms_bind_msgr2 = false
		ms_type = async+rdma
		ms_async_rdma_type = iwarp
		ms_async_rdma_cm = true
		ms_async_rdma_device_name = uiw0
		ms_async_rdma_receive_queue_len = 512
		ms_async_rdma_receive_buffers = 4096
		ms_async_rdma_send_buffers = 512
		ms_async_op_threads = 1
		ms_connection_ready_timeout = 120
		mon_client_hunt_interval = 60
		osd_crush_update_on_start = false
		osd_class_update_on_start = false
		osd_pool_default_size = 1
		osd_pool_default_min_size = 1
		osd_crush_chooseleaf_type = 0
		public_network = 10.72.0.0/24
		cluster_network = 10.72.0.0/24
		[mon]
		mon_data = $store/mon
		mon_initial_members = a
		mon_data_avail_warn = 0
		mon_data_avail_crit = 0
		mon_osd_adjust_heartbeat_grace = false
		[mon.a]
		public_addr = 10.72.0.1
		[osd]
		osd_data = $store/osd
		osd_objectstore = memstore
		osd_heartbeat_grace = 600
		osd_op_thread_timeout = 600
		osd_op_thread_suicide_timeout = 0
		[osd.0]
		public_addr = 10.72.0.2
		cluster_addr = 10.72.0.2
	EOT
}

# On a stack of its own; its process id goes to a file, and stays the program's.
over_rdma() { # PID-FILE COMMAND...
	# shellcheck disable=SC2016 # expanded by the inner shell
	ip netns exec "$ns" bash -c 'echo $$ >"$0"; exec "$@"' "$1" "$uiwarp" run --config "$store/uiwarp.conf" -- "${@:2}"
}

daemon() { # NAME COMMAND...
	over_rdma "$store/$1.job" "${@:2}" >"$(log_of "$1")" 2>&1 &
	daemons+=("$!")
}

client() { # COMMAND...
	"$root/scripts/lib/timeout" "$limit" ip netns exec "$ns" "$uiwarp" run --config "$store/uiwarp.conf" -- "$@" \
		>>"$(log_of client)" 2>>"$(errors_of client)" || { say "$1 ${*: -1} $(status_text $?)"; return 1; }
}

# Nothing of this goes over a network.
make_stores() {
	mkdir -p "$store/mon" "$store/osd"
	monmaptool --create --fsid 6d1f0c2e-7a52-4b8e-9c65-2f3b8a1d0e47 --addv a '[v1:10.72.0.1:6789]' "$store/monmap"
	ceph-mon --mkfs -i a --monmap "$store/monmap"
	ceph-osd --mkfs -i 0 --no-mon-config --ms-type async+posix --monmap "$store/monmap" --osd-uuid "$uuid"
}
uuid=0b7a7b1e-52d0-4ff1-8f0e-3d3c61b4a0c5

is_up() {
	client ceph --connect-timeout "$limit" osd stat && has_line "$(log_of client)" '1 osds: 1 up'
}

started() {
	tap_bridge_up "$ns" 3 || return 1
	make_stores >"$(log_of stores)" 2>&1 || { say "no stores: $(tail -n 1 "$(log_of stores)")"; return 1; }
	daemon mon ceph-mon -f -i a
	wait_for "$patience" has_line "$out/$suite.stack.log" 'listening on 10\.72\.0\.1 port 6789' ||
		{ say "the monitor does not listen"; return 1; }
	client ceph --connect-timeout "$limit" osd new "$uuid" || return 1
	# Not by the OSD itself: what it says before it has the monitor's map is now and then of a "wrong fsid".
	client ceph --connect-timeout "$limit" osd crush add osd.0 1.0 root=default || return 1
	daemon osd ceph-osd -f -i 0
	wait_for "$limit" is_up || { say "the OSD does not come up"; return 1; }
	client ceph --connect-timeout "$limit" osd pool create p 8 8 || return 1
}

same_object() {
	random_file "$case_dir/from" 10000019
	client rados -p p put object "$case_dir/from" && client rados -p p get object "$case_dir/to" &&
		same_files "$case_dir/from" "$case_dir/to"
}

# `seq` compares what it reads with what was written.
measured() { # BYTES OPTION...
	client rados -p p bench 3 write --no-cleanup -b "$1" "${@:2}" &&
		client rados -p p bench 3 seq "${@:2}" && client rados -p p cleanup || return 1
	remark=$(awk '/^Bandwidth/ { printf "%s%s MB/s", sep, $3; sep = " written, " }' "$(log_of client)")" read"
	has_lines client '^Total (writes|reads) made: +[1-9]' 2 || { say "nothing was written or read"; return 1; }
}

# In good order, each with its device closed.
ended() {
	local name pid
	for name in osd mon; do
		kill "$(<"$store/$name.job")"
	done
	for pid in "${daemons[@]}"; do
		wait_for "$limit" is_gone "$pid" || { say "one does not end"; return 1; }
		wait "$pid" || { say "one $(status_text $?)"; return 1; }
	done
	daemons=()
}

is_gone() { # PID
	! is_alive "$1"
}

heading=Ceph package=ceph-osd
daemons_typed="ceph-mon -f -i a; ceph-osd -f -i 0"
why=$(why_no_namespaces)
if [[ ! $why ]]; then
	mkdir -p "$store"
	rm -f "$out/$suite".*.log
	write_configuration
fi

skipped() {
	inconclusive=$why
}

over_ceph() { # NAME CLIENT FUNCTION [ARGUMENT]...
	if [[ $why ]]; then
		application "$1" "$daemons_typed" "$2" skipped
	else
		application "$1" "$daemons_typed" "$2" "${@:3}"
	fi
}

checked="the monitor counts the OSD as up"
over_ceph start "ceph osd stat; ceph osd pool create p 8 8" started
checked="the object that came is compared with the one that went"
over_ceph object "rados -p p put object FILE; rados -p p get object FILE" same_object
checked="\`rados bench seq\` compares what it reads with what was written"
over_ceph bench "rados -p p bench 3 write --no-cleanup; rados -p p bench 3 seq" measured 4194304
over_ceph bench-small "rados -p p bench 3 write --no-cleanup -b 4096 -t 32; rados -p p bench 3 seq -t 32" measured 4096 -t 32
checked="both daemons end with 0 after SIGTERM"
over_ceph end "" ended
rows_done
