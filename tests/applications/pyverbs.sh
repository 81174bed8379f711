#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pyverbs, the Python bindings of libibverbs and librdmacm: by its objects, connected by the program
# itself; and by rdma_cm.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=python3-pyverbs
python=/usr/bin/python3

# Names are given from the top of the project.
script() { # NAME SCRIPT SERVER-ARGUMENTS CLIENT-ARGUMENTS [SIDE COUNT REGEX]...
	local name=$1 script=$2 serves=$3 asks=$4
	shift 4
	application "$name" "python3 $script ${serves/\%p/7475}" "python3 $script ${asks/\%p \%h/7475 HOST}" \
		exchange "$python $root/$script $serves" "$python $root/$script $asks" "$@"
}

checked="both ends compare what was sent, written and read, and what was added"
listens_at=linux
script objects tests/applications/pyverbs_objects.py %p "%p %h" \
	server 1 'device uiw0' server 1 'the message is right' server 1 'what was written is right' \
	server 1 'the count is 42$' \
	client 1 'the answer is right' client 1 'what was read is right' client 1 'the count was 40$'

checked="the client compares what it wrote and read, the server has its sum"
listens_at=stack
script cm examples/window.py 7474 "7474 %4" \
	server 1 'wrote 65536 bytes, their sum is 7864320$' client 1 'read 65536 bytes, their sum is 7864320$'
rows_done
