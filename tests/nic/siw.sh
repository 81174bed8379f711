#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each NIC in a guest of its own, opposite Linux's siw in another guest (tests/interop/guest), on the bridge between:
# both know nothing of each other but what RFC 5040 and its family say.
# shellcheck source=tests/nic/lib.sh
source "$(dirname "$0")/lib.sh"

siw_files=$root/out/interop/guest
siw_work=$work/siw siw_job=''
# shellcheck disable=SC2034 # for the transport
guest_addresses=(10.66.0.1 fd66::1) outside_addresses=(10.66.0.2 fd66::2)
mkdir "$siw_work"

# shellcheck disable=SC2034 # for them
# The functions of scripts/lib/guest.sh, of the guest with siw.
in_siw() { # FUNCTION [ARGUMENT]...
	local guest_files=$siw_files guest_work=$siw_work guest_log=siw guest_job=$siw_job status=0
	"$@" || status=$?
	siw_job=$guest_job
	return "$status"
}

siw_boot() {
	guest_boot '' -M q35 -m 384 -netdev tap,id=net,ifname=tap1,script=no,downscript=no \
		-device "$(guest_plain_nic 02:00:00:00:66:02),netdev=net"
	guest_ready || { say "the guest with siw does not start: see $out/siw.log"; return 1; }
	guest control "load fixed" || { say "siw cannot be loaded"; return 1; }
}

trap 'in_siw guest_end; end_beside; clean_up' EXIT

# The other side is not a stack of ours.
transport_run() { # SIDE COMMAND...
	say "$BASHPID" >"$case_dir/$1.pid"
	if [[ $1 == "$guest_side" ]]; then
		guest program "program $limit $(guest_command "${@:2}")"
	else
		in_siw guest program "program $limit ${*:2}"
	fi
}

transport_listening() {
	if [[ $guest_side == server ]]; then
		guest control listening
	else
		in_siw guest control listening
	fi
}

# shellcheck disable=SC2154 # from the transport
# What a case begins with: siw, and nothing left of an earlier program. All that passes is captured.
opposite() { # FUNCTION [ARGUMENT]...
	local status=0 capture_job
	[[ $siw_job ]] && is_alive "$siw_job" || in_siw siw_boot || return 1
	in_siw guest control end || { say "siw's guest does not end a program"; return 1; }
	# Not by a function: the job is dumpcap itself then, and ends when it is told to.
	"${guest_within[@]}" dumpcap -q -i tap1 -w "$out/$case_name.pcapng" >"$case_dir/dumpcap" 2>&1 </dev/null &
	capture_job=$!
	wait_for "$patience" has_line "$case_dir/dumpcap" '^File: ' && "$@" || status=$?
	kill "$capture_job" 2>/dev/null || true
	wait "$capture_job" || true
	((status == 0)) && ours_is_good
}

# In what we send our own checker finds nothing; what it finds of siw's is in docs/interop.md.
ours_is_good() {
	local found=$out/$case_name.check.json
	"$uiwarp" pcap check --all --json "$out/$case_name.pcapng" >"$found" || true
	grep -q '"event":"summary"' "$found" || { say "uiwarp pcap check cannot read the capture"; return 1; }
	! grep '"event":"violation"' "$found" | grep -E '"from":"(10\.66\.0\.1|\[fd66::1\]):' ||
		{ say "we do not meet all demands: see $found"; return 1; }
}

# rping's data is verified by its client; its bytes go both ways.
verified() { # ADDRESS(%4|%6)
	exchange "rping -s -a $1 -v -C 5 -S 20000" "rping -c -a $1 -v -V -C 5 -S 20000" client 5 'ping data: rdma-ping'
}

transport_again() {
	guest control end && in_siw guest control end
}

# siw fails what it has sent when the peer closes right behind its answer: tests/interop/perftest.sh.
measured() { # PROGRAM
	local status=0
	exchange "$1 -R -F -s 16384 -n 20" "$1 -R -F -s 16384 -n 20 %4" >"$case_dir/said" 2>&1 || status=$?
	has_lines client '^ *16384 +20 ' 1 || { cat "$case_dir/said"; return 1; }
	((status == 0)) || { [[ $guest_side == server ]] && has_lines client 'Failed to close connection' 1; } ||
		{ cat "$case_dir/said"; return 1; }
}

if [[ ! -s $siw_files/initrd ]]; then
	result ok "$suite-$transport" "SKIP no guest with siw: run tests/interop/guest/build"
	plan_done
	exit 0
fi
handed_by=vfio
for nic in virtio e1000 e1000e vmxnet3; do
	both_ways rping opposite verified %4
	in_guest rping-v6 server opposite verified %6
	for program in ib_write_bw ib_send_bw ib_read_bw; do
		both_ways "$program" opposite measured "$program"
	done
done
plan_done
