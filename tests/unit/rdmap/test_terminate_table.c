/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every error that a Terminate can tell: the offence as the peer sends it, and the Terminate as the
 * peer gets it. RFC 5040 sections 4.8 and 7, RFC 5041 section 7, RFC 5044 section 8, RFC 6581
 * section 8, RFC 7306 section 8. A code that this RNIC never sends has a row that says why.
 */
#include "qp.h"
#include "rdmap/term_code.h"

#include <stdlib.h>

struct row {
	uint8_t layer, etype, code;
	const char *why; /* what is wrong; or, with nothing to do, why it does not occur */
	void (*start)(struct qp_net *n);
	void (*act)(struct qp_net *n); /* what else happens, after the offence; may be NULL */
	const char *offence;           /* a ULPDU of the peer's; may be NULL */
	size_t offence_len;
	const char *terminate; /* the Terminate's header, and what it quotes */
	size_t terminate_len;
};

/* ---- the two ends ------------------------------------------------------------------------ */

/*
 * We answer. Regions at 0x2000 of 16 bytes: 9 allows all; 10 nothing to peers; 11 is of another PD;
 * 12 allows all but Atomics. One receive of 6 bytes is posted, if at all.
 */
static void answer(struct qp_net *n)
{
	static const unsigned all = REMOTE | RDMAP_ACCESS_REMOTE_ATOMIC;

	qp_net_init(n);
	n->b->ird = 2;
	qp_net_raw_responder(n);
	qp_region_add(n->b, 9, 0x2000, 16, all);
	qp_region_add(n->b, 10, 0x2000, 16, LOCAL);
	qp_region_add(n->b, 11, 0x2000, 16, all)->foreign = true;
	qp_region_add(n->b, 12, 0x2000, 16, REMOTE);
}

static void answer_with_receive(struct qp_net *n)
{
	answer(n);
	qp_post_recv(n->b, 1, qp_region_add(n->b, 20, 0, 16, LOCAL), 0, 6);
}

/* The first segment of a Send, of four bytes, has come. */
static void answer_in_send(struct qp_net *n)
{
	answer_with_receive(n);
	FEED(n, "\x01\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0"
		"abcd");
}

/* The receive's own memory is not ours any more. */
static void answer_receive_gone(struct qp_net *n)
{
	answer_with_receive(n);
	n->b->region[4].invalid = true;
}

#define REQUEST_HEADER(op, msn) "\x41" op "\0\0\0\0\0\0\0\x01\0\0\0" msn "\0\0\0\0"
#define READ_HEADER(msn)        REQUEST_HEADER("\x41", msn)
#define ATOMIC_HEADER(msn)      REQUEST_HEADER("\x4a", msn)

/* As many Reads as the IRD allows wait for room to be answered. */
static void answer_busy(struct qp_net *n)
{
#define READ_1(msn) \
	READ_HEADER(msn) "\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x09\0\0\0\0\0\0\x20\0"
	answer(n);
	llp_mem_set_buffer(n->mem, 1);
	FEED(n, READ_1("\x01"));
	llp_mem_hold(n->b->m->llp, true);
	FEED(n, READ_1("\x02"));
	FEED(n, READ_1("\x03"));
	FEED(n, READ_1("\x04"));
}

static void release(struct qp_net *n)
{
	llp_mem_hold(n->b->m->llp, false);
	qp_net_run(n);
	/* Responses of 15 bytes, for those that were asked before the offence. */
	while (n->peer.rx_len != 0 && n->peer.rx[3] == 0x42)
		llp_mem_peer_consume(&n->peer, mpa_fpdu_len(15));
}

/* We ask. Region 7 at 0x1000 is for what comes back; the peer has taken the requests. */
static void ask(struct qp_net *n)
{
	qp_net_init(n);
	qp_net_raw_initiator(n);
	qp_region_add(n->a, 7, 0x1000, 16, LOCAL);
}

static void asked(struct qp_net *n, enum rdmap_wr_op op)
{
	qp_wqe_sge(qp_wqe(n->a, 1, op, 0), &n->a->region[0], 0, 8);
	qp_post(n->a);
	qp_run(n->a);
	qp_net_run(n);
	llp_mem_peer_consume(&n->peer, n->peer.rx_len);
}

static void ask_read(struct qp_net *n)
{
	ask(n);
	asked(n, RDMAP_WR_READ);
}

static void ask_atomic(struct qp_net *n)
{
	ask(n);
	asked(n, RDMAP_WR_FETCH_ADD);
}

static void ask_sink_gone(struct qp_net *n)
{
	ask_read(n);
	n->a->region[0].invalid = true;
}

static void ask_atomic_sink_gone(struct qp_net *n)
{
	ask_atomic(n);
	n->a->region[0].invalid = true;
}

static void ask_with_crc(struct qp_net *n)
{
	qp_net_init(n);
	n->crc = true;
	qp_net_raw_initiator(n);
}

static void ask_with_markers(struct qp_net *n)
{
	qp_net_init(n);
	n->a->config.markers = true;
	qp_net_raw_initiator(n);
}

/* ---- what our own program does wrong ----------------------------------------------------- */

static void write_from_nowhere(struct qp_net *n)
{
	struct rdmap_wqe *w = qp_wqe(n->a, 1, RDMAP_WR_WRITE, 0);

	w->num_sge = 1;
	w->length = 4;
	w->sge[0] = (struct rdmap_sge){.addr = 0x1000, .len = 4, .stag = 0x99};
	qp_post(n->a);
	qp_run(n->a);
}

static void atomic_to_nowhere(struct qp_net *n)
{
	n->a->region[0].invalid = true;
	qp_wqe_sge(qp_wqe(n->a, 1, RDMAP_WR_CMP_SWAP, 0), &n->a->region[0], 0, 8);
	qp_post(n->a);
	qp_run(n->a);
}

static void immediate_from_nowhere(struct qp_net *n)
{
	n->a->region[0].invalid = true;
	qp_wqe_sge(qp_wqe(n->a, 1, RDMAP_WR_WRITE_IMM, 0), &n->a->region[0], 0, 8);
	qp_post(n->a);
	qp_run(n->a);
}

static void atomic_target_gone(struct qp_net *n)
{
	n->b->region[0].invalid = true;
	release(n);
}

/* An Atomic waits its turn behind one that is answered. */
static void answer_atomic_waits(struct qp_net *n)
{
	answer(n);
	llp_mem_set_buffer(n->mem, 1);
	FEED(n, READ_1("\x01"));
	llp_mem_hold(n->b->m->llp, true);
	FEED(n, READ_1("\x02"));
	FEED(n, ATOMIC_HEADER("\x03") "\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\x20\0"
				      "\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				      "\xff\xff\xff\xff\xff\xff\xff\xff");
}

/* ---- what the peer does with the connection ---------------------------------------------- */

static void close_now(struct qp_net *n)
{
	llp_shutdown(n->peer.llp);
}

static void close_in_fpdu(struct qp_net *n)
{
	llp_mem_send_raw(n->peer.llp, "\x00\x20\xc1", 3);
	close_now(n);
}

/* ---- the rows ---------------------------------------------------------------------------- */

#define LITERAL(s) s, sizeof(s) - 1
/* Never sent. */
#define NEVER(l, e, c, reason)         \
	{                              \
		l, e, c, .why = reason \
	}
/* M and D: length, then the DDP header; none of RDMAP's. */
#define MD(l, e, c, why, start, header, rest, len, type_code)    \
	{                                                        \
		l, e, c, why, start, NULL, LITERAL(header rest), \
			LITERAL(type_code "\xc0\0\0" len header) \
	}
/* M, D and R: a Read Request is quoted whole. */
#define MDR(code, why, body)                                                         \
	{                                                                            \
		0, 1, code[0], why, answer, NULL, LITERAL(READ_HEADER("\x01") body), \
			LITERAL("\x01" code "\xe0\0\0\x2e" READ_HEADER("\x01") body) \
	}
/* Nothing quoted: no message of the peer's is to blame (RFC 5040 section 7.1, case 1). */
#define BARE(l, e, c, why, start, act, offence, terminate)                     \
	{                                                                      \
		l, e, c, why, start, act, LITERAL(offence), LITERAL(terminate) \
	}

/* Headers. TO and STag by their last bytes. */
#define WRITE(stag, to)       "\xc1\x40\0\0\0" stag "\0\0\0\0\0\0" to
#define RESPONSE(to)          "\xc1\x42\0\0\0\x07\0\0\0\0\0\0" to
#define UNTAGGED(op, qn, msn) "\x41" op "\0\0\0\0\0\0\0" qn "\0\0\0" msn "\0\0\0\0"
#define SEND(msn)             UNTAGGED("\x43", "\0", msn)
#define SEND_INV(op, stag)    "\x41" op "\0\0\0" stag "\0\0\0\0\0\0\0\x01\0\0\0\0"
#define READ(len, stag, to)   "\0\0\0\x77\0\0\0\0\0\0\x30\0\0\0\0" len "\0\0\0" stag to
#define TO_2000               "\0\0\0\0\0\0\x20\0"
#define ATOMIC(code, stag, to)                                                        \
	"\0\0\0" code "\0\0\0\x01\0\0\0" stag to "\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0" \
	"\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
#define ATOMIC_ANSWER(msn) UNTAGGED("\x4b", "\x03", msn)
#define ATOMIC_MD(e, c, why, body, type_code) \
	MD(0, e, c, why, answer, ATOMIC_HEADER("\x01"), body, "\x46", type_code)

static const struct row rows[] = {
	/* RDMA, local catastrophic. */
	BARE(0, 0, 0, "a Write out of memory that is not ours", ask, write_from_nowhere, "",
		"\0\0\0\0"),
	BARE(0, 0, 0, "an Atomic into memory that is not ours", ask, atomic_to_nowhere, "",
		"\0\0\0\0"),
	BARE(0, 0, 0, "a Write with Immediate out of memory that is not ours", ask,
		immediate_from_nowhere, "", "\0\0\0\0"),
	BARE(0, 0, 0, "a receive's memory has gone", answer_receive_gone, NULL, SEND("\x01") "abcd",
		"\0\0\0\0"),
	BARE(0, 0, 0, "an Atomic's sink has gone", ask_atomic_sink_gone, NULL,
		ATOMIC_ANSWER("\x01") "\0\0\0\x01\0\0\0\0\0\0\0\0", "\0\0\0\0"),

	/* RDMA, remote protection: Read Requests, Atomics, Send with Invalidate. */
	MDR("\x00", "a Read of an unknown STag", READ("\x04", "\x08", TO_2000)),
	MDR("\x01", "a Read beyond the end", READ("\x11", "\x09", TO_2000)),
	MDR("\x01", "a Read before the beginning", READ("\x04", "\x09", "\0\0\0\0\0\0\x1f\xff")),
	MDR("\x02", "a Read without the right", READ("\x04", "\x0a", TO_2000)),
	MDR("\x03", "a Read in another protection domain", READ("\x04", "\x0b", TO_2000)),
	MDR("\x04", "a Read with an end that wraps",
		READ("\x04", "\x09", "\xff\xff\xff\xff\xff\xff\xff\xfe")),
	ATOMIC_MD(1, 0x00, "an Atomic on an unknown STag", ATOMIC("\0", "\x08", TO_2000), "\x01\0"),
	ATOMIC_MD(1, 0x01, "an Atomic beyond the end", ATOMIC("\0", "\x09", "\0\0\0\0\0\0\x20\x10"),
		"\x01\x01"),
	ATOMIC_MD(1, 0x02, "an Atomic without the right", ATOMIC("\x02", "\x0c", TO_2000),
		"\x01\x02"),
	ATOMIC_MD(1, 0x03, "an Atomic in another protection domain", ATOMIC("\0", "\x0b", TO_2000),
		"\x01\x03"),
	ATOMIC_MD(1, 0x04, "an Atomic with an end that wraps",
		ATOMIC("\x02", "\x09", "\xff\xff\xff\xff\xff\xff\xff\xf9"), "\x01\x04"),
	{0, 1, 0x00, "an Atomic's target goes while it waits its turn", answer_atomic_waits,
		atomic_target_gone, LITERAL(""),
		LITERAL("\x01\x00\xc0\0\0\x46" ATOMIC_HEADER("\x03"))},
	MD(0, 1, 0x09, "Send with Invalidate of an unknown STag", answer_with_receive,
		SEND_INV("\x44", "\x08"), "", "\x12", "\x01\x09"),
	MD(0, 1, 0x09, "Send with Invalidate of another protection domain's STag",
		answer_with_receive, SEND_INV("\x44", "\x0b"), "", "\x12", "\x01\x09"),
	MD(0, 1, 0x09, "Send with SE and Invalidate of an STag that peers may not reach",
		answer_with_receive, SEND_INV("\x46", "\x0a"), "ab", "\x14", "\x01\x09"),
	NEVER(0, 1, 0xff, "Each protection error found has a code that says more"),

	/* RDMA, remote operation. */
	MD(0, 2, 0x05, "RDMAP version 0", answer, UNTAGGED("\x03", "\0", "\x01"), "", "\x12",
		"\x02\x05"),
	MD(0, 2, 0x05, "RDMAP version 2", answer, "\xc1\x80\0\0\0\x09" TO_2000, "ab", "\x10",
		"\x02\x05"),
	MD(0, 2, 0x05, "RDMAP version 3", answer, UNTAGGED("\xca", "\x01", "\x01"), "", "\x12",
		"\x02\x05"),
	MD(0, 2, 0x06, "opcode 12", answer, UNTAGGED("\x4c", "\0", "\x01"), "", "\x12", "\x02\x06"),
	MD(0, 2, 0x06, "opcode 15", answer, UNTAGGED("\x4f", "\0", "\x01"), "", "\x12", "\x02\x06"),
	MD(0, 2, 0x06, "a Write, untagged", answer, UNTAGGED("\x40", "\0", "\x01"), "", "\x12",
		"\x02\x06"),
	MD(0, 2, 0x06, "a Send, tagged", answer, "\xc1\x43\0\0\0\x09" TO_2000, "", "\x0e",
		"\x02\x06"),
	MD(0, 2, 0x06, "a Send on the Read queue", answer, UNTAGGED("\x43", "\x01", "\x01"), "",
		"\x12", "\x02\x06"),
	MD(0, 2, 0x06, "a Read Request on the Send queue", answer, UNTAGGED("\x41", "\0", "\x01"),
		"", "\x12", "\x02\x06"),
	MD(0, 2, 0x06, "a Terminate on the Send queue", answer, UNTAGGED("\x47", "\0", "\x01"),
		"\0\0\0\0", "\x16", "\x02\x06"),
	MD(0, 2, 0x06, "Immediate Data on the Read queue", answer, UNTAGGED("\x48", "\x01", "\x01"),
		"12345678", "\x1a", "\x02\x06"),
	MD(0, 2, 0x06, "Immediate Data with SE, tagged", answer, "\xc1\x49\0\0\0\x09" TO_2000,
		"12345678", "\x16", "\x02\x06"),
	MD(0, 2, 0x06, "Immediate Data inside a Send", answer_in_send,
		"\x41\x48\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04", "12345678", "\x1a", "\x02\x06"),
	MD(0, 2, 0x06, "an Atomic Request on the Send queue", answer,
		UNTAGGED("\x4a", "\0", "\x01"), "", "\x12", "\x02\x06"),
	MD(0, 2, 0x06, "an Atomic Response on the Read queue", answer,
		UNTAGGED("\x4b", "\x01", "\x01"), "", "\x12", "\x02\x06"),
	MD(0, 2, 0x06, "a Read Response that nobody asked for", ask, RESPONSE("\x10\0"), "abcd",
		"\x12", "\x02\x06"),
	MD(0, 2, 0x06, "a Read Response where an Atomic's is due", ask_atomic, RESPONSE("\x10\0"),
		"12345678", "\x16", "\x02\x06"),
	MD(0, 2, 0x06, "an Atomic Response where a Read's is due", ask_read, ATOMIC_ANSWER("\x01"),
		"\0\0\0\x01\0\0\0\0\0\0\0\0", "\x1e", "\x02\x06"),
	ATOMIC_MD(2, 0x06, "Atomic code 1, reserved", ATOMIC("\x01", "\x09", TO_2000), "\x02\x06"),
	ATOMIC_MD(2, 0x06, "Atomic code 15", ATOMIC("\x0f", "\x09", TO_2000), "\x02\x06"),
	ATOMIC_MD(2, 0x07, "FetchAdd at an odd address",
		ATOMIC("\0", "\x09", "\0\0\0\0\0\0\x20\x04"), "\x02\x07"),
	ATOMIC_MD(2, 0x07, "CmpSwap at an odd address",
		ATOMIC("\x02", "\x09", "\0\0\0\0\0\0\x20\x01"), "\x02\x07"),
	NEVER(0, 2, 0x08, "No error of a stream ends others"),
	NEVER(0, 2, 0x09, "Told as a protection error (01, 09), as Figure 10 has it"),
	MD(0, 2, 0xff, "a Read Request that is too short", answer, READ_HEADER("\x01"), "1234",
		"\x16", "\x02\xff"),
	MD(0, 2, 0xff, "a Read Request that goes on", answer,
		"\x01\x41\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0", READ("\x04", "\x09", TO_2000),
		"\x2e", "\x02\xff"),
	MD(0, 2, 0xff, "an Atomic Request that is too short", answer, ATOMIC_HEADER("\x01"), "1234",
		"\x16", "\x02\xff"),
	MD(0, 2, 0xff, "Immediate Data of seven bytes", answer_with_receive,
		UNTAGGED("\x48", "\0", "\x01"), "1234567", "\x19", "\x02\xff"),
	MD(0, 2, 0xff, "Immediate Data of nine bytes", answer_with_receive,
		UNTAGGED("\x49", "\0", "\x01"), "123456789", "\x1b", "\x02\xff"),
	MD(0, 2, 0xff, "a Read Response that ends early", ask_read, RESPONSE("\x10\0"), "abcd",
		"\x12", "\x02\xff"),
	MD(0, 2, 0xff, "an Atomic Response of another request", ask_atomic, ATOMIC_ANSWER("\x01"),
		"\0\0\0\x02\0\0\0\0\0\0\0\0", "\x1e", "\x02\xff"),
	MD(0, 2, 0xff, "an Atomic Response that is too short", ask_atomic, ATOMIC_ANSWER("\x01"),
		"\0\0\0\x01", "\x16", "\x02\xff"),
	BARE(0, 2, 0xff, "shorter than any DDP header", ask, NULL, "\xc1\x40\0", "\x02\xff\0\0"),
	BARE(0, 2, 0xff, "untagged, but as short as a tagged header", ask, NULL,
		"\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x01", "\x02\xff\0\0"),

	/* DDP. */
	NEVER(1, 0, 0x00, "Errors of our own are told by RDMAP"),
	MD(1, 1, 0x00, "a Write to an unknown STag", answer, WRITE("\x08", "\x20\0"), "abcd",
		"\x12", "\x11\0"),
	MD(1, 1, 0x00, "a Write without the right", answer, WRITE("\x0a", "\x20\0"), "abcd", "\x12",
		"\x11\0"),
	MD(1, 1, 0x00, "a Read Response into another buffer", ask_read,
		"\xc1\x42\0\0\0\x09\0\0\0\0\0\0\x10\0", "12345678", "\x16", "\x11\0"),
	MD(1, 1, 0x00, "a Read Response into memory that has gone", ask_sink_gone,
		RESPONSE("\x10\0"), "12345678", "\x16", "\x11\0"),
	MD(1, 1, 0x01, "a Write beyond the end", answer, WRITE("\x09", "\x20\x0d"), "abcd", "\x12",
		"\x11\x01"),
	MD(1, 1, 0x01, "a Write before the beginning", answer, WRITE("\x09", "\x1f\xff"), "abcd",
		"\x12", "\x11\x01"),
	MD(1, 1, 0x01, "a Read Response elsewhere in the buffer", ask_read, RESPONSE("\x10\x01"),
		"1234567", "\x15", "\x11\x01"),
	MD(1, 1, 0x01, "a Read Response longer than asked", ask_read, RESPONSE("\x10\0"),
		"123456789", "\x17", "\x11\x01"),
	MD(1, 1, 0x02, "a Write in another protection domain", answer, WRITE("\x0b", "\x20\0"),
		"abcd", "\x12", "\x11\x02"),
	MD(1, 1, 0x03, "a Write with an end that wraps", answer,
		"\xc1\x40\0\0\0\x09\xff\xff\xff\xff\xff\xff\xff\xfd", "abcd", "\x12", "\x11\x03"),
	MD(1, 1, 0x04, "DDP version 0, tagged", answer, "\xc0\x40\0\0\0\x09" TO_2000, "abcd",
		"\x12", "\x11\x04"),
	MD(1, 1, 0x04, "DDP version 2, tagged", answer, "\xc2\x40\0\0\0\x09" TO_2000, "abcd",
		"\x12", "\x11\x04"),
	MD(1, 2, 0x01, "queue 4", answer, UNTAGGED("\x43", "\x04", "\x01"), "", "\x12", "\x12\x01"),
	MD(1, 2, 0x01, "queue 2^32 - 1", answer,
		"\x41\x43\0\0\0\0\xff\xff\xff\xff\0\0\0\x01\0\0\0\0", "", "\x12", "\x12\x01"),
	MD(1, 2, 0x02, "a Send without a receive", answer, SEND("\x01"), "x", "\x13", "\x12\x02"),
	MD(1, 2, 0x02, "an empty Send without a receive", answer, SEND("\x01"), "", "\x12",
		"\x12\x02"),
	MD(1, 2, 0x02, "Immediate Data without a receive", answer, UNTAGGED("\x48", "\0", "\x01"),
		"12345678", "\x1a", "\x12\x02"),
	MD(1, 2, 0x02, "an Atomic Response that nobody asked for", ask, ATOMIC_ANSWER("\x01"),
		"\0\0\0\x01\0\0\0\0\0\0\0\0", "\x1e", "\x12\x02"),
	{1, 2, 0x02, "a Read Request beyond the IRD", answer_busy, release, LITERAL(READ_1("\x05")),
		LITERAL("\x12\x02\xc0\0\0\x2e" READ_HEADER("\x05"))},
	{1, 2, 0x02, "an Atomic Request beyond the IRD", answer_busy, release,
		LITERAL(ATOMIC_HEADER("\x05") ATOMIC("\0", "\x09", TO_2000)),
		LITERAL("\x12\x02\xc0\0\0\x46" ATOMIC_HEADER("\x05"))},
	MD(1, 2, 0x03, "an MSN too early", answer_with_receive, SEND("\0"), "", "\x12", "\x12\x03"),
	MD(1, 2, 0x03, "a Read Request's MSN too late", answer, READ_HEADER("\x02"),
		READ("\x04", "\x09", TO_2000), "\x2e", "\x12\x03"),
	MD(1, 2, 0x03, "a second Terminate's MSN", answer, UNTAGGED("\x47", "\x02", "\x02"),
		"\0\0\0\0", "\x16", "\x12\x03"),
	MD(1, 2, 0x04, "an MO inside a message that has not begun", answer_with_receive,
		"\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01", "x", "\x13", "\x12\x04"),
	MD(1, 2, 0x04, "an MO that leaves a gap", answer_in_send,
		"\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x05", "x", "\x13", "\x12\x04"),
	MD(1, 2, 0x05, "a Send longer than its receive", answer_with_receive, SEND("\x01"),
		"1234567", "\x19", "\x12\x05"),
	MD(1, 2, 0x05, "a Send longer than its receive, in its second segment", answer_in_send,
		"\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04", "567", "\x15", "\x12\x05"),
	MD(1, 2, 0x05, "a Read Request that is too long", answer, READ_HEADER("\x01"),
		READ("\x04", "\x09", TO_2000) "x", "\x2f", "\x12\x05"),
	MD(1, 2, 0x05, "an Atomic Request that is too long", answer, ATOMIC_HEADER("\x01"),
		ATOMIC("\0", "\x09", TO_2000) "x", "\x47", "\x12\x05"),
	MD(1, 2, 0x05, "an Atomic Response that is too long", ask_atomic, ATOMIC_ANSWER("\x01"),
		"\0\0\0\x01\0\0\0\0\0\0\0\0x", "\x1f", "\x12\x05"),
	MD(1, 2, 0x06, "DDP version 0, untagged", answer,
		"\x40\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0", "", "\x12", "\x12\x06"),
	MD(1, 2, 0x06, "DDP version 3, untagged", answer,
		"\x43\x4a\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0", "", "\x12", "\x12\x06"),

	/* MPA. Nothing is quoted (Figure 10). */
	BARE(2, 0, 0x01, "FIN inside an FPDU", ask, close_in_fpdu, "", "\x20\x01\0\0"),
	BARE(2, 0, 0x01, "FIN inside a Send", answer_in_send, close_now, "", "\x20\x01\0\0"),
	BARE(2, 0, 0x01, "FIN while a Read is outstanding", ask_read, close_now, "",
		"\x20\x01\0\0"),
	BARE(2, 0, 0x01, "FIN while an Atomic is outstanding", ask_atomic, close_now, "",
		"\x20\x01\0\0"),
	BARE(2, 0, 0x02, "a bad CRC", ask_with_crc, NULL, WRITE("\x09", "\x20\0"), "\x20\x02\0\0"),
	BARE(2, 0, 0x03, "no marker where one must be", ask_with_markers, NULL,
		"\xc1\x40\0\0\0\x09\0\0\0\0\0\0\x20\0abcdefghijklmnop", "\x20\x03\0\0"),
	NEVER(2, 0, 0x04, "RFC 5044 section 8: the TCP connection is closed at once"),
	NEVER(2, 0, 0x05, "What goes wrong here in start-up is told by a reject or by closing"),
	NEVER(2, 0, 0x06, "Of start-up: rnic-conn, more_reads_than_we_can_take"),
	NEVER(2, 0, 0x07, "Of start-up: rnic-conn, no_common_rtr"),
};

#define ROWS (sizeof rows / sizeof rows[0])

static void test_rows(void **state)
{
	for (unsigned i = 0; i < ROWS; i++) {
		const struct row *t = &rows[i];
		struct qp_net n;
		struct qp *q;

		if (t->start == NULL)
			continue;
		t->start(&n);
		if (t->offence_len != 0)
			qp_net_feed(&n, t->offence, t->offence_len);
		if (t->act != NULL)
			t->act(&n);
		qp_net_run(&n);
		q = n.a->operationals ? n.a : n.b;
		if (q->endeds != 1 || q->end.kind != RDMAP_END_TERMINATE_TX ||
			q->end.layer != t->layer || q->end.etype != t->etype ||
			q->end.code != t->code)
			fail_msg("%s: %u ends, kind %d, %u %u %u", t->why, q->endeds, q->end.kind,
				q->end.layer, q->end.etype, q->end.code);
		print_message("%s\n", t->why);
		qp_net_expect_terminate(&n, t->terminate, t->terminate_len);
		qp_net_done(&n);
	}
}

/* Every code of the RFCs has a row, and every row's Terminate says what the row is about. */
static void test_complete(void **state)
{
	for (size_t i = 0; i < rdmap_term_codes_count; i++) {
		const struct rdmap_term_code *c = &rdmap_term_codes[i];
		unsigned n = 0;

		for (unsigned k = 0; k < ROWS; k++)
			n += rows[k].layer == c->layer && rows[k].etype == c->etype &&
			     rows[k].code == c->code;
		if (n == 0)
			fail_msg("no row: %s", c->name);
	}
	for (unsigned k = 0; k < ROWS; k++) {
		const struct row *t = &rows[k];

		assert_non_null(t->why);
		assert_non_null(rdmap_term_code(t->layer, t->etype, t->code));
		if (t->start == NULL)
			continue;
		assert_int_equal((uint8_t)t->terminate[0], t->layer << 4 | t->etype);
		assert_int_equal((uint8_t)t->terminate[1], t->code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
