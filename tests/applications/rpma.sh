#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# librpma: a library for remote persistent memory over rdma_cm, whose example 10 sends with immediate data. The program is of
# our own, as Debian has the library alone; it is built here.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=librpma-dev
heading=librpma
program=$work/rpma
checked="the server has the text, and the immediate data of both messages"

built() {
	cc -O2 -Wall -o "$program" "$root/tests/applications/rpma.c" -lrpma -libverbs || { say "it does not compile"; return 1; }
	exchange "$@"
}

imm() { # NAME ADDRESS
	application "$1" "rpma ${2/\%6/SERVER} 7204" "rpma ${2/\%6/SERVER} 7204 TEXT" \
		built "$program $2 7204" "$program $2 7204 hello" \
		server 1 '^received "hello" with 0x5eed0001$' server 1 '^received "" with 0x5eed0002$' client 1 '^sent$'
}

imm send_with_imm %4
checked+=", over IPv6"
imm send_with_imm-v6 %6
rows_done
