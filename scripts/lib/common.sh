# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the commands in scripts/ and by the test programs: where things are, how to say
# things, how to build.

# shellcheck disable=SC2034 # used by the scripts that source this
root=$(CDPATH='' cd -- "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() {
	printf '%s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Where python3 is the script of a version manager, it looks for the real one at each start, for longer
# than most of ours run: that one's directory comes first then.
direct_python() {
	local python begin=''
	python=$(type -P python3) && read -rN 2 begin <"$python" && [[ $begin == '#!' ]] || return 0
	python=$(python3 -c 'import sys; print(sys.executable)') || return 0
	PATH=${python%/*}:$PATH
}
direct_python

is_root() {
	[[ $(id -u) -eq 0 ]]
}

is_alive() { # PID
	kill -0 "$1" 2>/dev/null
}

# Packages of a group, one a line.
packages_of() { # GROUP
	awk -v group="$1" '$1 == group { print $2 }' "$root/scripts/packages"
}

is_installed() { # PACKAGE
	[[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Configure a build directory, unless it is already.
configure() { # DIRECTORY [MESON OPTION...]
	local dir=$1
	shift
	if [[ -e $dir && ! -w $dir ]]; then
		die "$dir is not yours to write to: remove it, or build as its owner"
	fi
	[[ -f $dir/build.ninja ]] || meson setup "$dir" "$root" "$@"
}

# Configure once, then build what changed.
build() { # DIRECTORY [MESON OPTION...]
	configure "$@" && ninja -C "$1"
}

# The same without tests, benchmarks and examples: what a program is run with.
build_product() { # DIRECTORY [MESON OPTION...]
	configure "$@" && ninja -C "$1" product
}

# True as soon as the command is; false when it is not within the seconds. They are counted in looks:
# time in which this machine stood still, or had none for us, is nobody's delay.
wait_for() { # SECONDS COMMAND...
	local looks=$((20 * $1))
	shift
	until "$@"; do
		((looks-- > 0)) || return 1
		sleep 0.05
	done
}

# Why namespaces cannot be made here, or not be entered (in a chroot without a mount point as its root);
# nothing when they can.
why_no_namespaces() {
	local probe=uiw-probe-$$
	if ! is_root; then
		say "needs root"
	elif ! ip netns add "$probe" 2>/dev/null; then
		say "this system does not let us make network namespaces"
	else
		ip netns exec "$probe" true 2>/dev/null ||
			say "this system does not let us enter network namespaces"
		ip netns del "$probe"
	fi
}

# With -h or --help among the arguments: say what stands at the head of the script, and end.
help_if_asked() { # ARGUMENT...
	local word
	for word; do
		[[ $word == -h || $word == --help ]] || continue
		sed -n '3,/^[^#]/ { /^# \{0,1\}/!q; s///p }' "$0"
		exit 0
	done
}
