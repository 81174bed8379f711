#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The programs of examples/, which people start from: in C, C++ and Python.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

examples=$root/build/examples

skipped() { # WHY
	inconclusive=$1
}

pair message "$examples/message 7471" "$examples/message 7471 %4" \
	server 1 'the client says: hello, server' client 1 'the server says: hello, client'
pair message-v6 "$examples/message 7471" "$examples/message 7471 %6" \
	server 1 'the client says: hello, server' client 1 'the server says: hello, client'
pair window "$examples/window 7472" "$examples/window 7472 %4" \
	server 1 'wrote 1048576 bytes, their sum is 125829120$' \
	client 1 'read 1048576 bytes, their sum is 125829120$'

if [[ -x $examples/echo ]]; then
	pair echo-cpp "$examples/echo 7473" "$examples/echo 7473 %4" \
		server 1 'a client is served' client 1 '200 messages came back as they were sent'
else
	run_case echo-cpp skipped "there is no C++ compiler"
fi

if /usr/bin/python3 -c 'import pyverbs' 2>/dev/null; then
	pair window-python "/usr/bin/python3 $root/examples/window.py 7474" \
		"/usr/bin/python3 $root/examples/window.py 7474 %4" \
		server 1 'wrote 65536 bytes, their sum is 7864320$' \
		client 1 'read 65536 bytes, their sum is 7864320$'
else
	run_case window-python skipped "there is no python3-pyverbs"
fi
plan_done
