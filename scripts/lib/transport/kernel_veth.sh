# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# The host's own TCP in two network namespaces with a veth between, all of them a user's own.
# shellcheck source=scripts/lib/transport/kernel.sh
source "$root/scripts/lib/transport/kernel.sh"

kernel_server=

kernel_inside() { # HOLDER COMMAND...
	local pid=$1
	shift
	nsenter -t "$pid" -U -n --preserve-credentials -- "$@"
}

transport_up() { # [NUMBER]
	local ready=$work/kernel${1:-}.ready
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -Urn sh -c 'ip link set lo up && echo >"$0" && exec sleep infinity' "$ready.1" </dev/null &
	kernel_holder=$!
	wait_for "$patience" test -s "$ready.1"
	# shellcheck disable=SC2016 # expanded by the inner shell
	kernel_inside "$kernel_holder" unshare -n sh -c 'ip link set lo up && echo $$ >"$0" && exec sleep infinity' \
		"$ready.2" </dev/null &
	wait_for "$patience" test -s "$ready.2"
	kernel_server=$(<"$ready.2")
	kernel_inside "$kernel_holder" ip link add veth0 type veth peer name veth1 netns "$kernel_server"
	kernel_inside "$kernel_holder" ip addr add 10.78.0.2/24 dev veth0
	kernel_inside "$kernel_holder" ip addr add fd78::2/64 dev veth0 nodad
	kernel_inside "$kernel_holder" ip link set veth0 up
	kernel_inside "$kernel_server" ip addr add 10.78.0.1/24 dev veth1
	kernel_inside "$kernel_server" ip addr add fd78::1/64 dev veth1 nodad
	kernel_inside "$kernel_server" ip link set veth1 up
}

transport_down() {
	[[ -z $kernel_server ]] || kill "$kernel_server" 2>/dev/null || true
	[[ -z $kernel_holder ]] || kill "$kernel_holder" 2>/dev/null || true
	kernel_server='' kernel_holder=''
}

transport_in() { # SIDE COMMAND...
	local side=$1
	shift
	if [[ $side == server ]]; then
		kernel_inside "$kernel_server" "$@"
	else
		kernel_inside "$kernel_holder" "$@"
	fi
}

server_v4=10.78.0.1 server_v6=fd78::1 client_v4=10.78.0.2 control_host=10.78.0.1
