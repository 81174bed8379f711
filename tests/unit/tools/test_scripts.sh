#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a person meets first in scripts/: -h everywhere, and a reason where namespaces cannot be had.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "$0")/../../../scripts/lib/common.sh"

expect() { # WHAT EXPECTED FOUND
	[[ $2 == "$3" ]] || die "$1: expected '$2', found '$3'"
}

# Each tells its usage and does nothing else.
for script in bench changelog conformance decode demo setup tcp-tests test; do
	for option in -h --help; do
		text=$("$root/scripts/$script" "$option") || die "$script $option ends with status $?"
		[[ $text == *usage:*"$script"* ]] || die "$script $option does not tell the usage"
		[[ $text != *"set -euo"* ]] || die "$script $option prints more than its head"
	done
done

# With CDPATH exported, as some have it, a plain cd may go elsewhere and say where it went.
for elsewhere in "$root" .; do
	expect "the root with CDPATH=$elsewhere" "$root" \
		"$(cd "$root" && CDPATH=$elsewhere bash -c 'source scripts/lib/common.sh && say "$root"')"
done
found=$(grep -rnIE '([$][(]|^)cd "[$][(]dirname' "$root"/{.ci,bench,interop,scripts,tests} || true)
expect "a cd that asks CDPATH" "" "$found"

# A system on which `ip netns` fails at one of its steps.
fails=
is_root() { true; }
ip() { [[ $2 != "$fails" ]]; }

expect "namespaces that work" "" "$(why_no_namespaces)"
fails=add
expect "none can be made" "this system does not let us make network namespaces" "$(why_no_namespaces)"
fails="exec"
expect "none can be entered" "this system does not let us enter network namespaces" "$(why_no_namespaces)"
is_root() { false; }
expect "not root" "needs root" "$(why_no_namespaces)"

# An order to a guest that has ended does not wait for it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
limit=60 patience=60
# shellcheck source=scripts/lib/guest.sh
source "$root/scripts/lib/guest.sh"
mkfifo "$work"/control.{in,out}
true &
guest_job=$!
wait "$guest_job"
expect "an order to a guest that has ended" "the guest does not answer" "$(guest control end)"
