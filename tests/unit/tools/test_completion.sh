#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Completions know every command, every long option of each and every key, and there is a man page for it.
# usage: test_completion.sh UIWARP
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "$0")/../../../scripts/lib/common.sh"
# shellcheck source=tools/completion/uiwarp.bash
source "$root/tools/completion/uiwarp.bash"

uiwarp=$1
mapfile -t commands < <("$uiwarp" help | sed -n '/^Commands:/,$s/^  \([a-z]*\) .*/\1/p')
((${#commands[@]} >= 8)) || die "only ${#commands[@]} commands in the help"

# As the shell has them: "=" is a word of its own.
offered() { # WORD...: what is offered for the last one
	COMP_WORDS=("$uiwarp" "$@")
	COMP_CWORD=$#
	_uiwarp
	printf '%s\n' "${COMPREPLY[@]}"
}

# All long options, once for each.
options_of() { # COMMAND...
	"$uiwarp" "$@" --help | grep -oE -- '--[a-z][a-z-]*=?' | sort -u
}

expect() { # TEXT, what was offered is on stdin
	grep -xF -e "$1" >/dev/null || die "\"$1\" is not offered"
}

first=$(offered '')
after_help=$(offered help '')
for c in "${commands[@]}"; do
	expect "$c" <<<"$first"
	expect "$c" <<<"$after_help"
	diff <(options_of "$c") <(offered "$c" --) || die "not all options of \"$c\" are offered"
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
for c in "tcp "{source,sink,echo,pingpong} "pcap "{check,show,stats,replay}; do
	# shellcheck disable=SC2086 # two words
	diff <(options_of $c) <(offered $c --) || die "not all options of \"$c\" are offered"
done
offered ctl 1 log = d | expect debug
offered ctl 1 log = | expect debug
offered ctl 1 capture_s | expect capture_size=

mapfile -t keys < <("$uiwarp" help keys | sed -n 's/^  \([a-z_]*=\).*/\1/p')
((${#keys[@]} >= 40)) || die "only ${#keys[@]} keys in the help"
for c in run doctor 'tcp sink'; do
	# shellcheck disable=SC2086 # one word or two
	diff <(printf '%s\n' "${keys[@]}" | sort) <(offered $c --set '' | sort) || die "not all keys are offered to \"$c\""
done
offered run --set = lo | expect log=
offered run -s log = w | expect warning
offered run --set = log = w | expect warning
offered tcp sink --cc = b | expect bbr
# Files; and what follows the program is not ours.
for words in "run --config f" "run --config = f" "run -s log=debug -- true --" "run true --" "stat --interval = 1"; do
	# shellcheck disable=SC2086 # words
	[[ $(offered $words) == '' ]] || die "something is offered after \"$words\""
done

# A process runs, so to speak.
running=$(mktemp -d)
trap 'rm -rf "$running"' EXIT
cat >"$running/uiwarp" <<END
#!/bin/bash
[[ \$1 != stat || \$# -gt 1 ]] || { echo " PID PROGRAM QP" && printf '%s\n' " 4711 rping 131073" " 4711.10 rping 131074" " 4711.2 rping 131075" && exit; }
exec "$uiwarp" "\$@"
END
chmod +x "$running/uiwarp"
uiwarp=$running/uiwarp
offered stat --follow = 1 | expect 131073
offered plot --qp '' | expect 131073
offered plot --pid = | expect 4711
# Other stacks of the process are as good as it.
[[ $(offered stat --pid = | tr '\n' ' ') == '4711 4711.2 4711.10 ' ]] || die "not all stacks are offered"
head -1 "$root/tools/completion/_uiwarp" | expect '#compdef uiwarp'

# zsh's offers the same; what it would show with them, its own functions, is replaced.
command -v zsh >/dev/null || exit 0

zsh_offered() { # WORD...: what zsh offers for the last one
	# shellcheck disable=SC2016 # expanded by zsh
	zsh -f -c 'compadd() { ((${argv[(i)--]} == $#)) || print -l -- ${argv[$((${argv[(i)--]} + 1)),-1]} }
		_describe() { print -l -- ${${(P)2}%%:*} }
		_files() { print a file }
		_default() { print a file }
		_command_names() { print a program }
		_normal() { print normal: $words }
		compset() {}
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
for c in stat top; do same "$c" ''; done
same stat --follow ''
same run --set ''
same tcp sink -C ''
for c in {source,sink,echo,pingpong}; do same tcp "$c" --; done
for c in {check,show,stats,replay}; do same pcap "$c" --; done
for c in "${commands[@]}"; do same "$c" --; done
same tcp ''
same pcap ''
zsh_offered ctl 1 '' | expect log=debug
zsh_offered ctl 1 '' | expect capture_size=
zsh_offered run '' | expect 'a program'
zsh_offered run --set log=w | expect log=warning
zsh_offered run --set=log=w | expect --set=log=warning
zsh_offered run --config '' | expect 'a file'
zsh_offered run --config=f | expect 'a file'
zsh_offered run -s log=debug -- rping -a x | expect 'normal: rping -a x'
zsh_offered plot '' | expect 'a file'
