/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every error that a peer can make our RNIC tell in a Terminate, one connection each: a raw peer
 * sends the offence. tests/unit/rdmap/test_terminate_table.c has more of them, and those of our own
 * program.
 */
#include "corpus/corpus.h"
#include "corpus/raw.h"

#include "base/bytes.h"
#include "ddp/ddp_wire.h"
#include "rdmap/rdmap_wire.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What else is done, and by which side. */
enum way {
	ANSWER,   /* our RNIC is the responder, a receive of 64 octets posted */
	NO_RECV,  /* likewise, none posted */
	BAD_CRC,  /* the offence is that of its FPDU */
	CUT,      /* the peer ends its side inside of the FPDU */
	ASK_SEND, /* our RNIC is the initiator and has sent a Send */
	ASK_READ, /* a Read of eight octets */
	ASK_ADD,  /* a FetchAdd */
	MARKED,   /* as ASK_SEND, and we want markers, but the peer sends none */
};

/**
 * The offence in hexadecimal, with letters for STags of the RNIC (4 octets each): G, good for all,
 * at RDMA_IOVA; N, no right for peers; F, of another protection domain; A, all but Atomics.
 */
struct row {
	const char *file;
	uint8_t type, code; /* octets of the Terminate */
	enum way way;
	const char *offence;
	const char *before; /* sent first, without fault; may be NULL */
};

/* DDP and RDMAP headers, by their last octets. */
#define QUEUE(op, qn, msn, mo) "41" op " 00000000 000000" qn " 000000" msn " 000000" mo " "
#define SEND(msn, mo)          QUEUE("43", "00", msn, mo)
#define SEND_PART              "0143 00000000 00000000 00000001 00000000 61626364"
#define READ_HEADER(msn)       QUEUE("41", "01", msn, "00")
#define READ(stag, to)         READ_HEADER("01") "00000077 0000000000003000 00000004 " stag to
#define ATOMIC(code, stag, to)                                                   \
	QUEUE("4a", "01", "01", "00")                                            \
	"000000" code " 00000001 " stag to " 0000000000000001 0000000000000000 " \
	"0000000000000000 ffffffffffffffff"
#define WRITE(stag, to) "c140 " stag to " 61626364"
#define RESPONSE(to)    "c142 G " to
#define AT_0            " 0000000010000000"
#define AT_4            " 0000000010000004"
#define BEFORE          " 000000000fffffff"
#define AT_END          " 0000000010001ffd"
#define WRAPS           " fffffffffffffffe"
#define ID(id)          "000000" id " 0000000000000000"

static const struct row rows[] = {
	{"terminate-protection", 0x01, 0x00, ANSWER, READ("00000008", AT_0), NULL},
	{"terminate-protection", 0x01, 0x01, ANSWER, READ("G", AT_END), NULL},
	{"terminate-protection", 0x01, 0x01, ANSWER, READ("G", BEFORE), NULL},
	{"terminate-protection", 0x01, 0x02, ANSWER, READ("N", AT_0), NULL},
	{"terminate-protection", 0x01, 0x03, ANSWER, READ("F", AT_0), NULL},
	{"terminate-protection", 0x01, 0x04, ANSWER, READ("G", WRAPS), NULL},
	{"terminate-protection", 0x01, 0x09, ANSWER, "4144 00000008 00000000 00000001 00000000",
		NULL},

	{"terminate-atomic", 0x01, 0x00, ANSWER, ATOMIC("00", "00000008", AT_0), NULL},
	{"terminate-atomic", 0x01, 0x01, ANSWER, ATOMIC("00", "G", " 0000000010002000"), NULL},
	{"terminate-atomic", 0x01, 0x02, ANSWER, ATOMIC("02", "A", AT_0), NULL},
	{"terminate-atomic", 0x01, 0x03, ANSWER, ATOMIC("00", "F", AT_0), NULL},
	{"terminate-atomic", 0x01, 0x04, ANSWER, ATOMIC("02", "G", " fffffffffffffff9"), NULL},
	{"terminate-atomic", 0x02, 0x06, ANSWER, ATOMIC("01", "G", AT_0), NULL},
	{"terminate-atomic", 0x02, 0x07, ANSWER, ATOMIC("00", "G", AT_4), NULL},
	{"terminate-atomic", 0x12, 0x02, ASK_SEND, QUEUE("4b", "03", "01", "00") ID("01"), NULL},
	{"terminate-atomic", 0x02, 0xff, ASK_ADD, QUEUE("4b", "03", "01", "00") ID("7f"), NULL},
	{"terminate-atomic", 0x02, 0xff, ASK_ADD, QUEUE("4b", "03", "01", "00") "00000001", NULL},

	{"terminate-operation", 0x02, 0x05, ANSWER, "4183 00000000 00000000 00000001 00000000",
		NULL},
	{"terminate-operation", 0x02, 0x06, ANSWER, QUEUE("4c", "00", "01", "00"), NULL},
	{"terminate-operation", 0x02, 0x06, ANSWER, QUEUE("40", "00", "01", "00"), NULL},
	{"terminate-operation", 0x02, 0x06, ANSWER, "c143 G" AT_0, NULL},
	{"terminate-operation", 0x02, 0x06, ANSWER, QUEUE("43", "01", "01", "00"), NULL},
	{"terminate-operation", 0x02, 0x06, ANSWER,
		QUEUE("48", "01", "01", "00") "3132333435363738", NULL},
	{"terminate-operation", 0x02, 0x06, ASK_SEND, RESPONSE(AT_0) "61626364", NULL},
	{"terminate-operation", 0x02, 0x06, ASK_READ,
		QUEUE("4b", "03", "01", "00") "00000001 0000000000000000", NULL},
	{"terminate-operation", 0x02, 0xff, ANSWER, READ_HEADER("01") "31323334", NULL},
	{"terminate-operation", 0x02, 0xff, ANSWER, QUEUE("48", "00", "01", "00") "31323334353637",
		NULL},
	{"terminate-operation", 0x02, 0xff, ASK_READ, RESPONSE(AT_0) "61626364", NULL},
	{"terminate-operation", 0x02, 0xff, ANSWER, "c14000", NULL},

	{"terminate-tagged", 0x11, 0x00, ANSWER, WRITE("00000008", AT_0), NULL},
	{"terminate-tagged", 0x11, 0x00, ANSWER, WRITE("N", AT_0), NULL},
	{"terminate-tagged", 0x11, 0x01, ANSWER, WRITE("G", AT_END), NULL},
	{"terminate-tagged", 0x11, 0x01, ASK_READ, RESPONSE(AT_0) "616263646566676869", NULL},
	{"terminate-tagged", 0x11, 0x02, ANSWER, WRITE("F", AT_0), NULL},
	{"terminate-tagged", 0x11, 0x03, ANSWER, WRITE("G", WRAPS), NULL},
	{"terminate-tagged", 0x11, 0x04, ANSWER, "c040 G" AT_0 " 61626364", NULL},

	{"terminate-untagged", 0x12, 0x01, ANSWER, QUEUE("43", "04", "01", "00"), NULL},
	{"terminate-untagged", 0x12, 0x02, NO_RECV, SEND("01", "00") "61626364", NULL},
	{"terminate-untagged", 0x12, 0x03, ANSWER, SEND("00", "00"), NULL},
	{"terminate-untagged", 0x12, 0x03, ANSWER,
		READ_HEADER("02") "00000077 0000000000003000 00000004 G" AT_0, NULL},
	{"terminate-untagged", 0x12, 0x04, ANSWER, SEND("01", "01") "61", NULL},
	{"terminate-untagged", 0x12, 0x04, ANSWER, SEND("01", "05") "61", SEND_PART},
	{"terminate-untagged", 0x12, 0x05, ANSWER, SEND("01", "3e") "616263", "LONG"},
	{"terminate-untagged", 0x12, 0x05, ANSWER, READ("G", AT_0) "78", NULL},
	{"terminate-untagged", 0x12, 0x06, ANSWER, "4043 00000000 00000000 00000001 00000000",
		NULL},

	{"terminate-mpa", 0x20, 0x01, CUT, "", WRITE("G", AT_0)},
	{"terminate-mpa", 0x20, 0x02, BAD_CRC, SEND("01", "00") "61626364", WRITE("G", AT_0)},
	{"terminate-marker", 0x20, 0x03, MARKED, WRITE("00000009", AT_0) "6162636465666768", NULL},
};

/* ---- the RNIC's memory ---------------------------------------------------------------------- */

struct memory {
	struct rnic_pd *other;
	struct rnic_mr *mr[3]; /* N, F, A */
	struct rdma_side *side;
};

static void memory_create(struct memory *m, struct rdma_side *side)
{
	static const unsigned rights =
		RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ;
	const struct {
		struct rnic_pd **pd;
		unsigned access;
	} how[] = {{&side->pd, RNIC_ACCESS_LOCAL_WRITE}, {&m->other, rights}, {&side->pd, rights}};

	m->side = side;
	stage_must(!rnic_pd_alloc(sim_host_rnic(side->host), &m->other), "no PD");
	for (unsigned i = 0; i < 3; i++)
		stage_must(!rnic_mr_reg(*how[i].pd, side->buf, STAGE_SIZE, RDMA_IOVA, how[i].access,
				   &m->mr[i]),
			"no region");
}

static void memory_destroy(struct memory *m)
{
	for (unsigned i = 0; i < 3; i++)
		stage_must(!rnic_mr_dereg(m->mr[i]), "a region stays");
	stage_must(!rnic_pd_dealloc(m->other), "a PD stays");
}

static uint32_t stag_of(const struct memory *m, char letter)
{
	static const char letters[] = "NFA";

	return rnic_mr_stag(letter == 'G' ? m->side->mr : m->mr[strchr(letters, letter) - letters]);
}

/** @return how many octets @p text says. */
static size_t read_offence(const struct memory *m, const char *text, uint8_t *out)
{
	size_t n = 0;

	while (*text) {
		const char two[3] = {text[0], text[1], '\0'};

		if (*text == ' ') {
			text++;
		} else if (strchr("GNF", *text) || (*text == 'A' && !isxdigit(text[1]))) {
			store_be32(out + n, stag_of(m, *text++));
			n += 4;
		} else {
			out[n++] = (uint8_t)strtoul(two, NULL, 16);
			text += 2;
		}
	}
	return n;
}

/* ---- one connection ------------------------------------------------------------------------- */

static const uint16_t depths[2] = {4, 4};

static void offend(struct raw *r, const struct memory *m, const struct row *t)
{
	uint8_t bytes[RAW_MAX];
	size_t n;

	if (t->before && strcmp(t->before, "LONG") == 0) {
		/* 62 octets of the 64 that the receive has room for. */
		n = read_offence(m, SEND_PART, bytes);
		memset(bytes + n, 'z', 58);
		raw_ulpdu(r, bytes, n + 58, false);
	} else if (t->before) {
		n = read_offence(m, t->before, bytes);
		raw_ulpdu(r, bytes, n, false);
	}
	n = read_offence(m, t->offence, bytes);
	if (t->way == CUT) {
		raw_send(r, "\x00\x20\xc1", 3);
		raw_shutdown(r);
	} else {
		raw_ulpdu(r, bytes, n, t->way == BAD_CRC);
	}
}

/* The Terminate is the next that comes. */
static void expect_terminate(struct raw *r, const struct row *t)
{
	static const size_t at = MPA_FPDU_HEADER_LEN + DDP_UNTAGGED_LEN;

	raw_wait_end(r);
	if (r->rx_len < at + RDMAP_TERM_HEADER_LEN || r->rx[at] != t->type ||
		r->rx[at + 1] != t->code) {
		fprintf(stderr, "%s %02x %02x: ", t->file, t->type, t->code);
		for (size_t i = 0; i < r->rx_len; i++)
			fprintf(stderr, "%02x", r->rx[i]);
		stage_must(false, "not the Terminate that was due");
	}
}

static void leave(struct raw *r)
{
	raw_shutdown(r);
	raw_close(r);
}

static void we_answer(struct stage *g, const struct row *t)
{
	struct memory m;
	struct raw r;

	memory_create(&m, &g->p.b);
	rdma_pair_listen(&g->p);
	raw_connect(&r, g, g->p.port);
	raw_start(&r, MPA_REQUEST_KEY, MPA_FLAG_ENHANCED | MPA_FLAG_CRC, 2, depths, "");
	raw_wait(&r, MPA_HEADER_LEN + MPA_ENHANCED_LEN);
	raw_consume(&r, r.rx_len);
	if (t->way != NO_RECV)
		rdma_post_recv(&g->p.b, 0, 64);
	mpa_enframe_init(&r.tx, true, false);
	offend(&r, &m, t);
	expect_terminate(&r, t);
	leave(&r);
	memory_destroy(&m);
	rdma_pair_destroy(&g->p);
}

static void we_ask(struct stage *g, const struct row *t)
{
	static const enum rdmap_wr_op ops[] = {
		RDMAP_WR_SEND, RDMAP_WR_READ, RDMAP_WR_FETCH_ADD, RDMAP_WR_SEND};
	const bool crc = t->way != MARKED; /* which would be wrong as well */
	struct memory m;
	struct raw r;

	memory_create(&m, &g->p.a);
	raw_listen(&r, g, g->p.port);
	rdma_pair_connect_only(&g->p);
	raw_wait(&r, MPA_HEADER_LEN + MPA_ENHANCED_LEN);
	raw_consume(&r, r.rx_len);
	raw_start(&r, MPA_REPLY_KEY, MPA_FLAG_ENHANCED | (crc ? MPA_FLAG_CRC : 0), 2, depths, "");
	stage_settle(g);
	rdma_post(&g->p, &g->p.a, ops[t->way - ASK_SEND], 0, 0, 8);
	raw_wait(&r, 1);
	stage_settle(g);
	raw_consume(&r, r.rx_len);
	mpa_enframe_init(&r.tx, crc, false);
	offend(&r, &m, t);
	expect_terminate(&r, t);
	leave(&r);
	memory_destroy(&m);
	rdma_pair_destroy(&g->p);
}

/* ---- the captures --------------------------------------------------------------------------- */

/** All rows of the file that begins with @p first. */
static void shoot(const struct row *first, const struct row *end, const char *path)
{
	struct stage_config cfg = {.seed = 0};
	struct stage g;
	uint16_t port = 7000;

	if (first->way == MARKED)
		cfg.a = (struct mpa_config){.revision = 2, .markers = true};
	stage_open(&g, path, &cfg);
	for (const struct row *t = first; t < end && strcmp(t->file, first->file) == 0; t++) {
		stage_pair(&g, ++port);
		if (t->way >= ASK_SEND)
			we_ask(&g, t);
		else
			we_answer(&g, t);
		stage_settle(&g);
	}
	stage_close(&g);
}

unsigned corpus_terminates(const char *directory, const char *only)
{
	const struct row *end = rows + sizeof rows / sizeof rows[0];
	char path[4096];
	unsigned made = 0;

	for (const struct row *t = rows; t < end; t++) {
		if (t > rows && strcmp(t->file, t[-1].file) == 0)
			continue;
		if (!corpus_wants(directory, only, t->file, path))
			continue;
		shoot(t, end, path);
		made++;
	}
	return made;
}
