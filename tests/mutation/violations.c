/* SPDX-License-Identifier: BSD-2-Clause */
#include "violations.h"

#include "rdmap/opcode.h"

#include <stdlib.h>
#include <string.h>

/* ---- what can be changed -------------------------------------------------------------------- */

struct violations_finder {
	const struct variant *all;
	struct violations_targets *targets;
	bool imperfect; /**< a hole: what is wrong behind it may not be known */
};

static struct violations_target *violations_add(struct violations_finder *w, struct stream *s)
{
	struct violations_targets *t = w->targets;

	if (t->n == t->cap) {
		t->cap = t->cap == 0 ? 64 : 2 * t->cap;
		t->list = realloc(t->list, t->cap * sizeof *t->list);
		if (!t->list)
			abort();
	}
	t->list[t->n] = (struct violations_target){.from = *stream_from(s)};
	return &t->list[t->n++];
}

static void violations_take_octets(struct violations_target *t, uint32_t len)
{
	t->len = len;
	t->at = malloc(len * sizeof *t->at);
	if (!t->at)
		abort();
}

static void violations_on_opened(void *user, struct connection *c)
{
}

/* A start-up frame in one segment: its bytes are where its key is. */
static void violations_on_start(void *user, struct connection *c, struct stream *s)
{
	struct violations_finder *w = user;
	const struct cap_frame *f = NULL;
	struct violations_target *t;
	struct packet p;

	for (unsigned i = 0; i < w->all->n && !f; i++)
		if (w->all->frames[i].number == s->start.frame)
			f = &w->all->frames[i];
	if (s->start.error || !f || packet_parse(f, &p) != PACKET_TCP ||
		p.captured < s->start.len || memcmp(p.text, s->start.bytes, s->start.len) != 0)
		return;
	t = violations_add(w, s);
	t->start = true;
	t->frame = s->start.frame;
	violations_take_octets(t, (uint32_t)s->start.len);
	for (uint32_t i = 0; i < t->len; i++)
		t->at[i] = (uint8_t *)(uintptr_t)p.text + i;
}

static void violations_on_fpdu(
	void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	struct violations_finder *w = user;
	struct mpa_cursor at = f->raw;
	struct violations_target *t;

	if (f->unseen || !f->header || f->ddp != DDP_OK || f->result != MPA_DEFRAME_GOOD)
		return;
	t = violations_add(w, s);
	t->crc = f->crc;
	t->markers = f->markers;
	t->rev0 = s->start.seen && s->start.revision == 0;
	t->octet = f->at;
	t->ulpdu_len = f->fpdu.ulpdu.len;
	t->frame = f->frame;
	violations_take_octets(t, f->fpdu.len);
	for (uint32_t i = 0; i < t->len; i++) {
		t->at[i] = (uint8_t *)(uintptr_t)mpa_cursor_at(&at);
		mpa_cursor_pass(&at, 1);
	}
}

static void violations_on_missing(
	void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	struct violations_finder *w = user;

	w->imperfect = true;
}

void violations_free(struct violations_targets *targets)
{
	for (unsigned i = 0; i < targets->n; i++)
		free(targets->list[i].at);
	free(targets->list);
	*targets = (struct violations_targets){0};
}

void violations_find(const struct variant *all, struct violations_targets *targets)
{
	static const struct connection_ops ops = {
		.opened = violations_on_opened,
		.start = violations_on_start,
		.fpdu = violations_on_fpdu,
		.missing = violations_on_missing,
	};
	struct violations_finder w = {.all = all, .targets = targets};
	struct follow follow;

	*targets = (struct violations_targets){0};
	if (follow_init(&follow, &all->config, &ops, &w) != 0)
		abort();
	for (unsigned i = 0; i < all->n; i++)
		follow_frame(&follow, &all->frames[i]);
	follow_finish(&follow);
	if (w.imperfect)
		violations_free(targets);
}

/* ---- octets --------------------------------------------------------------------------------- */

static void violations_set(struct violations_target *t, uint32_t i, uint8_t value)
{
	t->undo[t->num_undo].at = t->at[i];
	t->undo[t->num_undo++].was = *t->at[i];
	*t->at[i] = value;
}

void violations_undo(struct violations_target *t)
{
	while (t->num_undo != 0) {
		t->num_undo--;
		*t->undo[t->num_undo].at = t->undo[t->num_undo].was;
	}
}

static bool violations_is_marker(const struct violations_target *t, uint32_t i)
{
	return t->markers && (t->octet + i) % MPA_MARKER_PERIOD < MPA_MARKER_LEN;
}

/* Where octet @p i of the FPDU without markers is. */
static uint32_t violations_at(const struct violations_target *t, uint32_t i)
{
	uint32_t at = 0;

	for (;; at++) {
		if (violations_is_marker(t, at))
			continue;
		if (i-- == 0)
			return at;
	}
}

static uint8_t violations_octet(const struct violations_target *t, uint32_t i)
{
	return *t->at[violations_at(t, MPA_FPDU_HEADER_LEN + i)];
}

static void violations_fix_crc(struct violations_target *t)
{
	uint32_t crc = MPA_CRC_START, end = t->len - MPA_CRC_LEN;

	if (!t->crc)
		return;
	for (uint32_t i = 0; i < end; i++)
		crc = mpa_crc_add(crc, t->at[i], 1);
	crc = mpa_crc_end(crc);
	for (unsigned i = 0; i < MPA_CRC_LEN; i++)
		violations_set(t, end + i, (uint8_t)(crc >> 8 * i));
}

/* Octet @p i of the ULPDU is another. */
static bool violations_change(struct violations_target *t, uint32_t i, uint8_t value)
{
	if (t->start || i >= t->ulpdu_len || violations_octet(t, i) == value)
		return false;
	violations_set(t, violations_at(t, MPA_FPDU_HEADER_LEN + i), value);
	violations_fix_crc(t);
	return true;
}

static bool violations_flip(struct violations_target *t, uint32_t i, uint8_t bits)
{
	return !t->start && i < t->ulpdu_len &&
	       violations_change(t, i, violations_octet(t, i) ^ bits);
}

static uint32_t violations_word(const struct violations_target *t, uint32_t i)
{
	uint32_t v = 0;

	for (unsigned k = 0; k < 4; k++)
		v = v << 8 | violations_octet(t, i + k);
	return v;
}

static bool violations_change_word(struct violations_target *t, uint32_t i, uint32_t value)
{
	if (t->start || i + 4 > t->ulpdu_len || violations_word(t, i) == value)
		return false;
	for (unsigned k = 0; k < 4; k++)
		violations_set(t, violations_at(t, MPA_FPDU_HEADER_LEN + i + k),
			(uint8_t)(value >> 8 * (3 - k)));
	violations_fix_crc(t);
	return true;
}

static bool violations_is_tagged(const struct violations_target *t)
{
	return !t->start && violations_octet(t, DDP_AT_CONTROL) & DDP_CONTROL_TAGGED;
}

static bool violations_is_untagged(const struct violations_target *t)
{
	return !t->start && !violations_is_tagged(t);
}

static uint8_t violations_opcode(const struct violations_target *t)
{
	return violations_octet(t, DDP_AT_ULP) & RDMAP_CONTROL_OPCODE;
}

/* ---- MPA ------------------------------------------------------------------------------------ */

static bool violations_key(struct violations_target *t, unsigned i)
{
	if (!t->start || i >= MPA_KEY_LEN)
		return false;
	violations_set(t, i, *t->at[i] ^ 0x20);
	return true;
}

static bool violations_start_flags(struct violations_target *t, unsigned i)
{
	if (!t->start || i >= 4)
		return false;
	violations_set(t, MPA_AT_FLAGS, *t->at[MPA_AT_FLAGS] ^ (uint8_t)(1u << i));
	return true;
}

static bool violations_start_revision(struct violations_target *t, unsigned i)
{
	static const uint8_t revisions[] = {3, 4, 128, 255};

	if (!t->start || i >= sizeof revisions)
		return false;
	violations_set(t, MPA_AT_REVISION, revisions[i]);
	return true;
}

static bool violations_start_length(struct violations_target *t, unsigned i)
{
	if (!t->start || i >= 2)
		return false;
	violations_set(t, MPA_AT_PD_LENGTH, i == 0 ? 3 : 0xff);
	return true;
}

static bool violations_crc(struct violations_target *t, unsigned i)
{
	uint32_t at = t->len - 1 - i;

	if (t->start || !t->crc || i >= 6 || violations_is_marker(t, at))
		return false;
	violations_set(t, at, *t->at[at] ^ 0x10);
	return true;
}

static bool violations_pad(struct violations_target *t, unsigned i)
{
	uint32_t at = MPA_FPDU_HEADER_LEN + t->ulpdu_len + i;

	if (t->start || at >= mpa_fpdu_body(t->ulpdu_len))
		return false;
	violations_set(t, violations_at(t, at), 0x5a);
	violations_fix_crc(t);
	return true;
}

static bool violations_marker(struct violations_target *t, unsigned i)
{
	static const uint8_t bits[] = {0x80, 0x01, 0x10, 0x03, 0x04};

	for (uint32_t at = 0; !t->start && i < sizeof bits && at < t->len; at++)
		if (violations_is_marker(t, at)) {
			at += i == 0 ? 0 : i == 1 ? 1 : i == 2 ? 2 : 3;
			violations_set(t, at, *t->at[at] ^ bits[i]);
			violations_fix_crc(t);
			return true;
		}
	return false;
}

/* The length is another; the CRC is not made good, as nobody could tell where it is. */
static bool violations_length(struct violations_target *t, unsigned i)
{
	uint32_t low = t->ulpdu_len & 0xff, high = t->ulpdu_len >> 8;

	if (t->start || i >= 3 || !t->crc)
		return false;
	violations_set(t, violations_at(t, 0),
		i == 0   ? 0xff
		: i == 1 ? (uint8_t)low
			 : (uint8_t)high);
	violations_set(t, violations_at(t, 1),
		i == 0   ? 0xff
		: i == 1 ? (uint8_t)high
			 : (uint8_t)(low ^ 4));
	return i != 1 || low != high;
}

/* ---- DDP ------------------------------------------------------------------------------------ */

static bool violations_ddp_version(struct violations_target *t, unsigned i)
{
	return i < 3 && violations_flip(t, DDP_AT_CONTROL, (uint8_t)(i + 1));
}

static bool violations_ddp_reserved(struct violations_target *t, unsigned i)
{
	return i < 4 && violations_flip(t, DDP_AT_CONTROL, (uint8_t)(4u << i));
}

static bool violations_ddp_tagged(struct violations_target *t, unsigned i)
{
	return i < 1 && violations_flip(t, DDP_AT_CONTROL, DDP_CONTROL_TAGGED);
}

static bool violations_queue(struct violations_target *t, unsigned i)
{
	static const uint32_t queues[] = {0, 1, 2, 3, 4, 0x01000000, 0xffffffff};

	return i < sizeof queues / sizeof *queues && violations_is_untagged(t) &&
	       violations_change_word(t, DDP_AT_QN, queues[i]);
}

static bool violations_msn(struct violations_target *t, unsigned i)
{
	uint32_t msn = violations_is_untagged(t) ? violations_word(t, DDP_AT_MSN) : 0;
	const uint32_t values[] = {0, msn + 1, msn - 1, msn + 1000, __builtin_bswap32(msn), ~0u};

	return i < sizeof values / sizeof *values && violations_is_untagged(t) &&
	       violations_change_word(t, DDP_AT_MSN, values[i]);
}

static bool violations_mo(struct violations_target *t, unsigned i)
{
	uint32_t mo = violations_is_untagged(t) ? violations_word(t, DDP_AT_MO) : 0;
	const uint32_t values[] = {mo + 4, mo ^ 0x80000000, mo + 1};

	return i < sizeof values / sizeof *values && violations_is_untagged(t) &&
	       violations_change_word(t, DDP_AT_MO, values[i]);
}

/* ---- RDMAP ---------------------------------------------------------------------------------- */

static bool violations_rdma_version(struct violations_target *t, unsigned i)
{
	return i < 3 && !t->rev0 && violations_flip(t, DDP_AT_ULP, (uint8_t)((i + 1) << 6));
}

static bool violations_rdmap_reserved(struct violations_target *t, unsigned i)
{
	return i < 2 && violations_flip(t, DDP_AT_ULP, (uint8_t)(0x10u << i));
}

static bool violations_unknown_opcode(struct violations_target *t, unsigned i)
{
	return !t->start && i < 4 &&
	       violations_change(t, DDP_AT_ULP, RDMAP_CONTROL(0) | (uint8_t)(12 + i));
}

/* One of another queue or model. */
static bool violations_other_opcode(struct violations_target *t, unsigned i)
{
	const struct rdmap_opcode_info *is, *other;

	if (t->start || i >= 12)
		return false;
	is = rdmap_opcode_info(violations_opcode(t));
	other = rdmap_opcode_info((uint8_t)i);
	if (is && other && is->tagged == other->tagged && (is->tagged || is->qn == other->qn))
		return true; /* no violation in itself: as it was */
	return violations_change(t, DDP_AT_ULP, RDMAP_CONTROL(0) | (uint8_t)i);
}

static bool violations_invalidate(struct violations_target *t, unsigned i)
{
	uint8_t opcode = violations_is_untagged(t) ? violations_opcode(t) : 0;

	return i < 2 && violations_is_untagged(t) && opcode != RDMAP_OP_SEND_INV &&
	       opcode != RDMAP_OP_SEND_SE_INV &&
	       violations_change_word(t, DDP_AT_ULP32, i == 0 ? 1 : 0xdeadbeef);
}

static bool violations_is_response(const struct violations_target *t)
{
	return violations_is_tagged(t) && violations_opcode(t) == RDMAP_OP_READ_RESPONSE &&
	       t->ulpdu_len > DDP_TAGGED_LEN;
}

static bool violations_response_stag(struct violations_target *t, unsigned i)
{
	return i < 2 && violations_is_response(t) && violations_flip(t, DDP_AT_STAG + i, 1);
}

static bool violations_response_to(struct violations_target *t, unsigned i)
{
	return i < 2 && violations_is_response(t) &&
	       violations_flip(t, DDP_AT_TO + 7 - i, i == 0 ? 4 : 0x20);
}

static bool violations_atomic(struct violations_target *t, unsigned i)
{
	if (!violations_is_untagged(t) || i >= 2)
		return false;
	if (violations_opcode(t) == RDMAP_OP_ATOMIC_RESPONSE)
		return violations_flip(t, DDP_UNTAGGED_LEN + 3, i == 0 ? 1 : 0x80);
	return violations_opcode(t) == RDMAP_OP_ATOMIC_REQUEST &&
	       violations_flip(t, DDP_UNTAGGED_LEN + 3, i == 0 ? 9 : 0x40);
}

static bool violations_terminate(struct violations_target *t, unsigned i)
{
	if (!violations_is_untagged(t) || violations_opcode(t) != RDMAP_OP_TERMINATE || i >= 4)
		return false;
	return i == 0   ? violations_change(t, DDP_UNTAGGED_LEN, 0x9f)
	       : i == 1 ? violations_change(t, DDP_UNTAGGED_LEN + 1, 0xee)
	       : i == 2 ? violations_flip(t, DDP_UNTAGGED_LEN + 2, 0x01)
			: violations_flip(t, DDP_UNTAGGED_LEN + 2, 0x80);
}

const struct violations_class violations_classes[] = {
	{"MPA key", violations_key},
	{"MPA reserved bits", violations_start_flags},
	{"MPA revision", violations_start_revision},
	{"PD_Length", violations_start_length},
	{"CRC", violations_crc},
	{"pad", violations_pad},
	{"marker", violations_marker},
	{"ULPDU_Length", violations_length},
	{"DV", violations_ddp_version},
	{"DDP reserved bits", violations_ddp_reserved},
	{"T", violations_ddp_tagged},
	{"QN", violations_queue},
	{"MSN", violations_msn},
	{"MO", violations_mo},
	{"RV", violations_rdma_version},
	{"RDMAP reserved bits", violations_rdmap_reserved},
	{"opcode unknown", violations_unknown_opcode},
	{"opcode of another queue", violations_other_opcode},
	{"Invalidate STag", violations_invalidate},
	{"STag of a response", violations_response_stag},
	{"TO of a response", violations_response_to},
	{"Atomic fields", violations_atomic},
	{"Terminate fields", violations_terminate},
};

const unsigned violations_num_classes = sizeof violations_classes / sizeof *violations_classes;
