# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Sourced after common.sh by what takes single packages of a newer Debian release, from the mirror that
# this system's own package lists name. Nothing is installed: the system's lists and cache stay as
# they are.

keys=/usr/share/keyrings/debian-archive-keyring.gpg

# Where this system's own packages come from.
newer_mirror() {
	# shellcheck disable=SC2016 # apt's own words
	apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
		awk '$1 == "Debian" && $2 == "main" && $3 !~ /-/ { print $4; exit }'
}

# apt-get with lists and a cache of its own.
newer_apt() { # DIRECTORY COMMAND...
	local apt=$1/apt
	shift
	apt-get -q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State="$apt/state" -o Dir::Cache="$apt/cache" \
		-o APT::Sandbox::User="$(id -un)" "$@"
}

# Begin without lists, with one release as their source.
newer_begin() { # DIRECTORY deb|deb-src MIRROR RELEASE
	rm -rf "$1/apt"
	mkdir -p "$1"/apt/{state/lists,cache/archives,got}/partial
	say "$2 [signed-by=$keys] $3 $4 main" >"$1/apt/sources.list"
}

# The same, and its lists, checked against Debian's keys.
newer_lists() { # DIRECTORY deb|deb-src MIRROR RELEASE
	newer_begin "$@"
	newer_apt "$1" update
}
