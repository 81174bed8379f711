#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The trace points (src/base/probe.h): the library has those that docs/telemetry.md lists, and bpftrace sees a program
# pass them.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $transport == memif ]] || only_over kernel
library=$root/build/provider/verbs/libuiwarp.so

has_points() {
	[[ $(readelf -n "$library") == *stapsdt* ]] || { inconclusive='built without trace points'; return 1; }
}

listed() {
	has_points || return 0
	# shellcheck disable=SC2016 # the backquotes are the document's
	diff <(readelf -n "$library" | sed -n 's/^ *Name: \([a-z_]*\)$/\1/p' | sort -u) \
		<(sed -n 's/^| `uiwarp:\([a-z_]*\)` |.*/\1/p' "$root/docs/telemetry.md" | sort) ||
		{ say "docs/telemetry.md lists other trace points than the library has"; return 1; }
}

may_trace() {
	has_points || return 1
	if ! command -v bpftrace >/dev/null || ! timeout 30 bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1; then
		inconclusive='bpftrace is missing, or may not trace here'
		return 1
	fi
}

# bpftrace sees points once it says so nowhere: so one client after the other connects until it has seen enough.
seen() { # SCRIPT LINE-IN-ITS-OUTPUT
	local tracer tries=0
	may_trace || return 0
	start server rping -s -P -a "$server_v4"
	wait_listening "$started" || return 1
	timeout "$limit" bpftrace "$1" >"$case_dir/trace" 2>&1 &
	tracer=$!
	while kill -0 "$tracer" 2>/dev/null; do
		((tries++ < 200)) || { say "bpftrace saw nothing of 200 clients"; kill "$tracer"; return 1; }
		start client rping -c -a "$server_v4" -C 10
		finish client "$started" || return 1
	done
	wait "$tracer" || { tail -n 3 "$case_dir/trace"; return 1; }
	has_line "$case_dir/trace" "$2" || { cat "$case_dir/trace"; say "its output has no '$2'"; return 1; }
}

# The opcodes are a Send and a Read or a Write; each status is 0 until the QP is closed and its receives are flushed.
requests() {
	cat >"$case_dir/requests.bt" <<-END
		usdt:$library:uiwarp:connected { @connected = 1; }
		usdt:$library:uiwarp:post /@connected && arg2 == 2 && arg3 == 64/ { @posted[arg0, arg1] = 1; }
		usdt:$library:uiwarp:completion /arg2 == 1 && arg3 == 0 && @posted[arg0, arg1]/ { @written = 1; }
		usdt:$library:uiwarp:ended /@written && arg1 == 0/ { printf("a Write of 64 bytes\\n"); exit(); }
	END
	seen "$case_dir/requests.bt" '^a Write of 64 bytes$'
}

example() {
	sed -e "s,usdt:\*:,usdt:$library:," -e '/^usdt.*ended/,/^}/s,printf.*,exit();,' \
		-e 's,^/arg1 != 0/,/arg1 == 0/,' "$root/examples/latency.bt" >"$case_dir/example.bt"
	seen "$case_dir/example.bt" '^@ns_by_opcode\[0\]'
}

# Our own TCP's: while the peer's process stands still, text is sent again, to its port and with its length.
sent_again() {
	local tracer server
	may_trace || return 0
	start_both "rping -s -P -a %4 -S 64" "rping -c -v -a %4 -C 1000000000 -S 64" || return 1
	wait_for "$patience" has_lines client 'ping data' 10 || { say "they do not work"; return 1; }
	server=$(program_pid server)
	cat >"$case_dir/again.bt" <<-END
		usdt:$library:uiwarp:retransmit /arg1 == 7174 && arg3 > 0 && arg3 < 1500/ { @again = 1; }
		usdt:$library:uiwarp:rto /arg1 == 7174 && arg3 > 0/ { @rto = 1; }
		usdt:$library:uiwarp:retransmit /@again && @rto/ { printf("sent again\\n"); exit(); }
	END
	timeout "$limit" bpftrace "$case_dir/again.bt" >"$case_dir/trace" 2>&1 &
	tracer=$!
	while kill -STOP "$server" && ! wait_for 1 is_gone "$tracer"; do
		kill -CONT "$server"
		wait_for 1 is_gone "$tracer" || true
	done
	kill -CONT "$server"
	wait "$tracer" || { tail -n 3 "$case_dir/trace"; return 1; }
	has_line "$case_dir/trace" '^sent again$' || { cat "$case_dir/trace"; say "its output has no 'sent again'"; return 1; }
}

if [[ $transport == memif ]]; then
	run_case sent_again sent_again
else
	run_case listed listed
	run_case requests requests
	run_case example example
fi
plan_done
