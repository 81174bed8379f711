/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA's start-up: what a connection of two of our own does not show. */
#include "corpus/corpus.h"
#include "corpus/raw.h"

#include <stdio.h>
#include <string.h>

#define PORT 7174

static const uint16_t depths[2] = {4, 4};

/* A Send of four octets, as the first message; and a Write of none. */
#define FIRST_SEND                                 \
	"\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0" \
	"uiwa"
#define EMPTY_WRITE "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0"

/** The raw side is up; send the Send, wait for its completion, close. */
static void send_one(struct raw *r, struct stage *g)
{
	rdma_post_recv(&g->p.b, 0, 64);
	raw_ulpdu(r, FIRST_SEND, sizeof FIRST_SEND - 1, false);
	stage_must(rdma_complete(&g->p, &g->p.b, 1, STAGE_LIMIT), "no Send came");
	raw_shutdown(r);
	raw_wait_end(r);
	raw_close(r);
}

static void listen_and_connect(struct raw *r, struct stage *g)
{
	stage_pair(g, PORT);
	rdma_pair_listen(&g->p);
	raw_connect(r, g, PORT);
}

static void rev0(struct stage *g)
{
	struct raw r;

	listen_and_connect(&r, g);
	raw_start(&r, MPA_REQUEST_KEY, MPA_FLAG_CRC, 0, NULL, "");
	raw_wait(&r, MPA_HEADER_LEN);
	mpa_enframe_init(&r.tx, true, false);
	send_one(&r, g);
}

static void private_data(struct stage *g)
{
	struct raw r;

	listen_and_connect(&r, g);
	raw_start(&r, MPA_REQUEST_KEY, MPA_FLAG_ENHANCED | MPA_FLAG_CRC, 2, depths,
		"what a program has to say");
	raw_wait(&r, MPA_HEADER_LEN);
	mpa_enframe_init(&r.tx, true, false);
	send_one(&r, g);
}

static void in_pieces(struct stage *g)
{
	static const char request[] = MPA_REQUEST_KEY "\x50\x02\0\x04\0\x04\0\x04";
	struct raw r;

	listen_and_connect(&r, g);
	for (unsigned i = 0; i < sizeof request - 1; i += 8) {
		raw_send(&r, request + i, i + 8 <= sizeof request - 1 ? 8 : sizeof request - 1 - i);
		stage_settle(g);
	}
	raw_wait(&r, MPA_HEADER_LEN);
	mpa_enframe_init(&r.tx, true, false);
	send_one(&r, g);
}

static void depths_down(struct stage *g)
{
	static const uint16_t many[2] = {300, 300};
	struct raw r;

	listen_and_connect(&r, g);
	raw_start(&r, MPA_REQUEST_KEY, MPA_FLAG_ENHANCED | MPA_FLAG_CRC, 2, many, "");
	raw_wait(&r, MPA_HEADER_LEN);
	mpa_enframe_init(&r.tx, true, false);
	send_one(&r, g);
}

static bool is_over(void *ctx)
{
	struct stage *g = ctx;

	return g->p.a.failed;
}

static void rejected(struct stage *g)
{
	struct raw r;

	stage_pair(g, PORT);
	raw_listen(&r, g, PORT);
	rdma_pair_connect_only(&g->p);
	raw_wait(&r, MPA_HEADER_LEN + MPA_ENHANCED_LEN);
	raw_start(&r, MPA_REPLY_KEY, MPA_FLAG_ENHANCED | MPA_FLAG_CRC | MPA_FLAG_REJECT, 2, depths,
		"not today");
	raw_shutdown(&r);
	stage_until(g, is_over, g);
	raw_wait_end(&r);
	raw_close(&r);
}

static bool is_up(void *ctx)
{
	struct stage *g = ctx;

	return g->p.a.established;
}

/* The first connection, of revision 2, is closed without an answer; then 1 is asked. */
static void again_with_rev1(struct stage *g)
{
	struct raw r;

	stage_pair(g, PORT);
	raw_listen(&r, g, PORT);
	rdma_pair_connect_only(&g->p);
	raw_wait(&r, MPA_HEADER_LEN + MPA_ENHANCED_LEN);
	raw_consume(&r, r.rx_len);
	raw_shutdown(&r);
	raw_wait_end(&r);
	raw_wait(&r, MPA_HEADER_LEN);
	raw_consume(&r, r.rx_len);
	raw_start(&r, MPA_REPLY_KEY, MPA_FLAG_CRC, 1, NULL, "");
	stage_until(g, is_up, g);
	rdma_post(&g->p, &g->p.a, RDMAP_WR_WRITE, 0, 0, 0);
	raw_wait(&r, mpa_fpdu_len(sizeof EMPTY_WRITE - 1));
	rnic_ep_disconnect(g->p.a.ep);
	raw_wait_end(&r);
	raw_shutdown(&r);
	raw_close(&r);
}

static const struct {
	const char *name;
	void (*fn)(struct stage *g);
} starts[] = {
	{"start-rev0", rev0},
	{"start-private-data", private_data},
	{"start-in-pieces", in_pieces},
	{"start-depths-down", depths_down},
	{"start-reject", rejected},
	{"start-again-with-rev1", again_with_rev1},
};

unsigned corpus_starts(const char *directory, const char *only)
{
	char path[4096];
	unsigned made = 0;

	for (unsigned i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		struct stage g;

		if (!corpus_wants(directory, only, starts[i].name, path))
			continue;
		stage_open(&g, path, NULL);
		starts[i].fn(&g);
		rdma_pair_destroy(&g.p);
		stage_settle(&g);
		stage_close(&g);
		made++;
	}
	return made;
}
