/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_tls_end.h"

#include <errno.h>
#include <string.h>

/** A record of text that is lost with the connection, or not to be shown. */
static size_t seal_text(struct foreign_tls *p, uint8_t record[FOREIGN_RECORD])
{
	size_t n = 1 + prng_below(p->random, p->record_max);

	return foreign_tls_seal(p, 23, p->text, n, record);
}

/* ---- in good order, and without ------------------------------------------------------------- */

static void notify(struct foreign_tls *p)
{
	static const uint8_t close_notify[] = {1, 0};

	foreign_tls_send(p, 21, close_notify, sizeof close_notify);
}

static void end_closed(struct foreign_tls *p)
{
	notify(p);
	if (!p->closes_second)
		foreign_tls_close(p);
}

/** Section 6.1: what follows is ignored. */
static void end_closed_and_goes_on(struct foreign_tls *p)
{
	uint8_t record[FOREIGN_RECORD];

	notify(p);
	foreign_tls_send_raw(p, record, seal_text(p, record));
	foreign_tls_send_raw(p, "no record", 9);
	if (!p->closes_second)
		foreign_tls_close(p);
}

static void end_cut_off(struct foreign_tls *p)
{
	foreign_tls_close(p);
}

static void end_cut_off_in_a_record(struct foreign_tls *p)
{
	uint8_t record[FOREIGN_RECORD];
	size_t len = seal_text(p, record);

	foreign_tls_send_raw(p, record, 1 + prng_below(p->random, len - 1));
	foreign_tls_close(p);
}

static void end_reset(struct foreign_tls *p)
{
	llp_abort(p->raw->llp);
	p->raw->llp = NULL;
}

static void end_alert_of_distrust(struct foreign_tls *p)
{
	const uint8_t alert[] = {2, (uint8_t)(42 + prng_below(p->random, 5))};

	foreign_tls_send(p, 21, alert, sizeof alert);
}

static void end_alert(struct foreign_tls *p)
{
	static const uint8_t descriptions[] = {10, 20, 22, 47, 50, 80, 255};
	const uint8_t alert[] = {(uint8_t)prng_below(p->random, 3),
		descriptions[prng_below(p->random, sizeof descriptions)]};

	foreign_tls_send(p, 21, alert, sizeof alert);
}

/* ---- records that are not what they should be ----------------------------------------------- */

static void end_forged(struct foreign_tls *p)
{
	uint8_t record[FOREIGN_RECORD];
	size_t len = seal_text(p, record), at = 1 + prng_below(p->random, len - 3);

	/* Its version, which is authenticated, or anything behind its header. */
	record[at < 3 ? at : at + 2] ^= (uint8_t)(1 << prng_below(p->random, 8));
	foreign_tls_send_raw(p, record, len);
}

static void end_replayed(struct foreign_tls *p)
{
	uint8_t record[FOREIGN_RECORD];

	p->tx.seq--;
	foreign_tls_send_raw(p, record, seal_text(p, record));
}

static void end_record_lost(struct foreign_tls *p)
{
	uint8_t record[FOREIGN_RECORD];

	p->tx.seq++;
	foreign_tls_send_raw(p, record, seal_text(p, record));
}

static void end_keys_too_early(struct foreign_tls *p)
{
	uint8_t record[FOREIGN_RECORD];

	foreign_direction_renew(&p->tx);
	foreign_tls_send_raw(p, record, seal_text(p, record));
}

static void end_too_long(struct foreign_tls *p)
{
	foreign_tls_send_raw(p, (const uint8_t[]){23, 3, 3, 0x41, 1}, 5);
}

static void end_too_much(struct foreign_tls *p)
{
	uint8_t record[FOREIGN_RECORD];
	size_t more = 1 + prng_below(p->random, 239);
	bool text = prng_chance(p->random, 0.5);

	foreign_tls_send_raw(p, record,
		foreign_record_seal(&p->tx, 23, p->text, p->content_max + (text ? more : 0),
			text ? 0 : more, record));
}

static void end_too_short(struct foreign_tls *p)
{
	uint8_t record[FOREIGN_HEADER + FOREIGN_TAG] = {
		23, 3, 3, 0, (uint8_t)prng_below(p->random, FOREIGN_TAG + 1)};

	foreign_tls_send_raw(p, record, FOREIGN_HEADER + record[4]);
}

static void end_in_the_clear(struct foreign_tls *p)
{
	uint8_t record[] = {(uint8_t)prng_below(p->random, 23), 3, 3, 0, 2, 2, 10};

	foreign_tls_send_raw(p, record, sizeof record);
}

static void end_without_a_type(struct foreign_tls *p)
{
	foreign_tls_send(p, 0, NULL, 0);
}

static void end_of_another_type(struct foreign_tls *p)
{
	static const uint8_t types[] = {1, 19, 20, 24, 26, 255};

	foreign_tls_send(p, types[prng_below(p->random, sizeof types)], "\1", 1);
}

/* ---- messages that are not what they should be ---------------------------------------------- */

static void end_empty_message(struct foreign_tls *p)
{
	foreign_tls_send(p, 22, NULL, 0);
}

static void end_text_in_a_message(struct foreign_tls *p)
{
	static const uint8_t update[] = {24, 0, 0, 1};

	foreign_tls_send(p, 22, update, 1 + prng_below(p->random, sizeof update));
	foreign_tls_send(p, 23, p->text, prng_below(p->random, 2));
}

static void end_other_message(struct foreign_tls *p)
{
	/* HelloRequest, and a client's ticket. */
	const uint8_t message[] = {p->server ? 0 : 4, 0, 0, 1, 0};

	foreign_tls_send_message(p, message, sizeof message);
}

static void end_long_update(struct foreign_tls *p)
{
	static const uint8_t message[] = {24, 0, 0, 2, 0, 0};

	foreign_tls_send_message(p, message, sizeof message);
}

static void end_other_update(struct foreign_tls *p)
{
	const uint8_t message[] = {24, 0, 0, 1, (uint8_t)(2 + prng_below(p->random, 254))};

	foreign_tls_send_message(p, message, sizeof message);
}

static void end_update_with_more(struct foreign_tls *p)
{
	static const uint8_t message[] = {24, 0, 0, 1, 0, 24, 0, 0, 1, 0};

	foreign_tls_send(p, 22, message, 6 + prng_below(p->random, 5));
}

static void end_updates_without_end(struct foreign_tls *p)
{
	while (p->renewed <= 100)
		foreign_tls_renew(p, false);
}

static void end_short_alert(struct foreign_tls *p)
{
	static const uint8_t alert[] = {1, 0, 0};

	foreign_tls_send(p, 21, alert, prng_chance(p->random, 0.5) ? 1 : 3);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static const struct foreign_tls_end good[] = {
	{"closes", end_closed, 0, FOREIGN_NONE, false},
	{"closes and goes on", end_closed_and_goes_on, 0, FOREIGN_NONE, false},
};

static const struct foreign_tls_end bad[] = {
	{"is cut off", end_cut_off, -ECONNRESET, FOREIGN_NONE, false},
	{"is cut off in a record", end_cut_off_in_a_record, -ECONNRESET, FOREIGN_NONE, false},
	{"resets", end_reset, -ECONNRESET, FOREIGN_NONE, true},
	{"an alert of distrust", end_alert_of_distrust, -EKEYREJECTED, FOREIGN_NONE, false},
	{"an alert", end_alert, -EPROTO, FOREIGN_NONE, false},
	{"a forged record", end_forged, -EBADMSG, 20, false},
	{"a replayed record", end_replayed, -EBADMSG, 20, false},
	{"a lost record", end_record_lost, -EBADMSG, 20, false},
	{"keys too early", end_keys_too_early, -EBADMSG, 20, false},
	{"a long record", end_too_long, -EPROTO, 22, false},
	{"a record with too much", end_too_much, -EPROTO, 22, false},
	{"a short record", end_too_short, -EBADMSG, 20, false},
	{"a record in the clear", end_in_the_clear, -EPROTO, 10, false},
	{"a record without a type", end_without_a_type, -EPROTO, 10, false},
	{"a record of another type", end_of_another_type, -EPROTO, 10, false},
	{"an empty message", end_empty_message, -EPROTO, 10, false},
	{"text in a message", end_text_in_a_message, -EPROTO, 10, false},
	{"another message", end_other_message, -EPROTO, 10, false},
	{"a long KeyUpdate", end_long_update, -EPROTO, 50, false},
	{"another KeyUpdate", end_other_update, -EPROTO, 47, false},
	{"a KeyUpdate with more", end_update_with_more, -EPROTO, 10, false},
	{"KeyUpdates without end", end_updates_without_end, -EPROTO, 10, false},
	{"a short alert", end_short_alert, -EPROTO, 50, false},
};

const struct foreign_tls_end *foreign_tls_draw_end(const struct foreign_tls *p)
{
	return prng_chance(p->random, 0.4)
		       ? &good[prng_below(p->random, sizeof good / sizeof good[0])]
		       : &bad[prng_below(p->random, sizeof bad / sizeof bad[0])];
}
