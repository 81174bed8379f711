# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Linux against one of our stacks. Sourced by the programs in tests/netns, which run over af_packet
# and tap (see tests/apps/lib.sh). A persistent rping is there to be talked to.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../apps/lib.sh"

# shellcheck disable=SC2034 # for the scripts that source this
service=7174

# Linux's side of the link that the server's stack is on: its namespace and device.
linux_side() { # COMMAND...
	if [[ $transport == tap ]]; then
		netns_in server "$@"
	else
		netns_in router "$@"
	fi
}

linux_device() {
	case $transport in
	tap) say tap0 ;;
	*) say server ;;
	esac
}

peer() { # ARGUMENT-OF-peer.py...
	netns_in router timeout "$limit" python3 "$root/tests/netns/peer.py" "$@"
}

served() {
	start client rping -c -a "$1" -V -C 5
	finish client "$started"
}

# Do something to a server; afterwards it must still be there and serve.
with_server() { # FUNCTION [ARGUMENT]...
	start server rping -s -P -a ::0
	wait_listening "$started" || return 1
	"$@" || return 1
	is_alive "$(program_pid server)" || { say "the server is gone"; return 1; }
	served "$server_v4"
}
