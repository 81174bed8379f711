# shellcheck shell=bash disable=SC2034 # for its users
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the ends that run tests/interop/probe: what it does in each case, what it must have said, and what
# the stack below is asked for.

# A line a demand: COUNT REGEX.
listen=() connect=() server_says='' client_says=''
down='1 queue pair: down'

case $TESTCASE in
send | send-se | crc-off | markers | rtr-* | tls | port-mapper)
	connect=(act=send size=3000 count=4)
	[[ $TESTCASE != send-se ]] || connect+=(solicited)
	server_says='4 received: 3000 bytes right' client_says='4 completion: success'
	;;
send-inv | send-se-inv)
	connect=(act=invalidate size=3000)
	[[ $TESTCASE != send-se-inv ]] || connect+=(solicited)
	server_says='1 received: 3000 bytes right invalidating' client_says='1 completion: success'
	;;
write | revision-1)
	connect=(act=write size=60000 count=2)
	server_says='1 buffer: right' client_says='2 completion: success'
	;;
loss)
	connect=(act=write size=60000 count=200)
	server_says='1 buffer: right' client_says='200 completion: success'
	;;
read)
	connect=(act=read size=60000 count=2)
	server_says='1 buffer: right' client_says='1 read: right'
	;;
depths)
	connect=(act=read size=1000 count=12 ird=3 ord=5 burst)
	listen=(ird=8 ord=8)
	server_says='1 buffer: right' client_says='1 read: right'
	;;
immediate)
	connect=(act=immediate size=60000 count=2)
	server_says='2 received: immediate data 0x5eed0001' client_says='2 completion: success'
	;;
fetch-add | compare-swap)
	connect=("act=$TESTCASE" count=4) listen=(rights=rwa)
	[[ $TESTCASE == fetch-add ]] || connect=("act=$TESTCASE" count=3)
	server_says='1 buffer: right' client_says='2 found: right'
	;;
reject)
	listen=(act=reject data=no)
	server_says='1 request:' client_says='1 rejected: .*"no'
	;;
wrong-stag) connect=(act=write key=0x5500 hold) ;;
beyond) connect=(act=write offset=65530 hold) ;;
read-wrong-stag) connect=(act=read key=0x5500 hold) ;;
read-beyond) connect=(act=read offset=65530 hold) ;;
read-no-right) connect=(act=read hold) listen=(rights=w) ;;
no-receive) connect=(act=send hold) listen=(receives=0) ;;
too-long) connect=(act=send size=20000 hold) ;;
bad-*) [[ $ROLE == server ]] || exit 127 ;;
*) exit 127 ;;
esac
# The cases of errors, of which either end learns by its end.
[[ $server_says ]] || { server_says=$down client_says=$down; }

said() { # COUNT REGEX
	local n
	n=$(grep -cE "^$2" "$LOGS/probe.log" || true)
	((n >= $1)) || { echo "probe said '$2' $n times, not $1" >&2; return 1; }
	! grep -nE '^(received|found): .*WRONG' "$LOGS/probe.log" >&2
}

# COMMAND runs probe and prints what it says.
run_probe() { # COMMAND...
	local says=$client_says arguments=(connect "$PEER" "$PORT" "${connect[@]}")
	if [[ $ROLE == server ]]; then
		says=$server_says arguments=(listen "$ADDRESS" "$PORT" "${listen[@]}")
	fi
	"$@" "${arguments[@]}" | tee "$LOGS/probe.log" | sed -u 's/^listening$/ready/' || return 1
	# shellcheck disable=SC2086 # a count and a regex
	said ${says%% *} "${says#* }"
}
