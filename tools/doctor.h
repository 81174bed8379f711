/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file doctor.h
 * uiwarp doctor: it checks one thing after the other, from the configuration to a peer's MPA, and
 * says what is wrong and what to do.
 */
#ifndef TOOLS_DOCTOR_H
#define TOOLS_DOCTOR_H

#include "host/net.h"
#include "ip/echo.h"

#include <stdbool.h>
#include <stdint.h>

struct doctor {
	const struct config *config;
	struct net *net;     /**< NULL until the port is open */
	const char *host;    /**< the peer as given; NULL: none */
	struct ip_addr peer; /**< resolved */
	uint16_t port;       /**< of the peer, when it is known as it is mapped; 0: none */
	uint16_t from;       /**< ours, as the peer's port mapper was told; 0: any */
	bool only_tcp;       /**< no MPA */
	unsigned wrong;      /**< findings */
	bool pci_is_ready;   /**< a PCI device has all that it needs, a driver of DPDK's aside */
	struct echo echo;
	bool answers_ping;
	uint64_t rtt_ns; /**< of the first ping, if it was answered */
};

/* ---- doctor.c ---------------------------------------------------------------------------- */

/** Report something that is right. */
void doctor_good(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Report something that is neither right nor wrong. */
void doctor_note(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Report something that is wrong, and count it. */
void doctor_wrong(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Advise what to do about the last finding. */
void doctor_advise(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * Wait until @p done returns true. It is called under the engine's lock.
 * @return false: it did not within @p ms milliseconds, not counting those in which this process did
 * not run (base/wait_limit.h).
 */
bool doctor_wait(struct doctor *d, unsigned ms, bool (*done)(void *ctx), void *ctx);

/* ---- doctor_start.c ---------------------------------------------------------------------- */

/** Advise what to do about config_take_slot(), which also looks for the host's own addresses. */
void doctor_advise_slot(struct doctor *d, int rc);

/** Explain why net_open() failed. */
void doctor_explain_open(struct doctor *d, int rc, const struct config_error *e);

/** Explain why net_start() failed. */
void doctor_explain_start(struct doctor *d, int rc, const struct config_error *e);

/* ---- doctor_port.c ----------------------------------------------------------------------- */

/** Check the system before the port is opened: interface, rights, the kernel's addresses. */
void doctor_look_at_system(struct doctor *d);

/** Explain why the port did not open. */
void doctor_explain_port(struct doctor *d);

/** Check the open port: link, MTU. */
void doctor_look_at_port(struct doctor *d);

/** Check for received frames that are damaged or show a wrong set-up. Once, at the end. */
void doctor_look_at_frames(struct doctor *d);

/* ---- doctor_pci.c ------------------------------------------------------------------------ */

/** What of the host decides whether a process may have a PCI device. */
struct doctor_pci_host {
	const char *root; /**< in front of /sys, /proc and /dev: "" but in tests */
	bool is_root;     /**< the process has the rights of root */
	uint64_t memlock; /**< bytes that it may lock, UINT64_MAX: any number */
};

/** Check all that a PCI device needs before it can be opened (docs/deploy.md). */
void doctor_look_at_pci(struct doctor *d, const struct doctor_pci_host *host);

/** The host that this process runs on. */
struct doctor_pci_host doctor_pci_this_host(void);

/* ---- doctor_path.c ----------------------------------------------------------------------- */

/** Check for duplicate addresses, and routers that do not answer. */
void doctor_look_at_neighbours(struct doctor *d);

/**
 * Check the route to the peer, ping it, and measure the path MTU. @return false: it is not reached.
 */
bool doctor_look_at_path(struct doctor *d);

/* ---- doctor_tls.c ------------------------------------------------------------------------ */

/** Check our certificate, if connections are to be encrypted. */
void doctor_look_at_certificate(struct doctor *d);

/**
 * Explain a connection to @p peer, by its address, that ended with @p error before MPA was there.
 * @param connected TLS was there, as far as our side goes.
 * @return false: TLS had no part in it.
 */
bool doctor_explain_tls(struct doctor *d, int error, bool connected, const char *peer);

/* ---- doctor_esp.c ------------------------------------------------------------------------ */

struct esp_stats;

/** Say what the counters of IPsec tell. */
void doctor_explain_esp(struct doctor *d, const struct esp_stats *s);

/** Check IPsec, if there is any, by what became of packets. Once, at the end. */
void doctor_look_at_esp(struct doctor *d);

/* ---- doctor_map.c ------------------------------------------------------------------------ */

/**
 * Ask the port mapper of @p peer, by its address, as our programs do; then d->port is where to
 * connect to. @return false: they do not connect.
 */
bool doctor_map_port(struct doctor *d, const char *peer);

/* ---- doctor_peer.c ----------------------------------------------------------------------- */

/** Check TCP and MPA to the peer's port. */
void doctor_look_at_peer(struct doctor *d);

#endif
