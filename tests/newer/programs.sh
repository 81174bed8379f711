#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Libraries and programs of a newer rdma-core than the system's, as tests/newer/build made them, over
# the preloaded library as it is.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"

only_over beside_kernel
newer=$root/out/newer/build
[[ -f $root/out/newer/built ]] || die "run tests/newer/build"
export PATH=$newer/bin:$PATH LD_LIBRARY_PATH=$newer/lib
limit=120

# Every public symbol of it has an answer: see tests/unit/provider/symbols.
symbols() {
	local here=$root/tests/unit/provider/symbols
	"$here/symbols.py" "$here/table" "$root/build/provider/shim/libuiwarp-preload.so" \
		"$newer/lib/libibverbs.so.1" || return 1
	remark=$(basename "$(readlink -f "$newer/lib/libibverbs.so.1")")
}
run_case symbols symbols

# The program is the newer one, and its library too.
alone() { # REGEX COMMAND...
	local line=$1
	shift
	[[ $(type -P "$1") == "$newer/bin/$1" ]] || { say "$1 is the system's"; return 1; }
	start client "$@"
	finish client "$started" || return 1
	has_lines client "$line" 1 || { say "no word of '$line'"; return 1; }
}
run_case devices alone uiw0 ibv_devices
run_case devinfo alone 'effective_speed:[[:space:]]+[0-9.]+ Gbps' ibv_devinfo -v

# What connects without rdma_cm, and ends with 0 also when the data was wrong.
listens_at=linux control_port=18515
while read -r name command; do
	[[ $name ]] || continue
	pair "$name" "$command" "$command %4" server 0 'invalid data' client 0 'invalid data'
done <<-EOT
	rc           ibv_rc_pingpong -g 0 -c -n 200
	rc-v6        ibv_rc_pingpong -g 1 -c -n 200
	rc-events    ibv_rc_pingpong -g 0 -c -e -n 200
	rc-stamps    ibv_rc_pingpong -g 0 -c -t -n 200
	rc-iodp      ibv_rc_pingpong -g 0 -c -O -n 200
	rc-builders  ibv_rc_pingpong -g 0 -c -N -n 200
	srq          ibv_srq_pingpong -g 0 -c -n 100
EOT
# Of 65 and later: a parent domain with memory that need not be private.
if [[ $(ibv_rc_pingpong --help 2>&1) == *--allow-cc-unprotected* ]]; then
	pair rc-unprotected "ibv_rc_pingpong -g 0 -c -U -n 200" "ibv_rc_pingpong -g 0 -c -U -n 200 %4" \
		server 0 'invalid data' client 0 'invalid data'
fi
listens_at=stack

pair rping "rping -s -C 10 -S 4096" "rping -c -a %4 -V -C 10 -S 4096"
pair rping-v6 "rping -s -a ::0 -C 10" "rping -c -a %6 -V -C 10"
pair rdma_client "rdma_server" "rdma_client -s %4" server 1 'end 0' client 1 'end 0'
pair rdma_xclient "rdma_xserver -c r" "rdma_xclient -s %4 -c r" server 1 'end 0' client 1 'end 0'
pair ucmatose "ucmatose -C 20 -S 3000" "ucmatose -s %4 -C 20 -S 3000" client 1 'status 0'
pair rstream "rstream -T v -S 65536 -C 20" "rstream -s %4 -T v -S 65536 -C 20" client 1 '^custom'
pair riostream "riostream -T v -S 65536 -C 20" "riostream -s %4 -T v -S 65536 -C 20" client 1 '^custom'

# Its two ends keep in step over Linux's TCP, at the server's address there. What it does last, connections
# without QPs, is not for iWARP: Linux's rdma_connect() refuses them, too.
timed() {
	local listens_at=linux control_port=7471 job
	start server cmtime -L -b "$server_v4" -C "$server_v4" -c 100
	wait_listening "$started" || return 1
	start client cmtime -b "$client_v4" -C "$server_v4" -c 100
	job=$started
	! wait "$job" || { say "it connects without QPs"; return 1; }
	has_lines client 'rdma_connect: Invalid argument' 1 || { say "no word of connections without QPs"; return 1; }
	has_lines client '^ *disconnect +[1-9]' 1 || { say "no times"; return 1; }
}
run_case cmtime timed

# A server that serves on, and a file of a size that is no multiple of anything.
copied() {
	local server_job
	head -c 5000011 /dev/urandom >"$case_dir/from"
	start server rcopy
	server_job=$started
	wait_listening "$server_job" || return 1
	start client rcopy "$case_dir/from" "$server_v4:$case_dir/to"
	finish client "$started" || return 1
	cmp "$case_dir/from" "$case_dir/to"
}
run_case rcopy copied
plan_done
