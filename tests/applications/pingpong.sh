#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ibverbs-utils: the examples of libibverbs, which connect their QPs without rdma_cm (docs/connect.md) and tell
# each other their addresses through Linux's TCP.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=ibverbs-utils
listens_at=linux
# Their own, when no other is said.
control_port=18515

# The programs end with 0 also when the data was wrong.
checked="both verify what they receive (-c)"
while read -r name command; do
	[[ $name ]] || continue
	program "$name" "$command" "$command %4" server 0 'invalid data' client 0 'invalid data'
done <<-EOT
	rc           ibv_rc_pingpong -g 0 -c -n 200
	rc-v6        ibv_rc_pingpong -g 1 -c -n 200
	rc-events    ibv_rc_pingpong -g 0 -c -e -n 200
	rc-stamps    ibv_rc_pingpong -g 0 -c -t -n 200
	rc-odp       ibv_rc_pingpong -g 0 -c -o -n 200
	rc-iodp      ibv_rc_pingpong -g 0 -c -O -n 200
	rc-prefetch  ibv_rc_pingpong -g 0 -c -o -P -n 200
	rc-builders  ibv_rc_pingpong -g 0 -c -N -n 200
	rc-mtu       ibv_rc_pingpong -g 0 -c -m 4096 -n 200
	rc-small     ibv_rc_pingpong -g 0 -c -s 1 -n 200
	rc-large     ibv_rc_pingpong -g 0 -c -s 4194304 -n 20 -r 1
	srq          ibv_srq_pingpong -g 0 -c -n 100
	srq-v6       ibv_srq_pingpong -g 1 -c -n 100
	srq-events   ibv_srq_pingpong -g 0 -c -e -n 100
	srq-odp      ibv_srq_pingpong -g 0 -c -o -n 100
	ud           ibv_ud_pingpong -g 0 -c -n 200
	ud-v6        ibv_ud_pingpong -g 1 -c -n 200
	ud-events    ibv_ud_pingpong -g 0 -c -e -n 200
	srq-many     ibv_srq_pingpong -g 0 -c -e -q 128 -n 500
EOT

checked="its exit status and its words"
expected="refused: the device has no memory of its own"
application rc-dm "" "ibv_rc_pingpong -g 0 -j" refuses client "ibv_rc_pingpong -g 0 -j" \
	"support dm"
expected="refused: no UC over iWARP"
application uc "" "ibv_uc_pingpong -g 0" refuses client "ibv_uc_pingpong -g 0" "Couldn't create QP"
expected="refused: no XRC over iWARP"
application xsrq "" "ibv_xsrq_pingpong -g 0" refuses client "ibv_xsrq_pingpong -g 0" "XRC|xrc"
expected=
checked="it names the device"
listed() {
	start client "$@"
	finish client "$started" || return 1
	has_lines client 'uiw0' 1 || { say "no uiw0"; return 1; }
}
application devices "" "ibv_devices" listed ibv_devices
application devinfo "" "ibv_devinfo -v" listed ibv_devinfo -v
rows_done
