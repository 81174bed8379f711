#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# MPA's start-up with siw: CRC, revisions, peer-to-peer mode, depths of Reads, refusals.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "$0")/lib.sh"

# ---- CRC: used when either side wants it ---------------------------------------------------------

both_ways crc-ours verified
ours=(--set crc=required)
both_ways crc-required verified
both_ways crc-required-v6 verified 6
ours=(--set crc=off) siw_parameters=(mpa_crc_required=1)
siw_asks crc-siws verified
# As a responder siw answers with what was asked, whatever it requires.
capture_is=plain
siw_serves crc-siws verified
siw_parameters=()
both_ways crc-none verified
both_ways crc-none-v6 verified 6
capture_is=any ours=() siw_parameters=(mpa_crc_strict=1)
both_ways crc-refused expected "siw that is told to refuse CRCs refuses them" 'ended with status' verified
ours=(--set crc=required)
both_ways crc-required-refused expected "siw that is told to refuse CRCs refuses them" 'ended with status' verified
capture_is=plain ours=(--set crc=off)
both_ways crc-strict-none verified
capture_is=crc ours=() siw_parameters=()

# ---- revisions -----------------------------------------------------------------------------------

# Revision 1 carries no depths. What the programs say for themselves holds; rping's server says what the
# request has, and then cannot Read.
ours=(--set mpa_revision=1) capture_is=any
siw_serves revision-1 expected "rping takes no depth of Reads from a request without" \
	'ended with status' verified
capture_is=crc
siw_serves revision-1-send probes "" "act=send size=3000" server 'received: 3000 bytes right'
siw_serves revision-1-write probes "" "act=write size=3000" client 'completion: success'
siw_serves revision-1-read probes "" "act=read size=3000" server 'request: ird 0 ord 0' client 'read: right'
ours=() siw_parameters=(mpa_version=1)
siw_asks revision-1 verified
siw_parameters=()

# ---- peer-to-peer mode ---------------------------------------------------------------------------

for rtr in write read none; do
	ours=(--set "rtr=$rtr")
	siw_serves "rtr-$rtr" verified
done
ours=()
for rtr in write:0x8000 read:0x4000 both:0xc000; do
	siw_parameters=(peer_to_peer=1 "rtr_types=${rtr#*:}")
	siw_asks "rtr-${rtr%:*}" verified
done
ours=(--set rtr=read) siw_parameters=(peer_to_peer=1 rtr_types=0xc000)
siw_asks rtr-read-of-both verified
ours=() siw_parameters=()

# ---- depths of Reads -----------------------------------------------------------------------------

both_ways depth-equal probes "ird=4 ord=4" "ird=4 ord=4 act=read count=5" \
	client 'established: ird 4 ord 4' client 'read: right'
both_ways depth-few-asked probes "ird=16 ord=16" "ird=2 ord=2 act=read count=5" \
	server 'request: ird 2 ord 2' client 'read: right'
both_ways depth-many-asked probes "ird=2 ord=2" "ird=16 ord=16 act=read count=20" \
	server 'request: ird 16 ord 16' client 'read: right'
both_ways depth-none probes "ird=0 ord=0" "ird=0 ord=0 act=send" server 'received: 64 bytes right'

# ---- refused -------------------------------------------------------------------------------------

# siw learns of the end of a connection apart from what came before it. Where Linux's TCP has put a Reply and the FIN
# behind it together, as it does with what comes while it is sending, siw has not read the Reply, and tells its program
# of the end. The capture must show that the words came.
rejected() {
	probes "act=reject data=not-today" "data=may-I" server 'request: .*"may-I"' client 'rejected: ' || return 1
	has_lines client 'rejected: .*"not-today"' 1 && return
	if [[ $guest_side == server || ! $(frames 'iwarp_mpa.rej_flag == 1 && frame contains "not-today"' frame.number) ]] ||
		! has_lines client 'rejected: status -104 data ""' 1; then
		say "the client did not hear the server's words"
		return 1
	fi
	remark="expected: siw took the FIN for the end before it had read the Reply"
}
capture_is=any
both_ways reject rejected

# siw cannot take a Send, and answers with a Write that was not offered. It then sees the connection end
# in a state that Linux's iw_cm has not thought of, which is the end of the guest: so last.
ours=(--set rtr=send)
siw_serves rtr-send expected "siw has no RTR by Send" 'ended with status' verified
plan_done
