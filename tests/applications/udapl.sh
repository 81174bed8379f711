#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# uDAPL over rdma_cm (the provider that Debian calls libdaplofa, OpenIB-cma by its other name). dat.conf names
# our own address as the device, and the same name stands for each side's.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=dapl2-utils
device=ofa-v2-uiwarp

registry() { # SIDE ADDRESS
	say "$device u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"$2 0\" \"\"" \
		>"$case_dir/$1.dat.conf"
}

on_dat() { # SIDE COMMAND...
	start "$1" env DAT_OVERRIDE="$case_dir/$1.dat.conf" "${@:2}"
}

# dtest introduces itself to its server over a kernel socket.
dtest() { # PROGRAM OPTION...
	local server_job
	registry server "$server_v4"
	registry client "$client_v4"
	on_dat server "$1" -P "$device" "${@:2}"
	server_job=$started
	wait_for "$patience" has_line "$(stack_log_of server)" 'listening|port ' || return 1
	wait_for "$patience" kernel_listens || { say "$1 does not listen"; return 1; }
	on_dat client "$1" -P "$device" "${@:2}" -h "$server_v4"
	finish client "$started" || return 1
	finish server "$server_job" || return 1
	has_lines server 'PASSED' 1 || { say "the server did not pass"; return 1; }
	has_lines client 'PASSED' 1 || { say "the client did not pass"; return 1; }
}

kernel_listens() {
	netns_in server grep -q ' 0A ' /proc/net/tcp
}

dapltest() { # ARGUMENT...
	local server_job
	registry server "$server_v4"
	registry client "$client_v4"
	on_dat server dapltest -T S -D "$device"
	server_job=$started
	wait_listening "$server_job" || return 1
	on_dat client dapltest "${@:1:2}" -s "$server_v4" -D "$device" "${@:3}"
	finish client "$started" || return 1
	on_dat client dapltest -T Q -s "$server_v4" -D "$device"
	finish client "$started" || return 1
	finish server "$server_job" || return 1
	! has_lines client 'rror|FAIL' 1 || { say "an error in its output"; return 1; }
}

checked="dtest compares what was written, read and sent"
while read -r name options; do
	[[ $name ]] || continue
	# shellcheck disable=SC2086 # words
	application "dtest$name" "dtest -P $device $options" "dtest -P $device $options -h %4" \
		dtest dtest $options
done <<-EOT
	-events  -b 4096 -B 16
	-large   -b 65536 -B 8
	-polling -p -b 256 -B 16
	-cno     -c -b 256 -B 16
EOT

checked="dapltest compares what arrived (-V)"
while read -r name arguments; do
	[[ $name ]] || continue
	# shellcheck disable=SC2086 # words
	application "dapltest-$name" "dapltest -T S -D $device" \
		"dapltest ${arguments/ / -s SERVER -D $device }" dapltest $arguments
done <<-EOT
	send    -T T -V -i 50 -t 1 -w 1 client SR 4096 server SR 4096
	write   -T T -V -i 50 -t 1 -w 1 client RW 8192 server RW 8192 client SR 256 server SR 256
	read    -T T -V -i 50 -t 1 -w 1 client RR 8192 server RR 8192 client SR 256 server SR 256
	threads -T T -V -i 20 -t 4 -w 4 client SR 1024 server SR 1024
	perf    -T P -d -i 200 -p 16 -m b RW 4096 1
EOT
rows_done
