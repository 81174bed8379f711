#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Completions know every command, and every long option of each, and there is a man page for it.
# usage: test_completion.sh UIWARP
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "$0")/../../../scripts/lib/common.sh"
# shellcheck source=tools/completion/uiwarp.bash
source "$root/tools/completion/uiwarp.bash"

uiwarp=$1
mapfile -t commands < <("$uiwarp" help | sed -n '/^Commands:/,$s/^  \([a-z]*\) .*/\1/p')
((${#commands[@]} >= 8)) || die "only ${#commands[@]} commands in the help"

offered() { # WORD...: what is offered for the last one
	COMP_WORDS=("$uiwarp" "$@")
	COMP_CWORD=$#
	_uiwarp
	printf '%s\n' "${COMPREPLY[@]}"
}

expect() { # TEXT, what was offered is on stdin
	grep -xF -e "$1" >/dev/null || die "\"$1\" is not offered"
}

first=$(offered '')
after_help=$(offered help '')
for c in "${commands[@]}"; do
	expect "$c" <<<"$first"
	expect "$c" <<<"$after_help"
	options=$(offered "$c" --)
	while read -r option; do
		expect "$option" <<<"$options"
	done < <("$uiwarp" help "$c" | grep -oE -- '--[a-z][a-z-]*=?' | sort -u)
	man=$root/docs/man/uiwarp-$c.1
	[[ -f $man ]] || die "there is no man page for \"$c\""
	grep "uiwarp-$c.1" "$root/meson.build" >/dev/null || die "the man page for \"$c\" is not installed"
	while read -r option; do
		[[ $option == --help || $option == --usage || $option == --version ]] ||
			sed 's/\\-/-/g' "$man" | grep -F -e "$option" >/dev/null || die "uiwarp-$c.1 lacks $option"
	done < <("$uiwarp" help "$c" | grep -oE -- '^ +(-., )?--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+')
done
offered st | expect stat
[[ $(offered no-such) == '' ]] || die "something is offered for what there is not"
offered ctl 1 log=d | expect log=debug
offered ctl 1 capture_s | expect capture_size=
head -1 "$root/tools/completion/_uiwarp" | expect '#compdef uiwarp'
if command -v zsh >/dev/null; then
	zsh -n "$root/tools/completion/_uiwarp" || die "zsh cannot read its completions"
fi
