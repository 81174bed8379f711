#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Keys of IKE as docs/security.md has them: its commands and strongSwan's configuration, taken from the page and run as they
# stand there, but for addresses and the link's name, in the guest, which has strongSwan as Debian's packages do. Opposite
# is Linux's siw under SAs of its own daemon, which has the same configuration the other way round.
# shellcheck source=tests/interop/ike_lib.sh
source "$(dirname "$0")/ike_lib.sh"
keeper_file=/etc/uiwarp/ipsec more=' flag esn'

# The lines of code of the page's part.
recipe() {
	sed -n '/^### Keys of IKE$/,/^#/s/^    //p' "$root/docs/security.md"
}

commands_of_page() {
	recipe | sed '/^connections/,$d'
}

configuration_of_page() { # OUR-ADDRESS THEIRS
	recipe | sed -n "/^connections/,\$p" | sed "s/10\.0\.0\.1/OURS/; s/10\.0\.0\.2/$2/; s/OURS/$1/"
}

# What the page says of a peer that is Linux itself.
commands_for_linux() {
	# shellcheck disable=SC2016 # of the page
	sed -n 's/^.*`\(ip rule add to 10[^`]*\)`.*$/\1/p' "$root/docs/security.md"
}

# The guest's addresses. It has no list of protocols to find a name in, and its shell an ip of its own.
for_guest() {
	sed 's/10\.0\.0\.1/10.66.0.1/g; s/ipproto udp/ipproto 17/; s:\bip \(netns\|link\|-n\|rule\|route\):/usr/bin/ip \1:g'
}

guest_does() { # COMMAND
	guest control "page '$1'" >/dev/null ||
		{ guest control "cat /tmp/page; tail -n 30 /tmp/linux/log"; say "docs/security.md: this has failed: $1"; return 1; }
}

guest_has_file() { # PATH <TEXT
	local line
	guest control "mkdir -p ${1%/*} && : >$1" || return 1
	while IFS= read -r line; do
		guest control "echo '$line' >>$1" || return 1
	done
}

# That is done when the guest is built.
is_installed_in_guest() { # COMMAND
	local package
	for package in ${1#*--no-install-recommends}; do
		grep -Eq "^strongswan=\(.*\b$package\b" "$root/tests/interop/guest/build" ||
			{ say "the guest has no $package"; return 1; }
	done
}

page_is_run() {
	local command commands
	guest control page_host >"$case_dir/page" || { cat "$case_dir/page"; say "there is no daemon of Linux's"; return 1; }
	configuration_of_page 10.66.0.1 10.66.0.2 | guest_has_file /etc/swanctl/swanctl.conf || return 1
	configuration_of_page 10.66.0.2 10.66.0.1 | guest_has_file /tmp/linux/swanctl.conf || return 1
	guest control "ike linux --load-all --noprompt --file /tmp/linux/swanctl.conf" >/dev/null || return 1
	command=$(commands_for_linux | for_guest | sed 's/eth0/eth1/')
	[[ $command == '/usr/bin/ip rule add to '*'; /usr/bin/ip route add '* ]] || { say "the page has no rule for a peer that is Linux"; return 1; }
	guest_does "$command" || return 1
	mapfile -t commands < <(commands_of_page | for_guest | sed 's/link eth0/link management/')
	[[ ${commands[0]} == apt-get* && ${commands[1]} == systemctl* && ${commands[-1]} == *'--initiate --child rdma' ]] ||
		{ say "the page has other commands"; return 1; }
	is_installed_in_guest "${commands[0]}" || return 1
	for command in "${commands[@]:2}"; do
		guest_does "$command" || return 1
	done
}

# A process that begins needs new SAs where they have windows, as these have: the page says how.
by_the_page() { # FUNCTION [ARGUMENT]...
	local had=0
	now=() sas=()
	if guest control "test -e /run/netns/ike" >/dev/null; then
		follow
		had=${#sas[@]}
		guest_does "/usr/bin/ip netns exec ike $(grep -o 'swanctl --rekey --child rdma' "$root/docs/security.md")" || return 1
	else
		page_is_run || return 1
	fi
	wait_for "$looks" seen $((had + 2)) || { guest control "cat /tmp/page"; say "no SAs"; return 1; }
	protected "$@"
}
both_ways page by_the_page of_family 65535
plan_done
