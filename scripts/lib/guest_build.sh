# shellcheck shell=bash disable=SC2154 # the builder says where
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the builders of guests (tests/*/guest/build), which say first
#
#     guest=DIRECTORY     of the result: vmlinuz, initrd, and what they are made of
#     here=DIRECTORY      of the guest's own begin and orders, see scripts/lib/guest
#
# A guest is a Debian kernel and an initramfs of busybox, modules, programs and their libraries.

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tree=$guest/tree
libraries=usr/lib/x86_64-linux-gnu
guest_common=$root/scripts/lib/guest

# Run a step unless its result stands and came from the same inputs: files and words.
step() { # FUNCTION FILE-OR-WORD...
	local stamp=$guest/$1.stamp input sum
	sum=$({
		declare -f "$1"
		for input in "${@:2}"; do
			if [[ -f $input ]]; then sha256sum <"$input"; else say "$input"; fi
		done
	} | sha256sum)
	[[ -f $stamp && $(<"$stamp") == "$sum" ]] && return
	rm -f "$stamp"
	"$1"
	say "$sum" >"$stamp"
}

# Not installed: a kernel image would become part of how this machine boots.
guest_kernel() { # RELEASE VERSION
	rm -rf "$guest/kernel"
	mkdir -p "$guest/kernel"
	(cd "$guest/kernel" && apt-get -q -o APT::Sandbox::User="$(id -un)" download "linux-image-$1=$2")
	dpkg -x "$guest"/kernel/*.deb "$guest/kernel"
	rm "$guest"/kernel/*.deb
	cp "$guest/kernel/boot/vmlinuz-$1" "$guest/vmlinuz"
}

add_libraries_of() { # FILE
	local library
	ldd "$1" 2>/dev/null | grep -oE '/[^ ]+' | while read -r library; do
		[[ -e $tree/$libraries/${library##*/} ]] || cp -L "$library" "$tree/$libraries/"
	done
}

# A module behind those that it needs; their order goes to a file.
add_module() { # NAME
	local file needed name=${1//_/[-_]}
	file=$(find "$guest/kernel/lib/modules" \( -name "$name.ko" -o -name "$name.ko.xz" \) -print -quit)
	[[ $file ]] || return 0 # built in
	if [[ $file == *.xz ]]; then # busybox does not load those
		xz -d "$file"
		file=${file%.xz}
	fi
	grep -qsx "${file##*/}" "$tree/modules/order" && return 0
	for needed in $(modinfo -F depends "$file" | tr ',' ' '); do
		add_module "$needed"
	done
	cp "$file" "$tree/modules/"
	say "${file##*/}" >>"$tree/modules/order"
}

add_program() { # NAME-OR-FILE
	local program
	program=$(command -v "$1") || die "$1 is missing: run scripts/setup"
	cp -L "$program" "$tree/usr/bin/"
	add_libraries_of "$program"
}

# The tree with what every guest has: busybox, init and the agent.
tree_begin() {
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,sbin,proc,sys,dev,tmp,etc/libibverbs.d,modules,lib,lib64} \
		"$tree/usr/bin" "$tree/$libraries/libibverbs"
	ln -s "../$libraries" "$tree/lib/x86_64-linux-gnu"
	cp /bin/busybox "$tree/bin/"
	ln -s busybox "$tree/bin/sh"
	cp "$guest_common/init" "$guest_common/agent" "$here/begin" "$here/orders" "$tree/"
	cp -L /lib64/ld-linux-x86-64.so.2 "$tree/lib64/"
	cp -L "/$libraries/libgcc_s.so.1" "$tree/$libraries/" # threads load it when they end
}

tree_pack() {
	(cd "$tree" && find . -print0 | cpio -0 -o -H newc --owner 0:0 --quiet | gzip -1) >"$guest/initrd"
}

mkdir -p "$guest"
