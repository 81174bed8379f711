#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What `uiwarp stat`, `top`, `ctl` and `plot` make of programs that run: rping at work on both ends. What is asked,
# changed and recorded is theirs alone: other processes of this user may run meanwhile.
# shellcheck disable=SC2154 # of the transport
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

# Where the programs are: as the same user, in the same namespaces.
ask() { # COMMAND...
	transport_in client timeout "$limit" "$uiwarp" "$@"
}

# A server and a client that work until they are ended; $server_pid and $client_pid are their processes.
at_work() {
	local pid
	start_both "rping -s -P -a %4 -S 4096" "rping -c -a %4 -C 1000000000 -S 4096" || return 1
	server_pid=$(program_pid server) client_pid=$(program_pid client)
	for pid in "$server_pid" "$client_pid"; do
		wait_for "$patience" works "$pid" || { say "process $pid does not work, or cannot be seen"; return 1; }
	done
}

# Root of a namespace of its own has no directory to be seen in.
# shellcheck disable=SC2016 # expanded by the inner shell
unseen=$(transport_in client sh -c '[ "$(id -u)" != 0 ] || [ -w /run ] || echo "this user has no /run"')

# As Prometheus wants it: below its HELP and TYPE all samples of a metric, each once. Its own tool knows more.
are_metrics() { # FILE
	python3 - "$1" <<-'END' || return 1
		import re, sys
		sample = re.compile(r'([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\}) (\S+)\n')
		seen, kind, helped = set(), {}, None
		with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
		    for line in file:
		        if line.startswith("# HELP "):
		            helped = line.split(" ", 3)[2]
		            assert helped not in kind and len(line.split(" ", 3)[3]) > 1, line
		        elif line.startswith("# TYPE "):
		            name, kind[helped] = line.split()[2:]
		            assert name == helped and kind[name] in ("counter", "gauge"), line
		            assert name.endswith("_total") == (kind[name] == "counter"), line
		        else:
		            name, labels, value = sample.fullmatch(line).groups()
		            assert name == helped and (name, labels) not in seen and float(value) >= 0, line
		            seen.add((name, labels))
		assert len(seen) > len(kind) > 20
	END
	! command -v promtool >/dev/null || promtool check metrics <"$1"
}

# Its QP has completed something.
works() { # PID
	ask stat --json "$1" >"$case_dir/works.json" 2>&1 &&
		python3 - "$case_dir/works.json" <<-'END'
			import json, sys
			with open(sys.argv[1], encoding="utf-8") as file:
			    process, = json.load(file)
			sys.exit(not any(qp["state"] == "RTS" and qp["send_completed"] > 9 for qp in process["qps"]))
		END
}

watched() { # NAME FUNCTION
	if [[ $unseen ]]; then
		run_case "$1" eval "inconclusive='$unseen'"
	else
		run_case "$@"
	fi
}

# ---- stat ---------------------------------------------------------------------------------------

shown() {
	local qp line
	at_work || return 1
	ask stat "$server_pid" "$client_pid" >"$case_dir/table" || { say "stat $(status_text $?)"; return 1; }
	for line in "$server_pid rping +[0-9]+ RTS +$client_v4:[0-9]+ " "$client_pid rping +[0-9]+ RTS +$server_v4:7174 "; do
		has_line "$case_dir/table" "^ *$line" || { cat "$case_dir/table"; say "the table lacks '$line'"; return 1; }
	done
	ask stat --json "$client_pid" >"$case_dir/json" || return 1
	qp=$(python3 - "$case_dir/json" "$client_pid" <<-'END'
		import json, sys
		with open(sys.argv[1], encoding="utf-8") as file:
		    process, = json.load(file)
		connection, = (c for c in process["connections"] if c["remote"].endswith(":7174"))
		qp, = (q for q in process["qps"] if q.get("remote") == connection["remote"])
		assert process["info"]["pid"] == int(sys.argv[2]) and process["info"]["program"] == "rping"
		for what in ("bytes_acked", "bytes_received", "srtt_ns", "cwnd", "segments_out"):
		    assert connection[what] > 0, what
		assert connection["qp"] == qp["qp"]
		assert qp["send_posted"] - qp["send_completed"] in (0, 1)
		assert process["mrs"] and process["cqs"] and process["config"]["port"]
		print(qp["qp"])
	END
	) || { say "a field of --json is not as it must be"; return 1; }
	ask stat --prometheus "$client_pid" "$server_pid" >"$case_dir/metrics" || return 1
	are_metrics "$case_dir/metrics" || { say "stat --prometheus tells no metrics"; return 1; }
	has_line "$case_dir/metrics" "^uiwarp_connection_acked_bytes_total\{pid=\"$client_pid\",socket=\"telemetry.$client_pid\",directory=\"/[^\"]*\",program=\"rping\",.*qp=\"$qp\"" ||
		{ say "no bytes are of QP $qp"; return 1; }
	ask stat --follow "$qp" --count 3 --interval 0.05 "$client_pid" >"$case_dir/lines" || return 1
	(($(grep -c ' RTS ' "$case_dir/lines") == 3)) || { say "QP $qp is not followed"; return 1; }
}
watched shown shown

# ---- top ----------------------------------------------------------------------------------------

# In a terminal of its own: each screen must come, and the end must be a good one.
in_a_terminal() { # INTERVAL STEPS-IN-PYTHON
	transport_in client timeout "$limit" python3 - "$uiwarp" "$1" "$2" "$server_pid" "$client_pid" <<-'END'
		import fcntl, os, pty, struct, sys, termios
		pid, terminal = pty.fork()
		if pid == 0:
		    os.environ["COLUMNS"] = "200"
		    os.execv(sys.argv[1], ["uiwarp", "top", "--interval", sys.argv[2], *sys.argv[4:]])

		seen = b"" # and not awaited yet

		def awaited(text):
		    global seen
		    while text not in seen:
		        seen = seen[-65536:] + os.read(terminal, 4096)
		    seen = seen[seen.index(text) + len(text):]

		def resize(rows, columns):
		    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

		def press(key, screen):
		    os.write(terminal, key)
		    awaited(screen)

		awaited(b"2 processes, 2 QPs and connections, by bytes")
		awaited(b"rping")
		awaited(b"? help") # the last of a screen
		exec(sys.argv[3])
		press(b"x", b"\x1b[?1049l")
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

top_in_a_terminal() {
	at_work || return 1
	in_a_terminal 0.1 'for key, screen in ((b"o", b"by operations"), (b"\r", b"one connection"), (b"x", b"by operations"),
	    (b"?", b"uiwarp: keys"), (b" ", b"by operations")): press(key, screen)'
}
watched top top_in_a_terminal

# It is drawn anew at once, and not with the next figures.
top_of_another_size() {
	at_work || return 1
	in_a_terminal 3600 'resize(30, 120); awaited(b"rping"); awaited(b"? help"); press(b"o", b"by operations"); awaited(b"? help")
resize(40, 100); awaited(b"by operations")'
}
watched top_resized top_of_another_size

# ---- ctl ----------------------------------------------------------------------------------------

has_frames() { # FILE
	(($(stat -c %s "$1" 2>/dev/null || echo 0) > 10000))
}

# Of two files each is a capture by itself. The older one has the size that was asked for, and ends with the frame
# that made it so; there is no third.
rotates() {
	local file size
	ask ctl "$server_pid" capture="$case_dir/turns" capture_size=64K capture_files=2 || { say "no rotation"; return 1; }
	wait_for "$patience" test -s "$case_dir/turns.1" || { say "the capture does not rotate"; return 1; }
	ask ctl "$server_pid" capture=off || return 1
	[[ ! -e $case_dir/turns.2 ]] || { say "it keeps a third file"; return 1; }
	size=$(stat -c %s "$case_dir/turns.1")
	((size >= 65536 && size < 65536 + 10000)) || { say "turns.1 has $size bytes"; return 1; }
	for file in "$case_dir"/turns{,.1}; do
		"$uiwarp" pcap stats "$file" >"$case_dir/stats" || { say "${file##*/} cannot be read"; return 1; }
	done
}

ctl() {
	at_work || return 1
	ask ctl "$server_pid" log=debug || { say "log=debug is refused"; return 1; }
	[[ $(ask stat --json "$server_pid") == *'"log_level": "debug"'* ]] || { say "it does not log more"; return 1; }
	! ask ctl "$server_pid" log=loud 2>"$case_dir/loud" || { say "log=loud is taken"; return 1; }
	has_line "$case_dir/loud" "process $server_pid: expected error, warning, info or debug" || return 1
	if [[ $transport == kernel* ]]; then
		! ask ctl "$server_pid" capture="$case_dir/frames" 2>"$case_dir/none" || { say "frames of the kernel's?"; return 1; }
		has_line "$case_dir/none" 'there are no frames to capture'
		return
	fi
	ask ctl "$server_pid" capture="$case_dir/frames" || { say "capture= is refused"; return 1; }
	wait_for "$patience" has_frames "$case_dir/frames" || { say "nothing is captured"; return 1; }
	ask ctl "$server_pid" capture=off || return 1
	[[ $(ask stat --json "$server_pid") == *'"capture": null'* ]] || { say "the capture has no end"; return 1; }
	"$uiwarp" pcap stats "$case_dir/frames" >"$case_dir/stats" || { say "the capture cannot be read"; return 1; }
	rotates || return 1
	works "$server_pid"
}
watched ctl ctl

# ---- record and plot ----------------------------------------------------------------------------

has_samples() { # FILE NUMBER
	(($(grep -c '"time_ns"' "$1" 2>/dev/null || true) >= $2))
}

# It ends by itself with the program; the page has the one connection, which has carried something.
recorded() {
	local job
	at_work || return 1
	ask stat --record "$case_dir/record" --interval 0.05 "$client_pid" &
	job=$!
	jobs+=("$job")
	wait_for "$patience" has_samples "$case_dir/record" 5 || { say "nothing is recorded"; return 1; }
	kill "$client_pid"
	wait "$job" || { say "the record $(status_text $?)"; return 1; }
	"$uiwarp" plot "$case_dir/record" || { say "plot $(status_text $?)"; return 1; }
	python3 - "$case_dir/record" "$client_pid" <<-'END'
		import json, sys
		import xml.etree.ElementTree as tree
		with open(sys.argv[1], encoding="utf-8") as file:
		    first, *rows = map(json.loads, file)
		with open(sys.argv[1] + ".html", encoding="utf-8") as file:
		    page = file.read()
		assert first["format"] == "uiwarp stat --record" and first["interval_ns"] == 50000000
		rows = [row for row in rows if row["pid"] == int(sys.argv[2]) and row.get("remote", "").endswith(":7174")]
		times, sent = [row["time_ns"] for row in rows], [row["bytes_acked"] for row in rows]
		assert times == sorted(times) and len(set(times)) == len(times)
		assert sent == sorted(sent) and sent[-1] > sent[0]
		svg, = page.split("<svg ")[1:]
		svg = tree.fromstring("<svg " + svg[:svg.index("</svg>")] + "</svg>")
		texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
		for label in ("goodput, Mbit/s", "RTT, us", "congestion window", "segments sent again", "send queue"):
		    assert label in texts, label
		assert f"rping ({sys.argv[2]}), QP {rows[0]['qp']}, " in texts[0]
	END
}
watched recorded recorded
plan_done
