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

# zsh's offers the same; what it would show with them, its own functions, is replaced.
command -v zsh >/dev/null || exit 0

zsh_offered() { # WORD...: what zsh offers for the last one
	# shellcheck disable=SC2016 # expanded by zsh
	zsh -f -c 'compadd() { print -l -- ${argv[$((${argv[(i)--]} + 1)),-1]} }
		_describe() { print -l -- ${${(P)2}%%:*} }
		_files() { print a file }
		_default() { print a file }
		_command_names() { print a program }
		completions=$1 && shift && words=("$@") CURRENT=$# && source $completions' \
		zsh "$root/tools/completion/_uiwarp" "$uiwarp" "$@"
}

same() { # WORD...: both shells offer
	diff <(offered "$@" | grep -vx -e --help -e --version | sort -u) \
		<(zsh_offered "$@" | grep -vx -e --help -e --version | sort -u) ||
		die "bash (<) and zsh (>) do not offer the same after \"$*\""
}

same ''
same help ''
for c in "${commands[@]}"; do same "$c" --; done
same tcp ''
same pcap ''
zsh_offered ctl 1 '' | expect log=debug
zsh_offered ctl 1 '' | expect capture_size=
zsh_offered run '' | expect 'a program'
zsh_offered plot '' | expect 'a file'
