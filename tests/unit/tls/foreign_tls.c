/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_tls.h"

#include "foreign_tls_end.h"

#include <stdlib.h>
#include <string.h>

enum { ALERT = 21, HANDSHAKE = 22, APPLICATION_DATA = 23 };
enum { NEW_SESSION_TICKET = 4, KEY_UPDATE = 24 };

/** Octets that are sent at once, at most. */
#define JOINED_MAX (200 * 1024)
/** Some are left for the end; more of them in a second are a flood. */
#define RENEWALS 80

void foreign_tls_wrong(struct foreign_tls *p, const char *what)
{
	if (!p->wrong)
		p->wrong = what;
}

/* ---- sending ------------------------------------------------------------------------------ */

static void send_joined(struct foreign_tls *p)
{
	if (p->raw->llp && p->joined_len != 0)
		llp_mem_send_raw(p->raw->llp, p->joined, p->joined_len);
	p->joined_len = 0;
}

void foreign_tls_send_raw(struct foreign_tls *p, const void *bytes, size_t len)
{
	if (len > JOINED_MAX - p->joined_len)
		send_joined(p);
	memcpy(p->joined + p->joined_len, bytes, len);
	p->joined_len += len;
	if (!prng_chance(p->random, p->joins))
		send_joined(p);
}

size_t foreign_tls_seal(struct foreign_tls *p, uint8_t type, const void *content, size_t len,
	uint8_t record[FOREIGN_RECORD])
{
	size_t padding = prng_chance(p->random, p->pads)
				 ? prng_below(p->random, p->content_max - len + 1)
				 : 0;

	return foreign_record_seal(&p->tx, type, content, len, padding, record);
}

void foreign_tls_send(struct foreign_tls *p, uint8_t type, const void *content, size_t len)
{
	uint8_t record[FOREIGN_RECORD];

	foreign_tls_send_raw(p, record, foreign_tls_seal(p, type, content, len, record));
}

/** A message of the handshake's kind, in as many records as chance has it. */
void foreign_tls_send_message(struct foreign_tls *p, const uint8_t *message, size_t len)
{
	while (len != 0) {
		size_t most = len < p->content_max ? len : p->content_max;
		size_t n = prng_chance(p->random, 0.5) ? most : 1 + prng_below(p->random, most);

		foreign_tls_send(p, HANDSHAKE, message, n);
		message += n;
		len -= n;
	}
}

void foreign_tls_renew(struct foreign_tls *p, bool asks)
{
	const uint8_t message[] = {KEY_UPDATE, 0, 0, 1, asks};

	foreign_tls_send_message(p, message, sizeof message);
	foreign_direction_renew(&p->tx);
	p->renewed++;
	p->asked += asks;
	p->waits_for_update = p->waits_for_update || asks;
}

static void send_text(struct foreign_tls *p)
{
	size_t left = p->octets - p->sent, n = 1 + prng_below(p->random, p->record_max);

	if (n > left)
		n = left;
	foreign_tls_send(p, APPLICATION_DATA, p->text + p->sent, n);
	p->sent += n;
}

/** Nobody has asked for what it says, and it is nobody's. */
static void send_ticket(struct foreign_tls *p)
{
	uint8_t message[600] = {NEW_SESSION_TICKET};
	size_t len = prng_below(p->random, sizeof message - 3);

	message[2] = (uint8_t)(len >> 8);
	message[3] = (uint8_t)len;
	foreign_tls_send_message(p, message, 4 + len);
}

void foreign_tls_step(struct foreign_tls *p)
{
	static const uint8_t canceled[] = {1, 90};
	struct prng *r = p->random;

	if (p->ended || !p->raw->llp)
		return;
	if (p->owes_update && p->answers && p->renewed < RENEWALS)
		foreign_tls_renew(p, false);
	p->owes_update = false;
	if (prng_chance(r, p->empties))
		foreign_tls_send(p, APPLICATION_DATA, NULL, 0);
	if (prng_chance(r, p->renews) && p->renewed < RENEWALS)
		foreign_tls_renew(p, prng_chance(r, p->asks));
	if (p->server && prng_chance(r, p->tickets))
		send_ticket(p);
	if (prng_chance(r, 0.01))
		foreign_tls_send(p, ALERT, canceled, sizeof canceled);
	for (uint64_t n = 1 + prng_below(r, 6); n != 0 && p->sent < p->octets; n--)
		send_text(p);
	if (p->sent < p->octets)
		return;
	p->ended = true;
	p->end->send(p);
	send_joined(p);
}

void foreign_tls_close(struct foreign_tls *p)
{
	send_joined(p);
	if (p->raw->llp)
		llp_shutdown(p->raw->llp);
}

/* ---- receiving ---------------------------------------------------------------------------- */

static void take_text(struct foreign_tls *p, const uint8_t *content, size_t len)
{
	if (len > p->our_octets - p->got || memcmp(content, p->our_text + p->got, len) != 0)
		foreign_tls_wrong(p, "it is sent other text than our user sent");
	else
		p->got += len;
}

static void take_alert(struct foreign_tls *p, const uint8_t *content, size_t len)
{
	if (len != 2)
		foreign_tls_wrong(p, "it is sent an alert of a wrong length");
	else if (content[1] == 0)
		p->notified = true;
	else
		p->alert = content[1];
}

static void take_message(struct foreign_tls *p, const uint8_t *content, size_t len)
{
	if (len < 4 || len != 4u + (size_t)(content[1] << 16 | content[2] << 8 | content[3])) {
		foreign_tls_wrong(p, "it is sent a message that is not whole");
	} else if (content[0] == KEY_UPDATE && len == 5 && content[4] <= 1) {
		foreign_direction_renew(&p->rx);
		p->updates++;
		p->waits_for_update = false;
		p->owes_update = p->owes_update || content[4] == 1;
	} else if (content[0] != NEW_SESSION_TICKET || p->server) {
		foreign_tls_wrong(p, "it is sent a message that may not be here");
	}
}

static void take_record(struct foreign_tls *p, const uint8_t *record, size_t len)
{
	uint8_t content[FOREIGN_RECORD], type;
	size_t n;

	if (!foreign_record_open(&p->rx, record, len, content, &type, &n)) {
		foreign_tls_wrong(p, "it is sent a record that its keys do not open");
		return;
	}
	if (n > p->content_max)
		foreign_tls_wrong(p, "it is sent a longer record than it has asked for");
	if (p->notified || p->alert != FOREIGN_NONE)
		foreign_tls_wrong(p, "something follows the last alert");
	if (type == APPLICATION_DATA)
		take_text(p, content, n);
	else if (type == ALERT)
		take_alert(p, content, n);
	else if (type == HANDSHAKE)
		take_message(p, content, n);
	else
		foreign_tls_wrong(p, "it is sent a record of a type that may not be here");
}

bool foreign_tls_input(struct foreign_tls *p)
{
	const uint8_t *at = p->raw->rx;
	size_t left = p->raw->rx_len;

	while (left >= FOREIGN_HEADER && !p->wrong) {
		size_t len = FOREIGN_HEADER + (size_t)(at[3] << 8 | at[4]);

		if (at[0] != APPLICATION_DATA || at[1] != 3 || at[2] != 3 || len > FOREIGN_RECORD ||
			len < FOREIGN_OVERHEAD)
			foreign_tls_wrong(p, "it is sent what is no protected record");
		else if (len > left)
			break;
		else
			take_record(p, at, len);
		at += len;
		left -= len < left ? len : left;
	}
	if (left == p->raw->rx_len)
		return false;
	llp_mem_peer_consume(p->raw, p->raw->rx_len - left);
	return true;
}

/* ---- what it is like ---------------------------------------------------------------------- */

void foreign_tls_begin(
	struct foreign_tls *p, uint16_t suite, const uint8_t *secret, const uint8_t *our_secret)
{
	static const size_t record_max[] = {20, 300, 1400, FOREIGN_CONTENT};
	struct prng *r = p->random;

	foreign_direction_begin(&p->tx, suite, secret, true);
	foreign_direction_begin(&p->rx, suite, our_secret, false);
	p->alert = FOREIGN_NONE;
	p->joined = malloc(JOINED_MAX);
	if (!p->joined)
		abort();
	p->record_max = record_max[prng_below(r, 4)];
	if (p->record_max > p->content_max)
		p->record_max = p->content_max;
	p->pads = prng_chance(r, 0.3) ? 0.3 : 0;
	p->empties = prng_chance(r, 0.3) ? 0.3 : 0;
	p->renews = prng_chance(r, 0.5) ? 0.2 : 0;
	p->asks = 0.5;
	p->tickets = prng_chance(r, 0.3) ? 0.3 : 0;
	p->joins = prng_chance(r, 0.5) ? 0.9 : 0;
	p->answers = prng_chance(r, 0.8);
	p->closes_second = prng_chance(r, 0.5);
	p->end = foreign_tls_draw_end(p);
}

void foreign_tls_done(struct foreign_tls *p)
{
	foreign_direction_end(&p->tx);
	foreign_direction_end(&p->rx);
	free(p->joined);
}
