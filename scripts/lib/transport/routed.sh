# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the transports that have Linux routers between: each gives its port as $routed_port.

# shellcheck source=scripts/lib/netns.sh
source "$root/scripts/lib/netns.sh"

transport_missing() {
	why_no_namespaces
}

transport_up() { # [NAME]: what tells these namespaces from others of this program
	netns_up "uiw-$$${1:+-$1}" "$routed_port"
}

transport_down() {
	netns_down
}

transport_in() { # SIDE COMMAND...
	netns_in "$@"
}

transport_settings() { # SIDE; fills the array `settings`
	netns_settings "$1" "$routed_port"
}

transport_reset() { :; }
transport_ready() { :; }

server_v4=10.1.0.2 server_v6=fd01::2 client_v4=10.2.0.2 bulk=20 control_host=''
