#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What scripts/names says of a tree in which names are wrong, and that it says nothing of a good one.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "$0")/../../../scripts/lib/common.sh"

ctags --version 2>/dev/null | grep -q '^Universal Ctags' || exit 77 # meson: skipped

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/queue" "$tree/list"

write() { # FILE TEXT
	printf '%s\n' "$2" >"$tree/$1"
}

write queue/queue.c 'static int queue_count;
static const struct { int n; } queue_limits = {1};
int queue_add(void) { return queue_count + queue_limits.n; }'
write list/list.c '#include "list.h"
static int list_find(void);
static int list_find(void) { return 0; }
int list_first(void) { return list_find(); }'
write list/list.h 'int list_first(void);
static inline int list_last(void) { return 0; }'
"$root/scripts/names" "$tree" || die "a tree with good names is refused"

refused() { # FILE TEXT EXPECTED
	local said status=0
	write "$1" "$2"
	said=$("$root/scripts/names" "$tree") || status=$?
	rm "$tree/$1"
	[[ $status == 1 ]] || die "$3: status $status"
	[[ $said == *"$3"* && $(wc -l <<<"$said") == 1 ]] || die "expected '$3', found '$said'"
}

refused queue/short.c 'static int find(void) { return 0; }' \
	"short.c:1: static function 'find' lacks its module's prefix (one of: queue_, short_)"
refused queue/other.c 'static int list_next;' "static variable 'list_next' lacks its module's prefix"
refused queue/shape.c 'static struct {
	int n;
} shape = {1};' "shape.c:3: static variable 'shape' lacks its module's prefix"
refused queue/twice.c 'static int queue_add(void) { return 0; }' \
	"'queue_add' is also the name of a function in $tree/queue/queue.c:3"
refused list/twin.c 'int list_last(void) { return 0; }' "'list_last' is also the name of a function"
