/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that overlaps, comes twice, out of order or outside the window. */
#include "script.h"

#include <errno.h>

static void in_order(struct script *s)
{
	accepted(s);
	for (uint32_t i = 0; i < 5; i++) {
		peer(s, "P. %u:%u ack 1", 1 + 100 * i, 101 + 100 * i);
		host(s, ". 1 ack %u", 101 + 100 * i);
	}
	reads(s, 500);
	receive_is(s, -EAGAIN);
}

/* Every order of four segments gives the same bytes once all are there. */
static void every_order(struct script *s)
{
	static const uint8_t order[24][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1},
		{0, 3, 1, 2}, {0, 3, 2, 1}, {1, 0, 2, 3}, {1, 0, 3, 2}, {1, 2, 0, 3}, {1, 2, 3, 0},
		{1, 3, 0, 2}, {1, 3, 2, 0}, {2, 0, 1, 3}, {2, 0, 3, 1}, {2, 1, 0, 3}, {2, 1, 3, 0},
		{2, 3, 0, 1}, {2, 3, 1, 0}, {3, 0, 1, 2}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 1, 2, 0},
		{3, 2, 0, 1}, {3, 2, 1, 0}};

	accepted(s);
	for (uint32_t k = 0; k < 24; k++) {
		for (uint32_t i = 0; i < 4; i++) {
			uint32_t at = 1 + 400 * k + 100 * order[k][i];

			peer(s, "P. %u:%u ack 1", at, at + 100);
			pass(s, MS);
		}
		reads(s, 400);
		receive_is(s, -EAGAIN);
		pass(s, SEC);
	}
}

/*
 * The middle of 100 bytes is there; what comes then overlaps it from the left, from the right, on
 * both sides, inside and exactly. RFC 9293 section 3.10.7.4 leaves open which copy counts where
 * both are the same: so they must be, and what a sender got acknowledged must not change.
 */
static void overlaps_what_waits(struct script *s)
{
	static const struct {
		uint32_t left, right;
	} other[] = {{21, 41}, {21, 51}, {21, 61}, {21, 71}, {31, 51}, {41, 51}, {41, 61}, {41, 71},
		{51, 61}, {61, 81}, {35, 45}, {11, 91}, {1, 101}};

	accepted(s);
	for (uint32_t k = 0; k < sizeof other / sizeof *other; k++) {
		uint32_t at = 100 * k;

		peer(s, "P. %u:%u ack 1", at + 41, at + 61);
		pass(s, 0);
		peer(s, "P. %u:%u ack 1", at + other[k].left, at + other[k].right);
		pass(s, 0);
		if (other[k].left > 1)
			receive_is(s, -EAGAIN);
		/* All of it, once more or for the first time: each byte is delivered once. */
		peer(s, "P. %u:%u ack 1", at + 1, at + 101);
		host(s, ". 1 ack %u", at + 101);
		reads(s, 100);
		receive_is(s, -EAGAIN);
	}
}

/* Which copy of bytes 1:101 is to be delivered. */
enum owner { NOBODY, FIRST, OTHER };

static void owns(enum owner *of, uint32_t left, uint32_t right, enum owner owner)
{
	for (uint32_t i = left; i < right; i++)
		of[i] = owner;
}

/* The end of the run of bytes of one owner. */
static uint32_t run_end(const enum owner *of, uint32_t from)
{
	uint32_t to = from;

	while (to < 101 && of[to] == of[from])
		to++;
	return to;
}

/* The peer fills what is missing, exactly; then each byte must be its owner's. */
static void fill_and_read(struct script *s, uint32_t at, enum owner *of)
{
	for (uint32_t i = 1, end; i < 101; i = end) {
		end = run_end(of, i);
		if (of[i] != NOBODY)
			continue;
		peer(s, "P. %u:%u ack 1", at + i, at + end);
		pass(s, 0);
		owns(of, i, end, FIRST);
	}
	for (uint32_t i = 1, end; i < 101; i = end) {
		end = run_end(of, i);
		if (of[i] == FIRST)
			reads(s, end - i);
		else
			reads_other(s, end - i);
	}
	receive_is(s, -EAGAIN);
}

static const struct overlap {
	uint32_t next, left, right; /* RCV.NXT, and what comes */
} overlaps[] = {
	/* Out of order: before the first, its head, all of it, beyond; and into the second. */
	{1, 31, 41}, {1, 31, 51}, {1, 31, 61}, {1, 31, 66}, {1, 31, 81},
	/* Its head, inside, exactly it, its tail; the head of the second; both, and all. */
	{1, 41, 51}, {1, 46, 56}, {1, 41, 61}, {1, 51, 66}, {1, 51, 61}, {1, 51, 81}, {1, 66, 76},
	{1, 41, 91}, {1, 31, 96}, {1, 2, 101},
	/* In order: up to the first, its head, all of it, beyond; both; everything. */
	{1, 1, 41}, {1, 1, 51}, {1, 1, 61}, {1, 1, 66}, {1, 1, 81}, {1, 1, 91}, {1, 1, 96},
	{1, 1, 101},
	/* What was delivered: its tail, all of it, inside; and what waits besides. */
	{21, 11, 31}, {21, 1, 31}, {21, 1, 21}, {21, 6, 16}, {21, 11, 51}, {21, 11, 61},
	{21, 1, 81}, {21, 1, 101}};

static void send_overlap(struct script *s, uint32_t at, const struct overlap *o)
{
	if (o->next > 1)
		peer(s, "P. %u:%u ack 1", at + 1, at + o->next);
	pass(s, 0);
	peer(s, "P. %u:%u ack 1", at + 41, at + 61);
	pass(s, 0);
	peer(s, "P. %u:%u ack 1", at + 71, at + 91);
	pass(s, 0);
	peer(s, "P. %u:%u ack 1 other", at + o->left, at + o->right);
	pass(s, 0);
}

/*
 * 41:61 and 71:91 wait, and perhaps 1:21 was delivered; what comes then has other bytes. RFC 9293
 * section 3.10.7.4 leaves open which copy counts. With us the first does, with one exception: of a
 * segment that reaches RCV.NXT all from there on is delivered as it came, and what waited of that
 * gives way. So it goes up in one piece; what was acknowledged by SEG.ACK never changes.
 */
static void other_bytes_overlap(struct script *s)
{
	accepted(s);
	for (uint32_t k = 0; k < sizeof overlaps / sizeof *overlaps; k++) {
		const struct overlap *o = &overlaps[k];
		enum owner of[101] = {NOBODY};

		send_overlap(s, 100 * k, o);
		if (o->left > o->next)
			owns(of, o->left, o->right, OTHER);
		owns(of, 41, 61, FIRST);
		owns(of, 71, 91, FIRST);
		if (o->left <= o->next)
			owns(of, o->left, o->right, OTHER);
		owns(of, 1, o->next, FIRST);
		fill_and_read(s, 100 * k, of);
	}
}

/* What was delivered, or waits in order, is not overwritten by what comes late. */
static void late_copies_do_not_count(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 101");
	peer(s, "P. 1:101 ack 1 other");
	host(s, ". 1 ack 101%s", s->way & SACK ? " <sack 1:101>" : "");
	peer(s, "P. 51:151 ack 1");
	host(s, ". 1 ack 151%s", s->way & SACK ? " <sack 51:101>" : "");
	reads(s, 150);
	receive_is(s, -EAGAIN);
}

/* All but the first byte of a segment was there already. */
static void one_new_byte(struct script *s)
{
	accepted(s);
	peer(s, "P. 2:101 ack 1");
	host(s, ". 1 ack 1%s", s->way & SACK ? " <sack 2:101>" : "");
	receive_is(s, -EAGAIN);
	peer(s, "P. 1:101 ack 1");
	pass(s, 0);
	reads(s, 100);
}

/* A FIN waits behind a gap with the text before it. */
static void fin_out_of_order(struct script *s)
{
	accepted(s);
	peer(s, "FP. 101:201 ack 1");
	host(s, ". 1 ack 1%s", s->way & SACK ? " <sack 101:201>" : "");
	state_is(s, "ESTABLISHED");
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 202");
	state_is(s, "CLOSE-WAIT");
	reads(s, 200);
	receive_is(s, 0);
}

/* Text behind a FIN does not exist (section 3.10.7.4, seventh). */
static void text_behind_the_fin(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 101");
	peer(s, "F. 101 ack 1");
	host(s, ". 1 ack 102");
	peer(s, "P. 102:202 ack 1");
	pass(s, SEC);
	reads(s, 100);
	receive_is(s, 0);
}

/* The same FIN, alone and with its text, over and over. */
static void fin_again(struct script *s)
{
	accepted(s);
	peer(s, "FP. 1:101 ack 1");
	host(s, ". 1 ack 102");
	peer(s, "FP. 1:101 ack 1");
	host(s, ". 1 ack 102");
	peer(s, "F. 101 ack 1");
	host(s, ". 1 ack 102");
	reads(s, 100);
	receive_is(s, 0);
	state_is(s, "CLOSE-WAIT");
}

/* What is in the window is taken, what is behind it is cut off (section 3.10.7.4, first). */
static void across_the_right_edge(struct script *s)
{
	uint32_t edge;

	accepted(s);
	edge = s->edge - s->base.ack;
	peer(s, "P. %u:%u ack 1", edge - 100, edge + 100);
	host(s, ". 1 ack 1");
	receive_is(s, -EAGAIN);
}

/* Many single bytes with gaps between: bounded, and all the same in the end. */
static void a_comb(struct script *s)
{
	accepted(s);
	for (uint32_t i = 2; i <= 2000; i += 2) {
		peer(s, "P. %u:%u ack 1", i, i + 1);
		pass(s, 0);
	}
	receive_is(s, -EAGAIN);
	for (uint32_t i = 1; i <= 2001; i += 100) {
		peer(s, "P. %u:%u ack 1", i, i + 100);
		pass(s, 0);
	}
	reads(s, 2000);
}

/* Wrapped by 2 GB, text is old or far in the future: never taken. */
static void far_away(struct script *s)
{
	accepted(s);
	peer(s, "P. 2147483648:2147483658 ack 1");
	host(s, ". 1 ack 1");
	peer(s, "P. -1000000:-999990 ack 1");
	host(s, ". 1 ack 1%s", s->way & SACK ? " <sack -1000000:-999990>" : "");
	receive_is(s, -EAGAIN);
}

const struct script_test script_tests[] = {
	SCRIPT(in_order, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(every_order, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(overlaps_what_waits, "RFC 9293 section 3.10.7.4", V6 | TS | WS | WRAP, 0),
	SCRIPT(other_bytes_overlap, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(late_copies_do_not_count, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(one_new_byte, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(fin_out_of_order, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(text_behind_the_fin, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(fin_again, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(across_the_right_edge, "RFC 9293 section 3.10.7.4", V6 | TS | WS | WRAP, 0),
	SCRIPT(a_comb, "RFC 9293 section 3.10.7.4", V6 | TS | SACK | WRAP, 0),
	SCRIPT(far_away, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPTS_END,
};
