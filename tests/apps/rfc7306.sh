#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Write with Immediate and Atomics (RFC 7306), and Send with Immediate, by a program of our own: Debian's programs know the latter
# alone (perftest), and no server among them counts in the word that its client counts in.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

program=$root/build/tests/apps/rfc7306
pair all "$program -p 7306" "$program -p 7306 %4" \
	client 6 '^written ' client 1 '^added 1000' server 6 '^arrived ' server 1 '^counted 2000' \
	server 1 '^sent with immediate'
plan_done
