#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sends and Writes to a program that stands still. By default they complete when TCP has them. With completion = acked
# they do not before the peer's TCP acknowledges: its own program's, or the host's, which acknowledges all the same.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/apps/tls_lib.sh
source "$(dirname "$0")/tls_lib.sh"
[[ $transport == kernel ]] || only_over memif

program=$root/build/tests/apps/acked
by_acks=later
[[ $transport == memif ]] || by_acks=now

completes() { # NAME now|later
	pair "$1" "$program -p 7310" "$program -p 7310 %4 $2" client 1 "^completed $2"
}

as "" ""
completes local now
as "" "--set completion=acked"
completes acked $by_acks

# And programs that know nothing of it.
pair write_bw "ib_write_bw -R -F -a -n 20" "ib_write_bw -R -F -a -n 20 %4" client 23 '^ *[0-9]+ +[0-9]+ '
pair read_bw "ib_read_bw -R -F -s 65536 -n 100" "ib_read_bw -R -F -s 65536 -n 100 %4" client 1 '^ *[0-9]+ +[0-9]+ '
pair send_bw_qps "ib_send_bw -R -F -q 4 -s 4096 -n 1000" "ib_send_bw -R -F -q 4 -s 4096 -n 1000 %4" \
	client 1 '^ *[0-9]+ +[0-9]+ '
as "--set completion=acked" "--set completion=acked"
pair both_rping "rping -s -a %4 -v -C 100 -S 16384" "rping -c -a %4 -v -V -C 100 -S 16384" \
	client 100 'ping data: rdma-ping'
pair both_send_lat "ib_send_lat -R -F --events -s 64 -n 1000" "ib_send_lat -R -F --events -s 64 -n 1000 %4" \
	client 1 '^ *[0-9]+ +[0-9]+ '

only_with_tls
printf 'node:%s\n' 00112233445566778899aabbccddeeff >"$pki/psk"
chmod 600 "$pki/psk"
secret="--set tls=required --set tls_psk=$pki/psk"
as "$secret" "$secret"
completes tls-local now
as "$secret" "$secret --set completion=acked"
completes tls-acked $by_acks
pair tls-write_bw "ib_write_bw -R -F -a -n 10" "ib_write_bw -R -F -a -n 10 %4" client 23 '^ *[0-9]+ +[0-9]+ '
pair tls-rping "rping -s -a %4 -v -C 10 -S 16384" "rping -c -a %4 -v -V -C 10 -S 16384" \
	client 10 'ping data: rdma-ping'
plan_done
