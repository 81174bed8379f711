/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ends.h
 * Two IP stacks with an IPsec boundary each, and the packets between them in our hands. Include it
 * first: it has cmocka.
 */
#ifndef TESTS_UNIT_ESP_ENDS_H
#define TESTS_UNIT_ESP_ENDS_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/boundary.h"
#include "ip/ip.h"

#define KEEP    64
#define V4      20
#define SEGMENT 120 /* octets of TCP in a packet */
#define SECOND  UINT64_C(1000000000)

#define KEY    " aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 128 "
#define SA     "ip xfrm state add src %s dst %s proto esp spi 0x%x " KEY "%s\n"
#define POLICY "ip xfrm policy add src %s dst %s dir %s tmpl proto esp mode transport\n"

struct end {
	struct ip_stack *ip;
	struct timer_wheel wheel;
	struct esp_boundary *esp; /* NULL: without IPsec */
	char path[64];
	struct rte_mbuf *out[KEEP]; /* what it sent */
	unsigned n_out, n_in, in_len, log_lines;
	uint8_t in[2048]; /* the last segment that came up */
	struct ip_rx rx;
	char log_text[512], log_before[512];
	struct log_sink log;
};

extern struct ends {
	struct end a, b;
	struct rte_mempool *pool;
	uint64_t now;
	bool v6; /* their addresses are */
} ends;

const char *ends_addr_of(const struct end *e);
struct ip_addr ends_addr(const char *text);
void ends_write_file(const char *path, const char *text);

/** Both ends with an SA each way, and policies that want them. */
char *ends_both_ways(const char *more, const char *sa);

/** @param of_a, of_b what their files say; NULL: no IPsec. */
void ends_begin(const char *of_a, const char *of_b);
void ends_end(void);

/** One of them alone. @param ipsec as for ends_begin(). */
void end_create(struct end *e, const char *ipsec);
void end_destroy(struct end *e);

/** A segment of @p len octets. @return as ip_send(). */
int end_send_to(struct end *e, const struct ip_addr *dst, unsigned len);
/** To the other end. */
int end_send_one(struct end *e, unsigned len);

/** The packet that @p e sent last, taken from it. */
struct rte_mbuf *end_take(struct end *e);

/** Another one with the same octets, which its owner may write to. */
struct rte_mbuf *end_again(const struct rte_mbuf *m);
void end_give(struct end *e, struct rte_mbuf *m);
uint8_t *end_octets(struct rte_mbuf *m);
const struct esp_stats *end_stats(const struct end *e);

/** @p n segments of SEGMENT octets have come up, the last one whole. */
void end_expect_delivered(struct end *e, unsigned n);

#endif
