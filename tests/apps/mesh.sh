#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Many processes of one host over its own TCP, each connected to each: all that they write, send and read is verified.
# They share the address; a rank has a port.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
only_over kernel
# A busy machine may take its time for 4,032 connections.
limit=500

mesh() { # PROCESSES ROUNDS
	local said qps=$(($1 * ($1 - 1)))
	start server "$root/build/tests/mesh/mesh" "$1" 127.0.0.1 22000 "$2"
	finish server "$started" || return 1
	said="$1 processes, $qps QPs, $2 rounds: all of it verified"
	has_line "$(log_of server)" "^$said$" || { say "it does not say '$said'"; return 1; }
}

run_case ranks-12 mesh 12 10
run_case ranks-64 mesh 64 10
plan_done
