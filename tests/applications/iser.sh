#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# iSER (RFC 7145): a disk of tgt's, and libiscsi as the initiator, by itself and in qemu-img. The target has iSCSI
# over Linux's TCP beside, which gets an address of no use here. It admits initiators that both address and name admit.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=tgt
target=iqn.2001-04.com.example:disk
initiator=iqn.2001-04.com.example:initiator
bytes=$((8 << 20))

on_target() { # OPERATION MODE OPTION...
	tgtadm --lld iser --op "$1" --mode "$2" --tid 1 "${@:3}" || { say "tgtadm cannot $1 the $2"; return 1; }
}

serve_disk() {
	export TGT_IPC_SOCKET=$case_dir/tgt
	random_file "$case_dir/disk" "$bytes"
	start server tgtd -f --iscsi "portal=127.0.0.1:$control_port"
	wait_listening "$started" || return 1
	on_target new target -T "$target" || return 1
	on_target new logicalunit --lun 1 -b "$case_dir/disk" || return 1
	on_target bind target -I ALL || return 1
	on_target bind target -Q "$initiator"
}

initiate() { # COMMAND...
	start client "$@"
	finish client "$started"
}

asked() { # REGEX COMMAND
	local words
	read -ra words <<<"$(expand "$2")"
	serve_disk || return 1
	initiate "${words[@]}" || return 1
	has_lines client "$1" 1 || { say "no line of the client matches '$1'"; return 1; }
}

ask() { # NAME REGEX COMMAND
	application "$1" "tgtd -f" "$3" asked "$2" "$3"
}

# libiscsi's iSER takes no request above 512 KiB, and qemu-img makes them larger unless blkdebug cuts them.
disk=driver=raw,file.driver=blkdebug,file.max-transfer=262144,file.image.driver=iscsi,file.image.transport=iser
disk+=,file.image.portal=%4:3260,file.image.target=$target,file.image.lun=1,file.image.initiator-name=$initiator

copied_to() {
	serve_disk || return 1
	random_file "$case_dir/file" "$bytes"
	initiate qemu-img convert -n -f raw --target-image-opts "$case_dir/file" "$(expand "$disk")" || return 1
	same_files "$case_dir/file" "$case_dir/disk"
}

copied_from() {
	serve_disk || return 1
	initiate qemu-img convert --image-opts -O raw "$(expand "$disk")" "$case_dir/file" || return 1
	same_files "$case_dir/file" "$case_dir/disk"
}

checked="what the disk says of itself"
ask inquiry 'Vendor:IET' "iscsi-inq -i $initiator iser://%4:3260/$target/1"
ask capacity "Total size:$bytes" "iscsi-readcapacity16 -i $initiator iser://%4:3260/$target/1"
checked="its exit status and its words"
expected="refused by the tool: it takes iscsi:// only (libiscsi's other tools take iser://)"
ls_of_iser="iscsi-ls iser://%4:3260"
application ls "" "$ls_of_iser" refuses client "$ls_of_iser" "must specify iscsi target portal"
expected=
package=qemu-block-extra
checked="the file is compared with the one behind the disk"
application copy-to "tgtd -f" "qemu-img convert -n -f raw --target-image-opts FILE $disk" copied_to
application copy-from "tgtd -f" "qemu-img convert --image-opts -O raw $disk FILE" copied_from
rows_done
