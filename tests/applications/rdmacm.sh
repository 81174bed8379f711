#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rdmacm-utils, all of it.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=rdmacm-utils

checked="the client verifies each ping's data (-V)"
program rping "rping -s -C 10 -S 4096" "rping -c -a %4 -V -C 10 -S 4096"
program rping-v6 "rping -s -a ::0 -C 10" "rping -c -a %6 -V -C 10"

checked="both end with 0, which is what they answer to whole messages"
program rdma_client "rdma_server" "rdma_client -s %4" server 1 'end 0' client 1 'end 0'
program rdma_xclient "rdma_xserver -c r" "rdma_xclient -s %4 -c r" server 1 'end 0' client 1 'end 0'
program ucmatose "ucmatose -C 20 -S 3000" "ucmatose -s %4 -C 20 -S 3000" client 1 'status 0'
program ucmatose-many "ucmatose -c 100 -C 2" "ucmatose -s %4 -c 100 -C 2" client 1 'status 0'

checked="each step of each connection has its time"
timed() {
	served_by "exec cmtime -c 100" "exec cmtime -c 100 -s %4" || return 1
	has_lines client '^disconnect *: +[0-9.]+' 1 || { say "no times"; return 1; }
}
application cmtime "cmtime -c 100" "cmtime -c 100 -s %4" timed

checked="both verify the data (-T v)"
program rstream "rstream -T v -S 65536 -C 20" "rstream -s %4 -T v -S 65536 -C 20" client 1 '^custom'
program rstream-large "rstream -T v -S 1000000 -C 5" "rstream -s %4 -T v -S 1000000 -C 5" \
	client 1 '^custom'
program riostream "riostream -T v -S 65536 -C 20" "riostream -s %4 -T v -S 65536 -C 20" \
	client 1 '^custom'

# A file of a size that is no multiple of anything.
copied() {
	random_file "$case_dir/from" 5000011
	served_by "exec rcopy" "exec rcopy $case_dir/from %4:$case_dir/to" || return 1
	same_files "$case_dir/from" "$case_dir/to"
}
checked="the file that came is compared with the one that went"
application rcopy "rcopy" "rcopy FILE %4:FILE" copied

checked="the server sends each message back, and both count them"
program udaddy "udaddy -b %4 -C 20 -S 900" "udaddy -s %4 -C 20 -S 900" server 1 'return status 0' \
	client 1 'data transfers complete'

checked="the receiver has all messages, or does not end"
multicast() { # NAME RECEIVER SENDER
	application "$1" "$2" "$3" in_group "$2" "$3"
}
multicast mckey "mckey -m 239.1.1.1" "mckey -m 239.1.1.1 -s"
multicast mckey-v6 "mckey -m ff05::1:1" "mckey -m ff05::1:1 -s"
multicast mckey-send_only "mckey -m 239.1.1.1 -b %4" "mckey -m 239.1.1.1 -s -o"

checked="its exit status and its words"
expected="ends in rconnect(): librdmacm's datagram rsockets make their address handles by LID, which iWARP has not"
application udpong "" "udpong -s %4" refuses client "udpong -s %4" "rconnect: "
rows_done
