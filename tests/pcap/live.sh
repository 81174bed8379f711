#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Captures of pcap/corpus over a veth pair to `uiwarp pcap check -i`.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/../apps/lib.sh"
only_over af_packet

# A namespace of its own goes with the last process in it.
live() { # CAPTURE [OPTION...]
	local capture=$root/pcap/corpus/$1
	shift
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -n bash -c '
		ip link add sends type veth peer name listens || exit 1
		for link in sends listens; do
			ip link set "$link" addrgenmode none && ip link set "$link" up || exit 1
		done
		exec "$@"' - "$root/tests/pcap/live.py" "$uiwarp" "$capture" sends listens \
		"$out/$case_name.pcap" "$@"
}
run_case good live ops-rev2.pcapng
run_case terminate live terminate-untagged.pcapng
run_case filter live terminate-tagged.pcapng --filter 'tcp port 7006'

# The room for what is kept ends within a record: the file ends before it.
full() {
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -mn bash -c '
		mount -t tmpfs -o size=64k none /mnt && ip link set lo up || exit 1
		"$1" pcap show -i lo -w /mnt/kept.pcap --duration 100 2>/mnt/said &
		until grep -q "room for" /mnt/said || ! kill -0 $!; do
			head -c 1000 /dev/zero >/dev/udp/127.0.0.1/9
		done 2>/dev/null
		kill -INT $!
		wait $!
		[[ $? == 2 ]] && "$1" pcap show /mnt/kept.pcap' - "$uiwarp"
}
run_case full full

# Who reads what it prints stands still: who insists has it ended.
unread() {
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -n bash -c '
		ip link set lo up && mkfifo "$2" "$2.never" && exec 4<>"$2" 5<>"$2.never" || exit 1
		dd if=/dev/zero of="$2" oflag=nonblock bs=1 status=none 2>/dev/null
		"$1" pcap check -i lo >&4 2>"$2.said" &
		until grep -q "capturing on" "$2.said" || ! kill -0 $!; do :; done
		while kill -INT $!; do read -r -t 0.1 -u 5; done 2>/dev/null
		wait $!
		[[ $? == 130 ]]' - "$uiwarp" "$case_dir/unread"
}
run_case unread unread

# The end of --duration ends no report, before a signal or after the first; who insists has it ended.
late() {
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -n bash -c '
		ip link set lo up && mkfifo "$2" "$2.never" && exec 4<>"$2" 5<>"$2.never" || exit 1
		dd if=/dev/zero of="$2" oflag=nonblock bs=1 status=none 2>/dev/null
		"$1" pcap check -i lo >&4 2>"$2.said" &
		until grep -q "capturing on" "$2.said" || ! kill -0 $!; do :; done
		for signal in ALRM INT ALRM; do
			kill -$signal $! || exit 1
			for ((i = 0; i < 25; i++)); do read -r -t 0.1 -u 5; done
		done
		kill -0 $! || exit 1
		while kill -INT $!; do read -r -t 0.1 -u 5; done 2>/dev/null
		wait $!
		[[ $? == 130 ]]' - "$uiwarp" "$case_dir/late"
}
run_case late late

# One clear sentence, and what is there stays as it is.
refused() { # SENTENCE OPTION...
	local sentence=$1 status=0
	shift
	"$uiwarp" pcap check "$@" >"$(log_of server)" 2>"$(errors_of server)" || status=$?
	((status == 2)) || { say "exit status $status, not 2"; return 1; }
	grep -q "$sentence" "$(errors_of server)"
}
run_case no-interface refused 'No such device exists' -i nonesuch0
run_case bad-filter refused 'the filter' -i lo --filter 'tcp port'
run_case no-file refused 'No such file' -i lo -w /nonexistent/file
plan_done
