#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# fio's rdma engine: a side that is written to and one that writes or reads. Its connections go one way
# only, it says itself ("must be read OR write"), so there is no randrw in one job.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=fio
size=2m

has_engine() {
	fio --enghelp | grep -qw rdma
}
checked="fio --enghelp"
application engine "" "fio --enghelp" has_engine

fio_pair() { # SERVER-OPTIONS CLIENT-OPTIONS
	cd "$case_dir"
	exchange "fio --ioengine=rdma --name=job --port=7200 --size=$size --bs=64k $1" \
		"fio --ioengine=rdma --name=job --port=7200 --size=$size --bs=64k --hostname=%4 $2" \
		client 1 'err= 0' server 1 'err= 0'
}

job() { # NAME SERVER-OPTIONS CLIENT-OPTIONS
	local common="fio --ioengine=rdma --name=job --port=7200 --size=$size --bs=64k"
	application "$1" "$common $2" "$common --hostname=%4 $3" fio_pair "$2" "$3"
}

checked="both ends without error; memory is written and read unseen by its owner"
job write "--thread --rw=read --iodepth=8" "--thread --verb=write --rw=write --iodepth=8"
job read "--thread --rw=read --iodepth=8" "--thread --verb=read --rw=write --iodepth=8"
# Each job a process of its own, which ends by _exit() as soon as it has posted its last message.
job write-process "--rw=read --iodepth=8" "--verb=write --rw=write --iodepth=8"
job read-process "--rw=read --iodepth=8" "--verb=read --rw=write --iodepth=8"
expected="refused by fio's engine: its network jobs cannot be random"
checked="its exit status and its words"
random_job="fio --ioengine=rdma --name=job --port=7200 --size=$size --bs=64k --hostname=%4 --thread --rw=randwrite"
application random "" "$random_job" refuses client "$random_job" "can't be random"
expected=
checked="the receiver verifies the pattern in each block"
job verify "--thread --rw=read --iodepth=32 --verify=pattern --verify_pattern=0x5ca1ab1e" \
	"--thread --verb=send --rw=write --iodepth=8 --verify=pattern --verify_pattern=0x5ca1ab1e --do_verify=0"
plan_done
