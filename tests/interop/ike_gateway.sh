#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A gateway of Linux's with strongSwan, in tunnel mode, before a siw that knows nothing of IPsec: as docs/security.md says of
# it. Our end has its keys from a daemon of its own, as in ike.sh.
# shellcheck source=tests/interop/ike_lib.sh
source "$(dirname "$0")/ike_lib.sh"
# shellcheck disable=SC2034 # the libraries'
gateway=yes initiator=keeper dialect='2 aes128gcm16-prfsha256-x25519 aes128gcm16-x25519'
ours+=(--set "gateway=${guest_addresses[0]}")
guest_addresses=(10.67.0.2 fd67::2)

behind_gateway() { # FUNCTION [ARGUMENT]...
	guest control gateway >"$case_dir/gateway" || { cat "$case_dir/gateway"; say "the gateway cannot be made"; return 1; }
	# On the interface that is the host's now.
	# shellcheck disable=SC2034 # the transport's
	siw_loaded=''
	prepared && negotiated "$@"
}
both_ways gateway-ike behind_gateway of_family 65535
plan_done
