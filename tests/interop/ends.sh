#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How connections with siw end: in good order, by errors of either side, by death.
# shellcheck source=tests/interop/lib.sh
source "$(dirname "$0")/lib.sh"

both_ways operations-send probes "" "act=send size=16000 count=4" server 'received: 16000 bytes right'
both_ways operations-write probes "" "act=write size=60000 count=2" client 'completion: success' \
	server 'buffer: right'
both_ways operations-read probes "" "act=read size=60000 count=2" client 'read: right'
both_ways operations-read-v6 ipv6 probes "" "act=read size=60000" client 'read: right'

# ---- in good order -------------------------------------------------------------------------------

both_ways client-hangs-up probes "" "act=send" client 'hung up' client 'event: RDMA_CM_EVENT_DISCONNECTED status 0' \
	server 'event: RDMA_CM_EVENT_DISCONNECTED'
capture_is=any # nothing is sent in it
both_ways server-hangs-up probes "act=hangup" "act=none hold" \
	client 'event: RDMA_CM_EVENT_DISCONNECTED' server 'event: RDMA_CM_EVENT_DISCONNECTED'
capture_is=crc

# ---- errors: the one in the wrong learns it by its completion or its end ---------------------------

# siw's Terminate has its layer and type swapped, so what it says of the cause is wrong; the end is not.
gone='event: RDMA_CM_EVENT_DISCONNECTED'
both_ways write-wrong-stag probes "" "act=write key=0x5500 hold" client "$gone" server "$gone" client 'queue pair: down'
both_ways read-wrong-stag probes "" "act=read key=0x5500 hold" client "$gone" server "$gone" client 'queue pair: down'
both_ways write-beyond probes "" "act=write offset=65530 hold" client "$gone" server "$gone" client 'queue pair: down'
both_ways read-beyond probes "" "act=read offset=65530 hold" client "$gone" server "$gone" client 'queue pair: down'
both_ways write-no-right probes "rights=r" "act=write hold" client "$gone" server "$gone" client 'queue pair: down'
siw_asks read-no-right probes "rights=w" "act=read hold" client "$gone" server "$gone" client 'queue pair: down'
siw_serves read-no-right expected "siw lets what has no such right be read" 'did not say' \
	probes "rights=w" "act=read" client "completion: .*error"
both_ways send-too-long probes "" "act=send size=20000 hold" client "$gone" server "$gone"
both_ways send-no-receive probes "receives=0" "act=send hold" client "$gone" server "$gone"
plan_done
