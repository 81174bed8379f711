/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file host.h
 * A simulated host: the real stack from IP to RNIC under a real engine; only the port is ours. It
 * runs when a packet comes, a timer is due, or a program called.
 */
#ifndef TESTS_SIM_HOST_H
#define TESTS_SIM_HOST_H

#include "engine/engine.h"
#include "esp/boundary.h"
#include "ip/ip.h"
#include "rnic/rnic.h"
#include "sim/nic.h"
#include "sim/sim.h"
#include "tcp/tcp.h"
#include "tls/tls.h"

struct sim_host_config {
	const char *address; /**< "10.0.0.1/24" or IPv6 */
	const char *gateway; /**< NULL: none */
	uint16_t mtu;        /**< 0: 1500 */
	/** The port is looked at no more often than this, ns: a NIC's moderation of interrupts, and
	 *  fewer rounds to simulate. 0: at each arrival. */
	uint64_t poll;
	bool no_offload;             /**< the stack computes and verifies checksums itself */
	bool tso;                    /**< the port makes all checksums, and cuts segments: nic.h */
	bool gather;                 /**< with tso: payload may leave from the program's memory */
	bool no_rnic;                /**< TCP alone: saves memory where there are many hosts */
	struct tcp_stack_config tcp; /**< sizes and options; the rest is filled in */
	struct rnic_config rnic;     /**< likewise */
	/** Under the RNIC; NULL: in the clear. Keys are OpenSSL's, so bytes differ from run to run,
	 * but with a shared key not their number. */
	const struct tls_config *tls;
	const char *ipsec; /**< a file of SAs and policies; NULL: no IPsec */
};

struct sim_host *sim_host_create(struct sim *s, const struct sim_host_config *cfg);
struct engine *sim_host_engine(struct sim_host *h);
struct ip_stack *sim_host_ip(struct sim_host *h);
struct tcp_stack *sim_host_tcp(struct sim_host *h);
struct esp_boundary *sim_host_esp(struct sim_host *h); /**< NULL without */
struct tls_stack *sim_host_tls(struct sim_host *h);    /**< NULL without */
struct rnic *sim_host_rnic(struct sim_host *h);        /**< NULL with no_rnic */
struct sim *sim_host_sim(struct sim_host *h);
const struct sim_nic *sim_host_nic(const struct sim_host *h); /**< NULL without tso */

/** Regions of memory that its port may read. */
unsigned sim_host_mapped(const struct sim_host *h);

/** Its address, the first one. */
struct ip_addr sim_host_address(const struct sim_host *h);

/** Where packets to it go in. */
struct sim_element *sim_host_port(struct sim_host *h);

/** Packets of it go to @p to; none: they vanish. */
void sim_host_attach(struct sim_host *h, struct sim_element *to);

/** From 0, in the order of creation; and by its MAC address. */
unsigned sim_host_index(const struct sim_host *h);
unsigned sim_host_number(const uint8_t mac[6]);

/**
 * Run @p fn under the host's engine lock, as everything that calls its stack directly must be, and
 * end with a round. Not needed around the functions of rnic.h and ep.h, which do it themselves.
 */
void sim_host_call(struct sim_host *h, void (*fn)(void *ctx), void *ctx);

/**
 * It does not run for @p ns: a virtual machine that is paused, a process that is stopped. Packets
 * wait in its port, some hundreds at most. Nobody may call its stack meanwhile.
 */
void sim_host_freeze(struct sim_host *h, uint64_t ns);

/** Its clock jumps ahead, as after a suspend. Never back. */
void sim_host_step_clock(struct sim_host *h, uint64_t ns);

/** All hosts of @p s. */
void sim_hosts_destroy(struct sim *s);

#endif
