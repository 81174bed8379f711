#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The product compiles with the headers of newer DPDKs than this system's: of those that newer Debian releases have,
# from the mirror that this system's own package lists name. They are unpacked, not installed, and nothing is linked:
# their libraries want a newer libc. Nothing runs, so nothing is optimised.
#
# usage: tests/dpdk/compile.sh [-o DIRECTORY]
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "$0")/../../scripts/lib/common.sh"
# shellcheck source=scripts/lib/newer.sh
source "$root/scripts/lib/newer.sh"

out=$root/out/test/dpdk
[[ ${1:-} != -o ]] || out=$2
work=$root/out/dpdk
# The newest last.
releases=(trixie forky sid)
number=0
seen=' '

# Fetch the headers of a release. $version is DPDK's, $to where they are.
headers() { # RELEASE
	local package
	to=$work/$1
	mkdir -p "$to"
	newer_lists "$to" deb "$from" "$1" && (cd "$to/apt/got" && newer_apt "$to" download libdpdk-dev) || return 1
	package=$(echo "$to"/apt/got/libdpdk-dev_*.deb)
	[[ -f $package ]] || return 1
	rm -rf "$to/root"
	dpkg-deb -x "$package" "$to/root"
	version=$(sed -n 's/^Version: //p' "$to/root/usr/lib/$triplet/pkgconfig/libdpdk.pc")
}

# What pkg-config tells of them: where they are, and not what to link or what else to want.
describe() {
	local file
	mkdir -p "$to/pkgconfig"
	for file in libdpdk libdpdk-libs; do
		sed -e "s,^prefix=/usr,prefix=$to/root/usr," -e '/^Libs/d' -e '/^Requires.private/d' \
			-e 's/^Requires: libdpdk-libs.*/Requires: libdpdk-libs/' \
			"$to/root/usr/lib/$triplet/pkgconfig/$file.pc" >"$to/pkgconfig/$file.pc"
	done
}

compiled() {
	local dir=$work/build-$version objects
	describe
	rm -rf "$dir"
	PKG_CONFIG_PATH=$to/pkgconfig meson setup "$dir" "$root" -Dtests=false -Doptimization=0
	# Not this system's headers by mistake.
	grep -q "$to/root/usr/include/dpdk" "$dir/compile_commands.json" || return 1
	! grep -q -e '-I/usr/include/dpdk' "$dir/compile_commands.json" || return 1
	mapfile -t objects < <(ninja -C "$dir" -t targets all | sed -n 's/^\(.*\.c\.o\): .*/\1/p')
	((${#objects[@]} > 100)) && ninja -C "$dir" "${objects[@]}"
}

mkdir -p "$out" "$work"
triplet=$(gcc -print-multiarch)
from=$(newer_mirror)
for release in "${releases[@]}"; do
	number=$((number + 1))
	if [[ ! $from || ! -f $keys ]] || ! headers "$release" >"$out/$release.log" 2>&1; then
		say "ok $number - dpdk-of-$release # SKIP its headers cannot be had"
	elif [[ $seen == *" $version "* ]]; then
		say "ok $number - dpdk-of-$release # SKIP it is $version, too"
	elif seen+="$version "; compiled >"$out/$version.log" 2>&1; then
		say "ok $number - dpdk-$version"
	else
		say "not ok $number - dpdk-$version"
		tail -n 25 "$out/$version.log" | sed 's/^/# /'
	fi
done
say "1..$number"
