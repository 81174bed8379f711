/* SPDX-License-Identifier: BSD-2-Clause */
/* Content for the user, and what it leaves of that. */
#include "tls/input_priv.h"
#include "tls/starved.h"

#include <string.h>

/** So much is kept of a user that does not want it now; the rest waits below, in the window. */
#define TLS_KEPT_IDLE 16384

/** @return how many of the bytes of both pieces the user is done with. */
static size_t tls_input_show_both(struct tls_conn *c, struct llp_iov first, struct llp_iov second)
{
	size_t total = first.len + second.len, done = 0, used;

	do {
		struct llp_iov v[2];
		size_t need = 0;
		unsigned n = 0;

		if (done < first.len)
			v[n++] = (struct llp_iov){
				.base = first.base + done, .len = first.len - done};
		if (second.len != 0) {
			size_t off = done > first.len ? done - first.len : 0;

			v[n++] = (struct llp_iov){
				.base = second.base + off, .len = second.len - off};
		}
		c->resume = false;
		c->showing = true;
		used = c->llp.user_ops->readable(c->llp.user, v, n, total - done, &need);
		c->showing = false;
		if (c->dead || c->released)
			return total;
		done += used < total - done ? used : total - done;
		c->need = need;
	} while (c->resume && used != 0 && done < total);
	return done;
}

/** @return how many bytes the user is done with. */
static size_t tls_input_show(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	return tls_input_show_both(
		c, (struct llp_iov){.base = bytes, .len = len}, (struct llp_iov){0});
}

/** @return false: there is no memory, or no share of it. */
static bool tls_input_keep(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	struct tls_kept *k = &c->kept;
	size_t want = k->len + len;

	if (k->at != 0)
		memmove(k->bytes, k->bytes + k->at, k->len);
	k->at = 0;
	if (want > k->room && !tls_starved_have_room(c, want))
		return false;
	memcpy(k->bytes + k->len, bytes, len);
	k->len += len;
	return true;
}

static void tls_input_use_kept(struct tls_conn *c, size_t used)
{
	struct tls_kept *k = &c->kept;

	k->at += used;
	k->len -= used;
	if (k->len == 0)
		tls_kept_clear(&c->stack->kept, k);
}

void tls_input_show_kept(struct tls_conn *c)
{
	struct tls_kept *k = &c->kept;
	size_t used;

	if (k->len == 0 || (k->len < c->need && !c->below_eof && !c->rx_closed))
		return;
	used = tls_input_show(c, k->bytes + k->at, k->len);
	if (c->dead || c->released)
		return;
	tls_input_use_kept(c, used);
}

/**
 * There is no memory to keep content in: show it behind what is kept.
 * @return how many bytes of it the user is done with.
 */
static size_t tls_input_show_behind_kept(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	struct tls_kept *k = &c->kept;
	size_t before = k->len, used;

	if (before + len < c->need && !c->below_eof)
		return 0;
	used = tls_input_show_both(c, (struct llp_iov){.base = k->bytes + k->at, .len = before},
		(struct llp_iov){.base = bytes, .len = len});
	if (c->dead || c->released)
		return len;
	tls_input_use_kept(c, used < before ? used : before);
	return used < before ? 0 : used - before;
}

size_t tls_input_deliver(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	size_t used;

	if (len == 0)
		return 0;
	if (c->kept.len != 0 && tls_input_keep(c, bytes, len)) {
		tls_input_show_kept(c);
		return len;
	}
	used = c->kept.len == 0 ? tls_input_show(c, bytes, len)
				: tls_input_show_behind_kept(c, bytes, len);
	if (c->dead || c->released || used == len)
		return len;
	if (c->kept.len == 0 && tls_input_keep(c, bytes + used, len - used))
		return len;
	return used;
}

bool tls_input_is_full(const struct tls_conn *c)
{
	return c->kept.len >= (c->need > c->kept.len ? TLS_KEPT_MAX : TLS_KEPT_IDLE);
}
