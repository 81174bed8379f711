/* SPDX-License-Identifier: BSD-2-Clause */
#include "follow_case.h"

#include "support/cap_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void say(struct heard *h, char what)
{
	if (h->len < sizeof h->text - 1)
		h->text[h->len++] = what;
}

static void on_opened(void *user, struct connection *c)
{
	struct heard *h = user;

	h->connections++;
	say(h, 'O');
}

static void on_start(void *user, struct connection *c, struct stream *s)
{
	say(user, s->start.error != NULL ? 'E' : s->start.kind == MPA_FRAME_REQUEST ? 'R' : 'P');
}

static void on_fpdu(void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	struct heard *h = user;

	say(h, stream_side(s) == 0 ? '>' : '<');
	h->good += f->result == MPA_DEFRAME_GOOD;
	h->bad += f->result != MPA_DEFRAME_GOOD;
	h->unseen += f->unseen;
	h->unaligned += !f->aligned;
}

static void on_lost(
	void *user, struct connection *c, struct stream *s, const struct piece *p, const char *why)
{
	say(user, 'l');
}

static void on_found(void *user, struct connection *c, struct stream *s, uint64_t frame)
{
	say(user, 'f');
}

static void on_conflict(void *user, struct connection *c, struct stream *s, const struct piece *now,
	const struct piece *before)
{
	say(user, 'c');
}

static void on_missing(void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	say(user, p->lost ? 'm' : 's');
}

static void on_fin(void *user, struct connection *c, struct stream *s, size_t rest)
{
	say(user, rest == 0 ? '.' : '!');
}

static void on_closed(void *user, struct connection *c, enum connection_end how, uint64_t frame)
{
	struct heard *h = user;

	h->how = how;
	h->end = frame;
	h->evicted += how == CONNECTION_EVICTED;
	say(h, 'C');
}

const struct connection_ops heard_ops = {
	.opened = on_opened,
	.start = on_start,
	.fpdu = on_fpdu,
	.lost = on_lost,
	.found = on_found,
	.conflict = on_conflict,
	.missing = on_missing,
	.fin = on_fin,
	.closed = on_closed,
};

void follow(struct cap_maker *m, const struct follow_config *config, struct heard *h)
{
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;

	assert_non_null(c);
	*h = (struct heard){.how = CONNECTION_CAPTURE_END};
	assert_int_equal(follow_init(&w, config, &heard_ops, h), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	assert_int_equal(w.shared.budget.used, 0);
	assert_int_equal(w.open, 0);
	cap_close(c);
	cap_maker_free(m);
}

void connected(struct cap_maker *m)
{
	cap_maker_init(m);
	cap_maker_handshake(m);
}

void expect(struct cap_maker *m, const char *text)
{
	static const struct follow_config config;
	struct heard h;

	follow(m, &config, &h);
	assert_string_equal(h.text, text);
}

void expect_whole(struct cap_maker *m)
{
	cap_maker_request(m);
	cap_maker_reply(m);
	cap_maker_send(m, 0, 1, 10);
	expect(m, "ORP>C");
}
