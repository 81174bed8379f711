/* SPDX-License-Identifier: BSD-2-Clause */
#include "imperfect.h"

#include "base/bytes.h"
#include "base/cksum_plain.h"
#include "base/prng.h"

#include <stdlib.h>
#include <string.h>

/** Variants of a class that chance makes, of each file. */
#define BY_CHANCE 60
/** Frames that one is late by at most. */
#define LATE_MAX 16

static void imperfect_add_range(
	const struct variant *all, unsigned from, unsigned to, struct variant *out)
{
	for (unsigned i = from; i < to; i++)
		variant_add(out, &all->frames[i]);
}

static bool imperfect_drop_one(const struct variant *all, unsigned i, struct variant *out)
{
	if (i >= all->n)
		return false;
	imperfect_add_range(all, 0, i, out);
	imperfect_add_range(all, i + 1, all->n, out);
	return true;
}

static bool imperfect_drop_some(const struct variant *all, unsigned i, struct variant *out)
{
	struct prng random = {i};

	for (unsigned k = 0; k < all->n; k++)
		if (prng_below(&random, 10) != 0)
			variant_add(out, &all->frames[k]);
	return i < BY_CHANCE;
}

static bool imperfect_drop_run(const struct variant *all, unsigned i, struct variant *out)
{
	struct prng random = {i};
	unsigned from = (unsigned)prng_below(&random, all->n);
	unsigned len = 2 + (unsigned)prng_below(&random, LATE_MAX);

	imperfect_add_range(all, 0, from, out);
	if (len < all->n - from)
		imperfect_add_range(all, from + len, all->n, out);
	return i < BY_CHANCE;
}

/* The frame at @p i as many places later. */
static void imperfect_move(
	const struct variant *all, unsigned i, unsigned places, struct variant *out)
{
	unsigned to = places < all->n - i ? i + places : all->n - 1;

	imperfect_add_range(all, 0, i, out);
	imperfect_add_range(all, i + 1, to + 1, out);
	variant_add(out, &all->frames[i]);
	imperfect_add_range(all, to + 1, all->n, out);
}

static bool imperfect_swap(const struct variant *all, unsigned i, struct variant *out)
{
	if (i + 1 >= all->n)
		return false;
	imperfect_move(all, i, 1, out);
	return true;
}

static bool imperfect_delay(const struct variant *all, unsigned i, struct variant *out)
{
	struct prng random = {i};

	if (i + 1 >= all->n)
		return false;
	imperfect_move(all, i, 2 + (unsigned)prng_below(&random, LATE_MAX - 1), out);
	return true;
}

static bool imperfect_shuffle(const struct variant *all, unsigned i, struct variant *out)
{
	struct prng random = {i};

	for (unsigned k = 0; k < all->n; k++) {
		unsigned to;

		variant_add(out, &all->frames[k]);
		for (to = k; to != 0 && k - to < 4 && prng_below(&random, 3) == 0; to--) {
			struct cap_frame f = out->frames[to];

			out->frames[to] = out->frames[to - 1];
			out->frames[to - 1] = f;
		}
	}
	return i < BY_CHANCE;
}

static bool imperfect_cut_short(const struct variant *all, unsigned i, struct variant *out)
{
	if (i + 1 >= all->n)
		return false;
	imperfect_add_range(all, 0, i + 1, out);
	return true;
}

static bool imperfect_duplicate(const struct variant *all, unsigned i, struct variant *out)
{
	struct prng random = {i};
	unsigned late = (unsigned)prng_below(&random, LATE_MAX);

	if (i >= all->n)
		return false;
	if (i + late >= all->n)
		late = all->n - 1 - i;
	imperfect_add_range(all, 0, i + late + 1, out);
	variant_add(out, &all->frames[i]);
	imperfect_add_range(all, i + late + 1, all->n, out);
	return true;
}

static bool imperfect_duplicate_all(const struct variant *all, unsigned i, struct variant *out)
{
	for (unsigned k = 0; k < all->n; k++) {
		variant_add(out, &all->frames[k]);
		variant_add(out, &all->frames[k]);
	}
	return i == 0;
}

static bool imperfect_snap(const struct variant *all, unsigned i, struct variant *out)
{
	static const uint32_t lengths[] = {40, 60, 66, 74, 80, 90, 96, 100, 128, 160, 256, 512};

	if (i >= sizeof lengths / sizeof *lengths)
		return false;
	for (unsigned k = 0; k < all->n; k++) {
		struct cap_frame f = all->frames[k];

		if (f.captured > lengths[i])
			f.captured = lengths[i];
		variant_add(out, &f);
	}
	return true;
}

/* ---- by direction --------------------------------------------------------------------------- */

/* The end with the lower address and port is side 0, as in flow.h. */
static int imperfect_side(const struct cap_frame *f)
{
	struct packet p;

	if (packet_parse(f, &p) != PACKET_TCP)
		return -1;
	return memcmp(&p.src, &p.dst, sizeof p.src) > 0;
}

static bool imperfect_one_way(const struct variant *all, unsigned i, struct variant *out)
{
	for (unsigned k = 0; k < all->n; k++)
		if (imperfect_side(&all->frames[k]) != (int)(i & 1))
			variant_add(out, &all->frames[k]);
	return i < 2;
}

/* One direction is missing from a time on, or until then. */
static bool imperfect_one_way_partly(const struct variant *all, unsigned i, struct variant *out)
{
	struct prng random = {i};
	unsigned at = (unsigned)prng_below(&random, all->n);
	bool until = prng_below(&random, 2);

	for (unsigned k = 0; k < all->n; k++)
		if (imperfect_side(&all->frames[k]) != (int)(i & 1) || (k < at) == until)
			variant_add(out, &all->frames[k]);
	return i < BY_CHANCE;
}

/* All of one direction is late by some frames, as with two capturing interfaces. */
static bool imperfect_skew(const struct variant *all, unsigned i, struct variant *out)
{
	unsigned late = 1 + i / 2, k = 0, next = 0;

	for (; k < all->n + late; k++) {
		if (k < all->n && imperfect_side(&all->frames[k]) != (int)(i & 1))
			variant_add(out, &all->frames[k]);
		for (; next + late <= k && next < all->n; next++)
			if (imperfect_side(&all->frames[next]) == (int)(i & 1))
				variant_add(out, &all->frames[next]);
	}
	return i < 2 * 8;
}

static bool imperfect_start_in_the_middle(
	const struct variant *all, unsigned i, struct variant *out)
{
	struct packet p;

	if (i + 1 >= all->n)
		return false;
	imperfect_add_range(all, i + 1, all->n, out);
	/* Whatever port it has: every one is asked for. */
	for (unsigned k = 0; k < all->n && out->config.num_ports < FOLLOW_PORTS_MAX; k++)
		if (packet_parse(&all->frames[k], &p) == PACKET_TCP)
			out->config.ports[out->config.num_ports++] =
				p.src.port < p.dst.port ? p.src.port : p.dst.port;
	return true;
}

/* ---- address translation -------------------------------------------------------------------- */

/* Frames with other bytes than the file's; they live until the next variant. */
static uint8_t *imperfect_copies;

/* The TCP header of @p f is where its ports and sequence number are. */
static uint8_t *imperfect_tcp(const struct cap_frame *f, const struct packet *p, uint8_t *copy)
{
	for (size_t at = 0; at + 8 <= f->captured; at++)
		if (load_be16(copy + at) == p->src.port &&
			load_be16(copy + at + 2) == p->dst.port &&
			load_be32(copy + at + 4) == p->seq)
			return copy + at;
	return copy;
}

/* Whoever translates a port sets the checksum right (RFC 3022 section 4.2). */
static void imperfect_rename(uint8_t *tcp, unsigned at)
{
	uint64_t sum = (uint16_t)~load_be16(tcp + CKSUM_TCP_AT);

	sum += (uint16_t)~load_be16(tcp + at);
	tcp[at] ^= 0x40;
	sum += load_be16(tcp + at);
	store_be16(tcp + CKSUM_TCP_AT, (uint16_t)~cksum_fold(sum));
}

/* A copy of a frame in which end @p side has another port. */
static struct cap_frame imperfect_renamed(const struct cap_frame *f, int side, uint8_t *copy)
{
	struct cap_frame out = *f;
	struct packet p;

	memcpy(copy, f->bytes, f->captured);
	out.bytes = copy;
	if (packet_parse(f, &p) == PACKET_TCP)
		imperfect_rename(imperfect_tcp(f, &p, copy), imperfect_side(f) == side ? 0 : 2);
	return out;
}

/**
 * Frames of both ends, with end @p side's port or the other one.
 * @param both each with both; else what end @p side sends has the other, the rest has not.
 */
static void imperfect_translate(const struct variant *all, int side, bool both, struct variant *out)
{
	size_t total = 0, used = 0;

	for (unsigned k = 0; k < all->n; k++)
		total += all->frames[k].captured;
	imperfect_copies = realloc(imperfect_copies, total);
	if (!imperfect_copies)
		abort();
	for (unsigned k = 0; k < all->n; k++) {
		struct cap_frame f =
			imperfect_renamed(&all->frames[k], side, imperfect_copies + used);
		bool sent = imperfect_side(&all->frames[k]) == side;

		used += f.captured;
		if (both || !sent)
			variant_add(out, &all->frames[k]);
		if (both || sent)
			variant_add(out, &f);
	}
}

/* What one end sends has passed the translator, what the other sends has not. */
static bool imperfect_other_side_of_nat(const struct variant *all, unsigned i, struct variant *out)
{
	if (i >= 2)
		return false;
	imperfect_translate(all, (int)i, false, out);
	return true;
}

/* Every frame is there before and behind it. */
static bool imperfect_both_sides_of_nat(const struct variant *all, unsigned i, struct variant *out)
{
	if (i >= 2)
		return false;
	imperfect_translate(all, (int)i, true, out);
	return true;
}

/* ---- holes of more than a window ------------------------------------------------------------ */

/* A copy of a frame, whose ends have sent as much more before. */
static struct cap_frame imperfect_ahead(
	const struct cap_frame *f, const uint32_t more[2], uint8_t *copy)
{
	int side = imperfect_side(f);
	struct cap_frame out = *f;
	struct packet p;
	uint8_t *tcp;

	if (packet_parse(f, &p) != PACKET_TCP)
		return out;
	memcpy(copy, f->bytes, f->captured);
	out.bytes = copy;
	tcp = imperfect_tcp(f, &p, copy);
	store_be32(tcp + 4, p.seq + more[side]);
	if (p.flags & PACKET_ACK)
		store_be32(tcp + 8, p.ack + more[!side]);
	store_be16(tcp + CKSUM_TCP_AT, 0); /* not known */
	return out;
}

/* Markers stay where they are; its end is not taken for text that is sent again a moment later. */
static uint32_t imperfect_hole(struct prng *random)
{
	uint32_t len = (1u << 30) + (uint32_t)prng_below(random, (3u << 30) - (128u << 20));

	return len - len % MPA_MARKER_PERIOD;
}

static bool imperfect_huge_hole(const struct variant *all, unsigned i, struct variant *out)
{
	struct prng random = {i};
	unsigned at = (unsigned)prng_below(&random, all->n);
	uint32_t more[2] = {imperfect_hole(&random), imperfect_hole(&random)};
	size_t total = 0, used = 0;

	if (i % 3 != 2)
		more[i % 3] = 0;
	for (unsigned k = 0; k < all->n; k++)
		total += all->frames[k].captured;
	imperfect_copies = realloc(imperfect_copies, total);
	if (!imperfect_copies)
		abort();
	imperfect_add_range(all, 0, at, out);
	for (unsigned k = at; k < all->n; k++) {
		struct cap_frame f =
			imperfect_ahead(&all->frames[k], more, imperfect_copies + used);

		used += f.captured;
		variant_add(out, &f);
	}
	return i < BY_CHANCE;
}

/* ---- damage --------------------------------------------------------------------------------- */

/** A copy of a frame with another bit in its segment. @return false: nothing would tell. */
static bool imperfect_damage(const struct cap_frame *f, uint64_t random, struct cap_frame *out)
{
	struct packet p;
	uint64_t bit;

	if (packet_parse(f, &p) != PACKET_TCP || packet_sum(&p) != PACKET_SUM_RIGHT)
		return false;
	imperfect_copies = realloc(imperfect_copies, f->captured);
	if (!imperfect_copies)
		abort();
	memcpy(imperfect_copies, f->bytes, f->captured);
	bit = random % ((p.header + (uint64_t)p.len) * 8);
	imperfect_copies[(size_t)(p.text - p.header - f->bytes) + bit / 8] ^=
		(uint8_t)(1u << bit % 8);
	*out = *f;
	out->bytes = imperfect_copies;
	return true;
}

static bool imperfect_damage_one(
	const struct variant *all, unsigned i, bool again, struct variant *out)
{
	struct prng random = {i};
	struct cap_frame damaged;

	if (i >= all->n)
		return false;
	imperfect_add_range(all, 0, i, out);
	if (imperfect_damage(&all->frames[i], prng_u64(&random), &damaged))
		variant_add(out, &damaged);
	else
		again = true;
	imperfect_add_range(all, again ? i : i + 1, all->n, out);
	return true;
}

static bool imperfect_damage_on_the_way(const struct variant *all, unsigned i, struct variant *out)
{
	return imperfect_damage_one(all, i, true, out);
}

static bool imperfect_damage_in_the_capture(
	const struct variant *all, unsigned i, struct variant *out)
{
	return imperfect_damage_one(all, i, false, out);
}

const struct imperfect_class imperfect_classes[] = {
	{"drop one", "each frame is missing", imperfect_drop_one},
	{"drop 10 %", "one frame of ten is missing", imperfect_drop_some},
	{"drop a run", "2 to 17 frames one after the other are missing", imperfect_drop_run},
	{"huge hole", "1 to 4 GiB of one end, or of both, are missing", imperfect_huge_hole},
	{"swap", "two neighbours have changed places", imperfect_swap},
	{"delay", "a frame is late by 2 to 16", imperfect_delay},
	{"shuffle", "many frames are late by up to 4", imperfect_shuffle},
	{"skew", "one direction is late by 1 to 8 frames", imperfect_skew},
	{"cut short", "the capture ends after each frame", imperfect_cut_short},
	{"snap", "frames are cut to 40 to 512 octets", imperfect_snap},
	{"start in the middle", "the capture begins after each frame",
		imperfect_start_in_the_middle},
	{"one way", "only what one end sends", imperfect_one_way},
	{"one way for a time", "before or after some frame only what one end sends",
		imperfect_one_way_partly},
	{"duplicate", "a frame is there twice, at once or by up to 15 later", imperfect_duplicate},
	{"duplicate all", "every frame is there twice", imperfect_duplicate_all},
	{"other NAT side", "one end's frames have its translated port",
		imperfect_other_side_of_nat},
	{"damage", "a frame has a wrong bit, and is sent again", imperfect_damage_on_the_way},
	{"damage in the capture", "a frame has a wrong bit", imperfect_damage_in_the_capture},
	{"both NAT sides", "every frame is there with either port", imperfect_both_sides_of_nat},
};

const unsigned imperfect_num_classes = sizeof imperfect_classes / sizeof *imperfect_classes;
