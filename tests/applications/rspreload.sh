#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# librspreload: programs of ordinary sockets, over rsockets. Debian's build replaces few of the C library's calls,
# so some programs are out of its reach on any RDMA device: which, and that these are the reason, is a test too.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

heading="librspreload"
library=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so
bytes=5000011

# It must come behind our own library, which uiwarp run has put there.
on_sockets() { # SIDE COMMAND: for a shell
	start "$1" sh -c "LD_PRELOAD=\$LD_PRELOAD:$library; export LD_PRELOAD; exec $(expand "$2")"
}

# Two programs that both end, the server when its client has gone.
sockets() { # SERVER CLIENT
	local server_job
	on_sockets server "$1"
	server_job=$started
	wait_listening "$server_job" || return 1
	on_sockets client "$2"
	finish client "$started" || return 1
	finish server "$server_job"
}

moved() { # SERVER CLIENT; from FROM to TO, which they name
	random_file "$case_dir/from" "$bytes"
	(printf 'HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n' "$bytes"; cat "$case_dir/from") >"$case_dir/page"
	sockets "${1//FILE/$case_dir/}" "${2//FILE/$case_dir/}" || return 1
	same_files "$case_dir/from" "$case_dir/to"
}

file() { # NAME SERVER CLIENT
	local serves=${2//FILE/} asks=${3//FILE/}
	application "$1" "$serves" "$asks" moved "$2" "$3"
}

package=netcat-traditional
checked="the file that came is compared with the one that went"
file netcat-to "nc.traditional -l -p 7000 >FILEto" "nc.traditional -q 1 %4 7000 <FILEfrom"
file netcat-from "nc.traditional -l -p 7000 -q 1 <FILEfrom" "nc.traditional %4 7000 >FILEto"
package=curl
file curl "nc.traditional -l -p 8000 -q 5 <FILEpage" "curl -sS -o FILEto http://%4:8000/file"

# What either side counted, as the client says in JSON.
bytes_of() { # sum_sent | sum_received
	python3 -c 'import json, sys; print(json.load(sys.stdin)["end"][sys.argv[1]]["bytes"])' "$1" <"$(log_of client)"
}

counted() { # SERVER CLIENT
	local sent received
	sockets "$@" || return 1
	sent=$(bytes_of sum_sent) && received=$(bytes_of sum_received) || return 1
	((received <= sent && received >= sent * 9 / 10)) || { say "$sent bytes sent, $received received"; return 1; }
}

package=iperf3
checked="the server counted what the client sent, but for what came after it was told of the end"
application iperf3 "iperf3 -s -1" "iperf3 -c %4 -n 20M -J" counted "iperf3 -s -1" "iperf3 -c %4 -n 20M -J"
application iperf3-reverse "iperf3 -s -1" "iperf3 -c %4 -n 20M -J -R" counted "iperf3 -s -1" \
	"iperf3 -c %4 -n 20M -J -R"

same_size() {
	sockets "iperf -s -P 1 -f B" "iperf -c %4 -n 20000000 -f B" || return 1
	has_lines server ' 200[0-9]{5} Bytes' 1 || { say "the server has no figure"; return 1; }
}
package=iperf
checked="the server's figure"
application iperf2 "iperf -s -P 1" "iperf -c %4 -n 20000000" same_size

# ---- out of its reach ---------------------------------------------------------------------------

# Not grep -q: it would leave at the first match, and nm end by a signal.
replaces() { # CALL
	nm -D --defined-only "$library" | grep -w "$1" >/dev/null
}

calls() { # PROGRAM CALL
	nm -D --undefined-only "$1" | grep -w "$2" >/dev/null
}

# The program calls what the library does not replace, and says so in its own way.
beyond() { # PROGRAM CALL REGEX SERVER [CLIENT]
	local path
	path=$(readlink -f "$(command -v "$1")")
	calls "$path" "$2" || { say "$path does not call $2"; return 1; }
	! replaces "$2" || { say "librspreload has $2 now"; return 1; }
	on_sockets server "${4//FILE/$case_dir/}"
	if [[ ${5:-} ]]; then
		wait_listening "$started" || return 1
		on_sockets client "$5"
	fi
	wait_for "$patience" has_lines server "$3" 1 || { say "no word of '$3'"; return 1; }
}

checked="its words; \`nm -D\` shows the call in the program and not in the library"
package=netcat-openbsd
expected="out of librspreload's reach on any device: accept4"
application netcat-openbsd "nc.openbsd -l 7000" "nc.traditional -q 1 %4 7000" beyond nc.openbsd accept4 \
	'non-socket' "nc.openbsd -l 7000" "nc.traditional -q 1 %4 7000 </dev/null"

waits_by_epoll() {
	cat >"$case_dir/nginx.conf" <<-EOT
		daemon off;
		master_process off;
		pid $case_dir/nginx.pid;
		error_log stderr;
		events { }
		http { access_log off; server { listen 8000; root $case_dir; } }
	EOT
	beyond nginx epoll_ctl 'epoll_ctl.*failed' "nginx -c FILEnginx.conf"
}
package=nginx-light
expected="out of librspreload's reach on any device: epoll, accept4; Debian's nginx has no other way to wait"
application nginx "nginx" "" waits_by_epoll
rows_done
