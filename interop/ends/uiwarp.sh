# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the ends that are uiwarp: what they do in each case, with tests/interop/probe.
set -euo pipefail
build=${UIWARP_BUILD:-$(dirname "${BASH_SOURCE[0]}")/../../build}

# What probe does, and what it must have said: a line a demand, COUNT REGEX.
listen=() connect=() keys=() server_says='' client_says=''
case $TESTCASE in
send | crc-off | port-mapper)
	connect=(act=send size=3000 count=4)
	server_says='4 received: 3000 bytes right' client_says='4 completion: success'
	;;
write | revision-1)
	connect=(act=write size=60000 count=2)
	server_says='1 buffer: right' client_says='2 completion: success'
	;;
read)
	connect=(act=read size=60000 count=2)
	server_says='1 buffer: right' client_says='1 read: right'
	;;
reject)
	listen=(act=reject data=no)
	server_says='1 request:' client_says='1 rejected: .*"no'
	;;
wrong-stag)
	connect=(act=write key=0x5500 hold)
	server_says='1 queue pair: down' client_says='1 queue pair: down'
	;;
bad-crc)
	[[ $ROLE == server ]] || exit 127
	server_says='1 queue pair: down'
	;;
*) exit 127 ;;
esac
case $TESTCASE in
crc-off) keys+=(--set crc=off) ;;
revision-1) keys+=(--set mpa_revision=1) ;;
port-mapper) [[ $ROLE == server ]] || keys+=(--set port_mapper=required) ;;
esac

said() { # COUNT REGEX
	local n
	n=$(grep -cE "^$2" "$LOGS/probe.log" || true)
	((n >= $1)) || { echo "probe said '$2' $n times, not $1" >&2; exit 1; }
}

run_probe() { # SETTING...
	local says=$client_says arguments=(connect "$PEER" "$PORT" "${connect[@]}")
	if [[ $ROLE == server ]]; then
		says=$server_says arguments=(listen "$ADDRESS" "$PORT" "${listen[@]}")
	fi
	"$build/tools/uiwarp" run "$@" "${keys[@]}" --set log=info -- "$build/tests/interop/probe" "${arguments[@]}" 2>"$LOGS/stack.log" |
		tee "$LOGS/probe.log" | sed -u 's/^listening$/ready/'
	# shellcheck disable=SC2086 # a count and a regex
	said ${says%% *} "${says#* }"
}
