# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# uiwarp tcp on the server's side against Linux's TCP. Sourced by tests/netns/stream*.sh, after
# lib.sh.

# Where Linux's end is, and at which addresses it and ours are.
linux_in=router
ours_v4=$server_v4 ours_v6=$server_v6
linux_v4=10.1.0.1 linux_v6=fd01::1
stream_port=5001

ours_settings() {
	transport_settings server
}

# Start uiwarp tcp; $ours is the job, and what it prints is in the log of "ours".
ours_start() { # ROLE ARGUMENT...
	ours_settings
	rm -f "$(log_of ours)" "$(errors_of ours)"
	# shellcheck disable=SC2016 # expanded by the inner shell
	netns_in server "$root/scripts/lib/timeout" "$limit" \
		bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/ours.pid" \
		"$uiwarp" tcp "$@" --json "${settings[@]}" "${server_extra[@]}" \
		>"$(log_of ours)" 2>"$(errors_of ours)" </dev/null &
	ours=$!
	jobs+=("$ours")
}

# Ours listens.
ours_listens() { # ROLE ARGUMENT...
	ours_start "$@" --once --listen $stream_port
	wait_for "$patience" has_line "$(log_of ours)" '"listening"' ||
		{ say "ours does not listen"; return 1; }
}

ours_ends_with() { # STATUS
	local status=0
	wait "$ours" || status=$?
	rm -f "$case_dir/ours.pid"
	((status == $1)) || { say "ours $(status_text $status)"; return 1; }
}

ours_ends() {
	ours_ends_with 0
}

# Linux's side, to its end.
linux() { # [--OPTION]... connect | listen ARGUMENT-OF-stream.py...
	netns_in "$linux_in" timeout "$limit" python3 "$root/tests/netns/stream.py" "$@"
}

# Linux listens; $linux is the job. Its input is $linux_stdin, if that is set.
linux_listens() { # [--OPTION]... ACTION [ARGUMENT]...
	local options=()
	while [[ $1 == --* ]]; do
		options+=("$1") && shift
	done
	# What an earlier one of the same case left must not pass for this one's readiness.
	rm -f "$(log_of linux)" "$(errors_of linux)"
	linux "${options[@]}" listen $stream_port "$@" >"$(log_of linux)" 2>"$(errors_of linux)" \
		<"${linux_stdin:-/dev/null}" &
	linux=$!
	jobs+=("$linux")
	wait_for "$patience" has_line "$(log_of linux)" ready || { say "Linux does not listen"; return 1; }
}

linux_ends() {
	wait "$linux" || { cat "$(errors_of linux)"; return 1; }
}

linux_connects() { # [--OPTION]... ADDRESS ACTION [ARGUMENT]...
	local options=() address
	while [[ $1 == --* ]]; do
		options+=("$1") && shift
	done
	address=$1
	shift
	linux "${options[@]}" connect "$address" $stream_port "$@" 2>"$(errors_of linux)" ||
		{ cat "$(errors_of linux)"; return 1; }
}

# What is true of our reports, in Python: e is the last "end", t the total, all are all events.
reported() { # EXPRESSION
	python3 -c '
import json, sys
all = [json.loads(line) for line in open(sys.argv[1])]
e = [x for x in all if x["event"] == "end"][-1]
t = [x for x in all if x["event"] == "total"][-1]
sys.exit(0 if eval(sys.argv[2]) else f"not so: {sys.argv[2]}: {e}")' "$(log_of ours)" "$1"
}

# ---- the usual cases: one side listens, the other connects --------------------------------------

# Bytes from Linux to us.
bulk_in() { # ADDRESS BYTES [OUR-OPTION]...
	local address=$1 bytes=$2
	shift 2
	ours_listens sink --verify "$@" || return 1
	linux_connects "$address" source "$bytes" || return 1
	ours_ends || return 1
	reported "e['bytes'] == $bytes and not e['error']"
}

# Bytes from us to Linux.
bulk_out() { # ADDRESS BYTES [OUR-OPTION]...
	local address=$1 bytes=$2
	shift 2
	linux_listens sink "$bytes" || return 1
	ours_start source --bytes "$bytes" "$address" $stream_port "$@"
	linux_ends || return 1
	ours_ends || return 1
	reported "e['bytes'] == $bytes and not e['error']"
}

both_ways_over() { # v4|v6 BYTES [OUR-OPTION]...
	local to_ours=ours_$1 to_linux=linux_$1
	shift
	bulk_in "${!to_ours}" "$@" && bulk_out "${!to_linux}" "$@"
}

both_ways() { # BYTES [OUR-OPTION]...
	both_ways_over v4 "$@"
}
