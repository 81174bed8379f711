#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A seed that fails is the same each time, and a shorter program is found that fails alike. What
# fails here is the checker's own doing: it loses completions.
#
# usage: replay.sh VOPR
set -euo pipefail

vopr=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

die() {
	printf '%s\n' "$*" >&2
	exit 1
}

# What a run says, but for the time that it took.
run() { # NAME OPTION...
	local status=0
	"$vopr" --seed 1 --steps 400 --pcap "$dir/$1.pcapng" "${@:2}" >"$dir/all" || status=$?
	sed 's/, in [0-9.]* s$//' "$dir/all" >"$dir/$1"
	return "$status"
}

packets() { # NAME
	[[ $(head -c 4 "$dir/$1.pcapng" | od -An -tx1) == " 0a 0d 0d 0a" ]] || die "$1.pcapng is no capture"
	stat -c %s "$dir/$1.pcapng"
}

run good --trace || die "it fails by itself: $(tail -n 2 "$dir/good")"

# Again: the same trace and the same packets, to the nanosecond.
for name in once again; do
	! run "$name" --deliberate --trace || die "completions are lost, and nobody notices"
done
cmp "$dir/once" "$dir/again"
cmp "$dir/once.pcapng" "$dir/again.pcapng"
wrong=$(grep -m 1 -oP '^seed 1: \K.*' "$dir/once")
grep -q '^ *[0-9.]*  host [01]: qp . posts ' "$dir/once" || die "the trace tells of no request"
(($(packets once) > 1000)) || die "the capture is empty"

# Shorter, and the same sentence but for its numbers.
! run short --deliberate --shrink || die "the same seed is well now"
read -r left all < <(sed -n 's/^seed 1: \([0-9]*\) of \([0-9]*\) steps do it.*/\1 \2/p' "$dir/short")
((left > 1 && left < all / 10)) || die "$left of $all steps are left"
words() {
	printf '%s\n' "${1//[0-9a-fx]/}"
}
grep -oP '^ *[0-9.]+  \Khost .*' "$dir/short" | tr -d '0-9a-fx' | grep -xF -- "$(words "$wrong")" >"$dir/found" ||
	die "the short program has another fault than '$wrong'"
(($(packets short) < $(packets once))) || die "the short program sends no less"

# Time is processor time, and ends a run of many seeds; how many it has been is the machine's affair.
"$vopr" --seeds 1:1000000 --steps 50 --time 1 >"$dir/some"
seeds=$(grep -oP '^\d+(?= seeds, 0 wrong)' "$dir/some")
((seeds > 0 && seeds < 1000000)) || die "$seeds seeds in a second"
