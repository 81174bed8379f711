#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that connect their QPs without rdma_cm (docs/connect.md): they exchange QP numbers and
# GIDs through Linux's TCP. libibverbs's examples check what they receive with -c.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $control_host ]] || { plan_done && exit 0; }
listens_at=linux

figures='^ *[0-9]+ +[0-9]+ '

# What ends with an error ends soon on both sides, and says which: not by a signal, not by the limit.
fails() { # SERVER CLIENT SIDE REGEX
	local server_job client_job status=0
	start_both "$1" "$2" || return 1
	wait "$server_job" || status=$?
	((status == 1)) || { say "the server $(status_text $status)"; return 1; }
	status=0
	wait "$client_job" || status=$?
	((status == 1)) || { say "the client $(status_text $status)"; return 1; }
	has_lines "$3" "$4" 1 || { say "the $3 did not say '$4'"; return 1; }
}

# A relay between the two programs, which tells the client another number of the server's QP.
misled() {
	local from=$control_port
	control_port=$((from + 1))
	"$root/tests/apps/mislead.py" "$from" "$control_host" "$control_port" &
	jobs+=("$!")
	wait_for "$patience" linux_listening "$from" || { say "the relay does not listen"; return 1; }
	fails "ibv_rc_pingpong -p %p -g 0" "ibv_rc_pingpong -p $from -g 0 %h" "$@"
}

# It takes the patience of the side that has something to send.
control_port=$((control_port + 2))
[[ $transport != memif ]] || beside other_qp misled server 'Failed status'
control_port=$((control_port + 2))

# -n counts the exchanges of all QPs together, and the server goes when it has them: with fewer than QPs it
# would leave some of the client's unanswered.
# NAME, how many lines of figures, then the program and its options: both sides have the same.
while read -r name lines command; do
	[[ $name ]] || continue
	pair "$name" "$command -p %p" "$command -p %p %h" client "$lines" "$figures" server 0 'invalid data'
done <<-EOT
	rc_v4          0   ibv_rc_pingpong -g 0 -c -e -n 200
	rc_v6          0   ibv_rc_pingpong -g 1 -c -e -n 200
	small          0   ibv_rc_pingpong -g 0 -c -s 1 -n 100
	large          0   ibv_rc_pingpong -g 0 -c -s 1048576 -n 20 -e
	few_receives   0   ibv_rc_pingpong -g 0 -c -r 1 -n 100 -e
	ud             0   ibv_ud_pingpong -g 0 -c -n 200
	ud_v6          0   ibv_ud_pingpong -g 1 -c -e -n 200
	ud_send_lat    1   ib_send_lat -F -c UD -n 100
	srq            0   ibv_srq_pingpong -g 0 -e -n 50
	srq_many       0   ibv_srq_pingpong -g 1 -q 64 -n 200 -e
	write_bw       1   ib_write_bw -F -n %n
	write_bw_4     1   ib_write_bw -F -q 4 -s 4096 -n 1000
	write_bw_both  1   ib_write_bw -F -b -n %n -x 1
	write_lat      1   ib_write_lat -F -n 100
	read_bw        1   ib_read_bw -F -q 4 -s 4096 -n 1000
	read_lat       1   ib_read_lat -F -n 100
	send_lat       1   ib_send_lat -F -n 100
	send_lat_e     1   ib_send_lat -F --events -n 100
	atomic_bw      1   ib_atomic_bw -F -b -n 500
	atomic_lat     1   ib_atomic_lat -F -n 100
EOT

# perftest's own mistake: without -R it does not release the credits that it needs on iWARP, and says
# so when all is done.
run_case send_bw fails "ib_send_bw -F -n %n -p %p" "ib_send_bw -F -n %n -p %p %h" client "$figures"
run_case send_bw_4 fails "ib_send_bw -F -q 4 -b -s 4096 -n 1000 -p %p" \
	"ib_send_bw -F -q 4 -b -s 4096 -n 1000 -p %p %h" client "$figures"

# The channel may be rdma_cm, and the QPs still the program's own (-z).
listens_at=stack
pair cm_channel "ib_write_bw -F -z -n %n" "ib_write_bw -F -z -n %n %4" client 1 "$figures"
listens_at=linux

run_case no_gid fails "ibv_rc_pingpong -p %p" "ibv_rc_pingpong -p %p %h" server 'Failed to modify QP to RTR'
tell_beside
plan_done
