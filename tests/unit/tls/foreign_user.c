/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_user.h"

#include <string.h>

static void wrong(struct foreign_user *u, const char *what)
{
	if (!u->wrong)
		u->wrong = what;
}

/* ---- sending ------------------------------------------------------------------------------ */

/** @return false: there is no more, or no room for it. */
static bool send_record(struct foreign_user *u)
{
	uint32_t left = (uint32_t)(u->octets - u->sent), n;
	uint8_t *room;

	n = 1 +
	    (uint32_t)prng_below(u->random, prng_chance(u->random, 0.5) ? 100 : FOREIGN_CONTENT);
	if (n > left)
		n = left;
	if (n == 0)
		return false;
	room = llp_reserve(u->llp, n, prng_chance(u->random, 0.5));
	if (!room) {
		u->refused = true;
		return false;
	}
	memcpy(room, u->peer->our_text + u->sent, n);
	llp_commit(u->llp, n);
	u->sent += n;
	return true;
}

/** At most @p n records. */
static void send_some(struct foreign_user *u, uint64_t n)
{
	if (!u->llp || !u->connected || u->shut || u->refused)
		return;
	while (n-- != 0 && send_record(u))
		;
	llp_push(u->llp);
}

void foreign_user_shut(struct foreign_user *u)
{
	if (u->llp && !u->shut)
		llp_shutdown(u->llp);
	u->shut = true;
}

/* ---- taking ------------------------------------------------------------------------------- */

static size_t message_len(struct foreign_user *u)
{
	size_t left = u->peer->octets - u->got;

	if (u->message == 0)
		u->message = 1 + prng_below(u->random, u->message_max);
	return u->message < left ? u->message : left;
}

/** Is this what the peer has sent, and in its turn? */
static void check(struct foreign_user *u, const struct llp_iov *v, unsigned n, size_t total)
{
	size_t at = u->got;

	if (u->closed || (u->eof && !u->ever_left))
		wrong(u, "it is shown something behind the end");
	if (total == 0 || total > u->peer->sent - u->got) {
		wrong(u, "it is shown more than the peer has sent, or nothing");
		return;
	}
	for (unsigned i = 0; i < n; at += v[i++].len)
		if (v[i].len == 0 || v[i].len > u->got + total - at ||
			memcmp(v[i].base, u->peer->text + at, v[i].len) != 0) {
			wrong(u, "it is shown something else than the peer has sent");
			return;
		}
	if (at != u->got + total)
		wrong(u, "it is shown less than it is told");
}

/** The whole messages of what is there, or some of them. */
static size_t take(struct foreign_user *u, size_t total, size_t *need)
{
	size_t used = 0;

	while (used < total) {
		size_t len = message_len(u);

		if (len > total - used) {
			*need = len;
			break;
		}
		used += len;
		u->got += len;
		u->message = 0;
		if (!u->calm && u->rests && used < total && prng_chance(u->random, 0.1)) {
			u->left = u->ever_left = true;
			break;
		}
	}
	return used;
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct foreign_user *u = user;
	size_t used;

	check(u, v, n, total);
	if (u->wrong)
		return total;
	if (u->paused && !u->calm) {
		u->left = u->ever_left = true;
		return 0;
	}
	used = take(u, total, need);
	if (!u->calm && prng_chance(u->random, 0.1))
		send_some(u, 2);
	if (!u->calm && prng_chance(u->random, 0.1))
		u->inside(u);
	if (u->llp && u->left && used != 0 && prng_chance(u->random, 0.5)) {
		u->left = false;
		llp_resume(u->llp);
	}
	return used;
}

/* ---- the rest ----------------------------------------------------------------------------- */

static void on_connected(void *user)
{
	struct foreign_user *u = user;

	if (u->connected)
		wrong(u, "it is connected twice");
	u->connected = true;
}

static void on_writable(void *user)
{
	struct foreign_user *u = user;

	if (!u->refused)
		wrong(u, "there is room for what was not refused");
	u->refused = false;
	send_some(u, 3);
}

static void on_eof(void *user)
{
	struct foreign_user *u = user;

	if (u->eof || u->closed)
		wrong(u, "the end is told of twice");
	u->eof = true;
}

static void on_closed(void *user, int error)
{
	struct foreign_user *u = user;

	if (u->closed)
		wrong(u, "it is closed twice");
	u->closed = true;
	u->error = error;
	u->llp = NULL;
}

const struct llp_user_ops foreign_user_ops = {
	.connected = on_connected,
	.readable = on_readable,
	.writable = on_writable,
	.eof = on_eof,
	.closed = on_closed,
};

static void end(struct foreign_user *u)
{
	struct llp *l = u->llp;

	if (u->end == FOREIGN_USER_ABORTS && prng_chance(u->random, 0.02)) {
		u->aborted = true;
		u->llp = NULL;
		llp_abort(l);
	} else if (u->end == FOREIGN_USER_RELEASES && u->sent == u->octets) {
		u->released = true;
		u->llp = NULL;
		llp_release(l);
	} else if (u->end == FOREIGN_USER_SHUTS && u->sent == u->octets) {
		foreign_user_shut(u);
	}
}

void foreign_user_step(struct foreign_user *u)
{
	if (!u->llp || !u->connected)
		return;
	send_some(u, 1 + prng_below(u->random, 5));
	if (u->pauses && prng_chance(u->random, 0.2))
		u->paused = !u->paused;
	if (u->left && !u->paused && prng_chance(u->random, 0.5)) {
		u->left = false;
		llp_resume(u->llp);
	}
	if (u->llp)
		end(u);
}

void foreign_user_go_on(struct foreign_user *u)
{
	bool left = u->left;

	u->calm = true;
	u->left = false;
	if (left && u->llp)
		llp_resume(u->llp);
	send_some(u, UINT64_MAX);
}

void foreign_user_begin(struct foreign_user *u)
{
	static const size_t message_max[] = {1, 40, 2000, 66060};
	static const enum foreign_user_end ends[] = {FOREIGN_USER_STAYS, FOREIGN_USER_STAYS,
		FOREIGN_USER_STAYS, FOREIGN_USER_SHUTS, FOREIGN_USER_RELEASES, FOREIGN_USER_ABORTS};

	u->message_max = message_max[prng_below(u->random, 4)];
	u->pauses = prng_chance(u->random, 0.4);
	u->rests = prng_chance(u->random, 0.4);
	u->end = ends[prng_below(u->random, sizeof ends / sizeof ends[0])];
}
