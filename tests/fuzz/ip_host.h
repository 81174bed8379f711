/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ip_host.h A host's IP layer at which frames are thrown, for fuzzers of it. */
#ifndef TESTS_FUZZ_IP_HOST_H
#define TESTS_FUZZ_IP_HOST_H

#include "fuzz.h"
#include "ip/ip.h"

#define MS            UINT64_C(1000000)
#define IP_HOST_PATHS 4

struct ip_host {
	struct ip_stack *ip;
	struct timer_wheel wheel;
	uint64_t now;
	struct ip_path path[IP_HOST_PATHS];
	bool open[IP_HOST_PATHS];
	/** A segment or datagram from @p src came up. May be NULL, as the next. */
	void (*hears)(struct ip_host *h, const struct ip_addr *src);
	/** A frame leaves. */
	void (*sends)(struct ip_host *h, const struct rte_mbuf *m);
};

/** Once, before any host. */
void ip_host_init(void);

struct rte_mempool *ip_host_pool(void);

/**
 * 10.0.0.1 and fd00::1, with TCP and a UDP service. hears() and sends() are set already.
 * @param bits what its port does, and whether its addresses are sure yet. @param ipsec may be NULL.
 */
void ip_host_start(struct ip_host *h, uint8_t bits, const struct ip_ipsec *ipsec);

/** Nothing of it may be left. */
void ip_host_end(struct ip_host *h);

/** Let so much time pass. */
void ip_host_run(struct ip_host *h, uint64_t ns);

struct ip_addr ip_host_addr(const char *text);

/** Checksums made right, so that the fuzzer gets past them: of a frame, and of packets. */
void ip_host_fix(uint8_t *frame, size_t len, uint8_t bits);
void ip_host_fix_v4(uint8_t *h, size_t left);
void ip_host_fix_v6(uint8_t *h, size_t left);

/** The frame comes, in buffers of @p piece octets and then larger ones; 0: in one. */
void ip_host_give(
	struct ip_host *h, const uint8_t *frame, size_t len, unsigned piece, uint64_t flags);

/** Send a segment, by one of a few paths that stay. */
void ip_host_send(struct ip_host *h, struct fuzz *in, const struct ip_addr *to);

#endif
