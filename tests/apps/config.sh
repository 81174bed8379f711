#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The command line and the configuration: what is wrong is said in one sentence; a program that
# runs under us is otherwise left as it was.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

only_over memif

port="net_memif0,role=server,socket=/tmp/uiw-none,socket-abstract=no"
good=(--set "port=$port" --set "address=10.0.0.1/24")

# Status 2, nothing on stdout, and each of the words on stderr.
refused() { # WORDS UIWARP-ARGUMENT...
	local words=$1 word status=0
	shift
	timeout "$limit" "$uiwarp" run "$@" >"$(log_of stdout)" 2>"$(log_of stderr)" || status=$?
	((status == 2)) || { say "exit status $status, not 2"; return 1; }
	[[ ! -s $(log_of stdout) ]] || { say "something on stdout"; return 1; }
	(($(wc -l <"$(log_of stderr)") == 1)) || { say "not one line on stderr"; return 1; }
	for word in $words; do
		grep -Fq -- "$word" "$(log_of stderr)" || { say "no word of '$word'"; return 1; }
	done
}

in_file() { # WORDS LINE...
	local words=$1
	shift
	printf '%s\n' "$@" >"$case_dir/uiwarp.conf"
	refused "$words uiwarp.conf" --config "$case_dir/uiwarp.conf" -- true
}

# A bad value, and what is right: KEY VALUE WORDS.
while read -r key value words; do
	run_case "value-$key" refused "$key $value expected $words" \
		"${good[@]}" --set "$key=$value" -- true
done <<-EOT
	address             10.0.0.300/24 /24
	gateway             10.0.0.0.1    router
	mtu                 20            576
	mac                 01:02         hexadecimal
	name                7days         letters
	progress            sometimes     auto
	crc                 maybe         preferred
	peer                mlx5          smbdirect
	fpdu                100           segment
	timestamps          maybe         on
	sack                maybe         on
	window_scale        maybe         on
	ecn                 yes           accept
	syn_cookies         on            always
	markers             maybe         on
	mpa_revision        3             6581
	rtr                 shout         write
	congestion_control  hope          newreno
	log                 loud          debug
	send_buffer         1             16K
	receive_buffer      9999G         1023M
	memory              1             8
	interface           eth0          on
	user_timeout        30s           86400000
	zero_window_timeout 1             1000
	keepalive           never         86400000
	startup_timeout     1             100
	max_startups        0             65536
	max_half_open       99999         65536
	settle              99            seconds
	placement           at-once       in-order
	connect_mode        on            rdma_cm
	port_mapper         maybe         required
	connect_port        65536         port
	rnr_timeout         -1            600000
	max_startups_per_peer 0           65536
	max_half_open_per_peer 0          65536
	max_stalled_per_peer many         65536
	tls_handshakes_per_peer -1        65536
	slots               9-1           FIRST-LAST
	capture             /tmp/%{rank}  %{slot}
EOT
run_case unknown-key refused "adress address" "${good[@]}" --set adress=10.0.0.1/24 -- true
run_case no-port refused port --set address=10.0.0.1/24 -- true
run_case no-address refused address --set "port=$port" -- true
run_case no-equals refused "key=value" --set crc -- true
run_case foreign-gateway refused "gateway 10.9.9.9" "${good[@]}" --set gateway=10.9.9.9 -- true
run_case file-value in_file "line 3 mtu big 576" "port = $port" "address = 10.0.0.1/24" "mtu = big"
run_case file-unknown-key in_file "line 2 prot port" "address = 10.0.0.1/24" "prot = x"
run_case quoted refused "address 10.0.0.1/24 without" --set "port=$port" --set 'address="10.0.0.1/24"' -- true
run_case file-quoted in_file "line 1 port without" "port = '$port'" "address = 10.0.0.1/24"
run_case file-twice in_file "line 2 mtu" "mtu = 1500" "mtu = 1500"
run_case no-file refused /nonexistent.conf --config /nonexistent.conf -- true

# A port that cannot be opened: the program runs and finds no device; stderr has the reason.
no_port() { # PORT WORDS
	local word
	timeout "$limit" "$uiwarp" run --set "port=$1" --set address=10.0.0.1/24 -- ibv_devinfo \
		>"$(log_of stdout)" 2>"$(log_of stderr)" && { say "found a device"; return 1; }
	(($(grep -c '^uiwarp: ' "$(log_of stderr)") == 1)) ||
		{ say "not one sentence of ours on stderr"; return 1; }
	for word in $2; do
		grep -Fq -- "$word" "$(log_of stderr)" || { say "no word of '$word'"; return 1; }
	done
}
run_case port-no-driver no_port net_nonesuch0 net_nonesuch0
run_case port-no-server no_port "net_memif0,role=client,socket=/nonexistent/m,socket-abstract=no" \
	net_memif0
run_case port-argument no_port "net_memif0,rol=server" "rol expected role"
run_case port-pair no_port "net_memif0,role" "role NAME=VALUE"
small_files() { # KIB COMMAND...
	(ulimit -f "$1" && shift && "$@")
}
run_case port-file-limit small_files 1000 no_port \
	"net_memif0,role=client,socket=$work/m,socket-abstract=no" "ulimit 1024000 4227328"
run_case port-no-pci no_port 0000:ff:1f.7 DPDK

# The program's own exit status, output, affinity and signals are as without us.
untouched() {
	local probe plain under status=0
	probe='taskset -pc $$ | sed "s/.*: //"; grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status
		echo out; exit 7'
	plain=$(bash -c "$probe") || status=$?
	under=$("$uiwarp" run "${good[@]}" -- bash -c "$probe" 2>"$(log_of stderr)") || status=$?
	((status == 7)) || { say "exit status $status, not 7"; return 1; }
	[[ $under == "$plain" ]] || { say "printed '$under', not '$plain'"; return 1; }
	[[ ! -s $(log_of stderr) ]] || { say "something on stderr"; return 1; }
}
run_case untouched untouched

no_program() {
	local status=0
	"$uiwarp" run "${good[@]}" -- /nonexistent/program 2>"$(log_of stderr)" || status=$?
	((status == 127)) || { say "exit status $status, not 127"; return 1; }
	has_line "$(log_of stderr)" /nonexistent/program || { say "not named"; return 1; }
}
run_case no-program no_program
plan_done
