#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/lib/timeout: whatever ends a command, and whenever, its status is told.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "$0")/../../../scripts/lib/common.sh"

ends() { # WHAT EXPECTED SECONDS COMMAND...
	local what=$1 expected=$2 status=0
	shift 2
	"$root/scripts/lib/timeout" "$@" || status=$?
	((status == expected)) || die "$what: expected status $expected, found $status"
}

ends "a command that ends" 7 60 bash -c 'exit 7'
ends "a command that a signal ends" 139 60 bash -c 'ulimit -c 0; kill -SEGV $$'
ends "no such command" 127 60 /nonexistent 2>/dev/null
ends "a command that takes too long" 124 1 tail -f /dev/null
ends "a command that stays" 137 1 bash -c 'trap "" TERM; while :; do read -r -t 1 <> <(:) || :; done'
[[ $(ends "its input and output" 0 60 cat <<<input) == input ]] || die "it has not our input"
"$root/scripts/lib/timeout" 60 bash -c 'kill -PIPE $$' || (($? == 141)) || die "SIGPIPE is ignored"

# A signal for it is for the command, which may end as it likes.
signalled() {
	local status=0
	# shellcheck disable=SC2016 # its own shell's
	"$root/scripts/lib/timeout" 60 bash -c 'trap "exit 5" TERM; kill -TERM $PPID; while :; do read -rt 1 <> <(:); done' ||
		status=$?
	((status == 5)) || die "a signal passed on: expected status 5, found $status"
}
signalled

# Commands that end around the end of a second, in which it looks at the time.
pids=()
for i in {1..40}; do
	ends "a command that ends as a second does" 9 60 bash -c "read -r -t 0.9$((i % 10)) <> <(:); exit 9" &
	pids+=("$!")
done
for pid in "${pids[@]}"; do
	wait "$pid"
done
