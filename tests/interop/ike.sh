#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ESP with Linux's, by keys of IKEv2: Debian's strongSwan at both ends, as it is, and scripts/ipsec-file, which writes what the
# daemon of our side has agreed on. That daemon is in the guest, too: kernels that have ESP to give SAs to are few.
# shellcheck source=tests/interop/ike_lib.sh
source "$(dirname "$0")/ike_lib.sh"

# ---- kinds of cases ---------------------------------------------------------------------------------

# Either daemon may begin. The stream goes on, by new SAs; the old ones go.
rekeyed() {
	local side had
	for side in keeper linux; do
		had=${#sas[@]}
		ike "$side" --rekey --child rdma || return 1
		{ wait_for "$looks" seen $((had + 2)) && wait_for "$looks" receives_by 1; } ||
			{ say "the SAs did not change after $side's rekeying"; return 1; }
		goes_on || { say "the stream has ended by $side's rekeying"; return 1; }
	done
}

# RFC 5042, section 5.4.5: what IKE deletes is not the stream. Nothing passes until there are new keys.
deleted() {
	local at
	ike linux --terminate --child rdma || return 1
	wait_for "$looks" receives_by 0 || { say "the SAs are still there"; return 1; }
	at=$(lines_of client 'ping data')
	{ ike linux --initiate --child rdma && wait_for "$looks" receives_by 1; } || { say "no new SAs"; return 1; }
	wait_for "$patience" has_lines client 'ping data' $((at + 20)) || { say "the stream has ended"; return 1; }
}

initiator=keeper dialect='2 aes128gcm16-prfsha256-x25519 aes128gcm16-x25519'
both_ways v4 negotiated of_family 65535
# Its first version, in main mode, with what is the least that RFC 7146 wants of it and of ESP.
initiator=linux dialect='1 aes128-sha1-modp2048 aes128-sha1-modp2048'
both_ways ikev1-cbc-sha1 negotiated of_family 16384
# Linux counts from now on what is sent by SAs that have ended.
initiator=keeper dialect='2 aes128gcm16-prfsha256-x25519 aes128gcm16-x25519' sudden=yes
both_ways rekeyed negotiated meanwhile rekeyed
# Without its policies Linux answers in the clear.
initiator=linux strangers=yes
both_ways deleted negotiated meanwhile deleted
plan_done
