#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ucmatose: several connections at once, all from one event channel.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

pair v4 "ucmatose -b %4" "ucmatose -s %4" \
	server 1 'return status 0' client 1 'return status 0'
pair v4-many "ucmatose -b %4 -c 8 -C 50 -S 5000" "ucmatose -s %4 -c 8 -C 50 -S 5000" \
	server 1 'return status 0' client 1 'return status 0'
pair v6 "ucmatose -b %6 -f ipv6 -c 4" "ucmatose -s %6 -f ipv6 -c 4" \
	server 1 'return status 0' client 1 'return status 0'
plan_done
