#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# fio's rdma engine: a side that is written to and one that writes or reads. Its connections go one way
# only, it says itself ("must be read OR write"), so there is no randrw in one job.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=fio
size=2m
common="fio --ioengine=rdma --name=job --port=7200 --size=$size --bs=64k"

has_engine() {
	fio --enghelp | grep -w rdma >/dev/null
}
checked="fio --enghelp"
application engine "" "fio --enghelp" has_engine

# fio writes the state of a verification into its directory.
fio_pair() { # SERVER-OPTIONS CLIENT-OPTIONS
	local status=0
	cd "$case_dir"
	exchange "$common $1" "$common --hostname=%4 $2" client 1 'err= 0' server 1 'err= 0' || status=$?
	cd "$root"
	return $status
}

job() { # NAME SERVER-OPTIONS CLIENT-OPTIONS
	application "$1" "$common $2" "$common --hostname=%4 $3" fio_pair "$2" "$3"
}

checked="both ends without error; memory is written and read unseen by its owner"
job write "--thread --rw=read --iodepth=8" "--thread --verb=write --rw=write --iodepth=8"
job read "--thread --rw=read --iodepth=8" "--thread --verb=read --rw=write --iodepth=8"
# Each job a process of its own, which ends by _exit() as soon as it has posted its last message.
job write-process "--rw=read --iodepth=8" "--verb=write --rw=write --iodepth=8"
job read-process "--rw=read --iodepth=8" "--verb=read --rw=write --iodepth=8"
checked="its exit status and its words"
while read -r direction regex; do
	expected="refused by fio's engine: \"$regex\""
	application "$direction" "" "$common --hostname=%4 --thread --rw=$direction" \
		refuses client "$common --hostname=%4 --thread --rw=$direction" "$regex"
done <<-EOT
	rw        must be read OR write
	randrw    must be read OR write
	randread  can't be random
	randwrite can't be random
EOT
expected=
checked="the receiver verifies the pattern in each block"
job verify "--thread --rw=read --iodepth=8 --verify=pattern --verify_pattern=0x5ca1ab1e" \
	"--thread --verb=send --rw=write --iodepth=8 --verify=pattern --verify_pattern=0x5ca1ab1e --do_verify=0"
rows_done
