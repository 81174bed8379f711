/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/pcapng.h"

#include "dpdk-port/capture_block.h"
#include "sim/headers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAME_MAX 16384

struct sim_pcapng {
	FILE *file;
	uint8_t block[FRAME_MAX + 64];
};

struct sim_pcapng *sim_pcapng_open(const char *path, const char *point)
{
	struct sim_pcapng *p = malloc(sizeof *p);
	uint8_t head[CAPTURE_HEAD_MAX];

	if (!p)
		return NULL;
	p->file = fopen(path, "wb");
	if (!p->file) {
		free(p);
		return NULL;
	}
	fwrite(head, 1, capture_head(head, "uiwarp's simulator", point), p->file);
	return p;
}

/** Ask for the checksums that the sender's port left out. */
static uint64_t to_fill(struct rte_mbuf *m)
{
	struct sim_headers h;

	if (!sim_packet(m)->unfilled || !sim_headers_find(m, &h))
		return 0;
	m->l2_len = h.l3;
	m->l3_len = h.l4 - h.l3;
	return (h.v4 ? RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM : RTE_MBUF_F_TX_IPV6) |
	       (h.is_tcp ? RTE_MBUF_F_TX_TCP_CKSUM : 0);
}

void sim_pcapng_packet(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct sim_pcapng *p = ctx;
	const uint64_t flags = m->ol_flags;

	if (m->pkt_len > FRAME_MAX)
		return;
	m->ol_flags |= to_fill(m);
	capture_packet_block(p->block, m, CAPTURE_OUT, now);
	m->ol_flags = flags;
	fwrite(p->block, 1, capture_packet_len(m->pkt_len), p->file);
}

int sim_pcapng_close(struct sim_pcapng *p)
{
	int r = ferror(p->file) ? -EIO : 0;

	if (fclose(p->file))
		r = -errno;
	free(p);
	return r;
}
