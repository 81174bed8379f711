# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Both ends on the host's own TCP, by the loopback interface of a user's own network namespace: no
# root, no device, no configuration.

kernel_holder=

transport_missing() {
	unshare -Urn true 2>/dev/null || say "no user namespaces (unshare -Urn) here"
}

# A process that keeps the namespaces, its number and its readiness in files.
transport_up() { # [NUMBER]
	local ready=$work/kernel${1:-}.ready
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -Urn sh -c 'ip link set lo up && echo >"$0" && exec sleep infinity' "$ready" </dev/null &
	kernel_holder=$!
	wait_for "$patience" test -s "$ready"
}

transport_down() {
	[[ -z $kernel_holder ]] || kill "$kernel_holder" 2>/dev/null || true
	kernel_holder=
}

transport_in() { # SIDE COMMAND...
	shift
	nsenter -t "$kernel_holder" -U -n --preserve-credentials -- "$@"
}

transport_settings() { # SIDE; fills the array `settings`
	settings=(--set port=kernel)
}

# The host's TCP refuses at once who comes too early.
transport_again() { :; }

transport_reset() { :; }
transport_ready() { :; }

server_v4=127.0.0.1 server_v6=::1 client_v4=127.0.0.1 bulk=200 control_host=127.0.0.1
