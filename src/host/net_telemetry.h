/* SPDX-License-Identifier: BSD-2-Clause */
/** @file net_telemetry.h Private: what a host tells of itself (telemetry.h). */
#ifndef HOST_NET_TELEMETRY_H
#define HOST_NET_TELEMETRY_H

struct net;

/** Make n->telemetry with the commands of the host, if the configuration has it on. */
void net_telemetry_create(struct net *n);

/** Begin to answer. If that is not possible it is logged, and nothing else changes. */
void net_telemetry_start(struct net *n);

#endif
