#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The TCP library as others get it: installed, found by pkg-config, its header read by C and C++.
# usage: installed.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
meson install -C "$build" --no-rebuild --quiet --destdir "$at" >"$at/log" 2>&1 || { cat "$at/log"; exit 1; }
pc=$(find "$at" -name uiwarp-tcp.pc)
lib=$(dirname "$(find "$at" -name libuiwarp-tcp.so)")
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$at
read -ra flags < <(pkg-config --cflags --libs uiwarp-tcp)
for cc in 'cc -std=c11' 'c++ -std=c++11 -x c++'; do
	read -ra cc <<<"$cc"
	"${cc[@]}" -D_DEFAULT_SOURCE -Wall -Wextra -Werror -o "$at/outsider" "$source/outsider.c" "${flags[@]}"
	LD_LIBRARY_PATH=$lib "$at/outsider"
done
