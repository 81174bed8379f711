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

# From here on both sides are neighbours, as docs/deploy.md has it: on the server's interface by AF_PACKET, or on
# TAPs of one bridge.
# shellcheck disable=SC2317 # lib.sh calls these
transport_of_neighbours() {
	[[ $routed_port != tap ]] || netns_bridge_taps server tap2 tap3
	transport_in() {
		shift
		netns_in server "$@"
	}
	transport_settings() { # SIDE
		local n=2
		[[ $1 == server ]] || n=3
		case $routed_port in
		af_packet) settings=(--set "port=net_af_packet0,iface=uiw0,qdisc_bypass=0" --set "mac=02:00:00:00:70:0$n") ;;
		tap) settings=(--set "port=net_tap0,iface=tap$n") ;;
		esac
		settings+=(--set "address=10.1.0.$n/24" --set "address=fd01::$n/64")
	}
	control_host=127.0.0.1
}

transport_reset() { :; }
transport_ready() { :; }

server_v4=10.1.0.2 server_v6=fd01::2 client_v4=10.2.0.2 bulk=20 control_host=''
