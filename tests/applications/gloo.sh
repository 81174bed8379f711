#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gloo, the collectives of PyTorch, over its ibverbs transport. It connects its QPs itself (docs/connect.md). The program is
# of our own, as Debian has the library alone; it is built here.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=libgloo-dev
heading=gloo
program=$work/gloo

# A queue pair of each listens before it knows of the other.
run() { # INDEX
	[[ -x $program ]] || c++ -O2 -Wall -o "$program" "$root/tests/applications/gloo.cpp" -lgloo -libverbs ||
		{ say "it does not compile"; return 1; }
	mkdir "$case_dir/store"
	exchange "$program 0 $case_dir/store $1" "$program 1 $case_dir/store $1" \
		server 3 'allgather are right$' client 3 'allgather are right$'
}

gloo() { # NAME INDEX
	application "$1" "gloo 0 DIRECTORY $2" "gloo 1 DIRECTORY $2" run "$2"
}

checked="each compares what it has after each broadcast, allreduce and allgather"
gloo collectives 0
gloo collectives-v6 1

# The host's TCP, between the same namespaces.
checked+=", over \`port = kernel\`"
transport_settings() { settings=(--set port=kernel); }
transport_ready() { :; }
gloo collectives-kernel 0
rows_done
