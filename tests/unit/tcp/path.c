/* SPDX-License-Identifier: BSD-2-Clause */
#include "path.h"

#include "base/bytes.h"

void path_start_with_budget(
	struct path *path, unsigned options, uint16_t link, uint16_t mtu, unsigned budget)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 10000000, .send_packets = budget};

	memset(path, 0, sizeof *path);
	host_init(&path->h, LOCAL, &cfg);
	path->h.ip.mtu = link;
	peer_accepted(&path->p, &path->h, options);
	path->c = tcp_conn_of(path->h.app.llp);
	path->mtu = mtu;
	path->irs = path->nxt = path->p.ack;
	path->dsacks = true;
}

void path_start(struct path *path, unsigned options, uint16_t link, uint16_t mtu)
{
	path_start_with_budget(path, options, link, mtu, 0);
}

static struct tcp_range arrive(struct path *path, const struct heard *a)
{
	struct tcp_range dup = {0, 0};
	bool fresh = false;

	for (uint32_t i = 0; i < a->len; i++) {
		bool *got = &path->got[(a->h.seq - path->irs + i) % PATH_BYTES];

		assert_true(a->text[i] == (uint8_t)((a->h.seq - path->irs + i) % 251));
		fresh |= !*got;
		*got = true;
	}
	while (path->got[(path->nxt - path->irs) % PATH_BYTES])
		path->nxt++;
	if (!fresh && a->len)
		dup = (struct tcp_range){a->h.seq, a->h.seq + a->len};
	return dup;
}

void path_carry(struct path *path)
{
	struct heard a;

	while (ip_double_pending(&path->h.ip)) {
		struct tcp_range dup, r[2];
		unsigned n = 0;

		host_expect(&path->h, &a);
		if (20u + a.h.header_len + a.len > path->mtu ||
			(a.len && a.h.seq == path->unlucky && path->times)) {
			path->times -= path->times > 0;
			path->dropped++;
			continue;
		}
		if (20u + a.h.header_len + a.len > path->largest)
			path->largest = 20u + a.h.header_len + a.len;
		dup = arrive(path, &a);
		if (!a.len)
			continue;
		if (dup.left != dup.right && path->dsacks)
			r[n++] = dup;
		else if (seq_gt(a.h.seq, path->nxt))
			r[n++] = (struct tcp_range){a.h.seq, a.h.seq + a.len};
		path->p.ack = path->nxt;
		if (path->c->sack_on && n)
			peer_sack(&path->p, path->p.ack, r, n);
		else
			peer_send(&path->p, 0, NULL, 0);
	}
}

bool path_queue(struct path *path, uint32_t len)
{
	uint8_t *room = llp_reserve(path->h.app.llp, len, false);

	if (!room)
		return false;
	for (uint32_t k = 0; k < len; k++)
		room[k] = (uint8_t)(path->made++ % 251);
	llp_commit(path->h.app.llp, len);
	return true;
}

void path_send(struct path *path, unsigned n, uint32_t len)
{
	for (unsigned i = 0; i < n && path_queue(path, len); i++)
		;
	llp_push(path->h.app.llp);
}

void path_bulk(struct path *path, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		path_send(path, 10, llp_emss(path->h.app.llp));
		path_carry(path);
		host_advance(&path->h, 20 * MS);
		path_carry(path);
	}
}

void path_all_arrived(struct path *path)
{
	for (int i = 0; i < 50 && path->c->sendq.count; i++) {
		path_carry(path);
		host_advance(&path->h, 200 * MS);
	}
	assert_int_equal(path->c->sendq.count, 0);
	assert_int_equal(path->nxt, path->c->snd_nxt);
}

void path_too_big_for(struct path *path, uint16_t lport, uint32_t seq, uint16_t mtu)
{
	uint8_t l4[20] = {0};
	struct ip_error e = {.src = addr(LOCAL),
		.dst = addr(REMOTE),
		.kind = IP_ERROR_MTU,
		.mtu = mtu,
		.l4 = l4,
		.l4_len = 8};

	store_be16(l4, lport);
	store_be16(l4 + 2, RPORT);
	store_be32(l4 + 4, seq);
	path->h.ip.transport.error(path->h.ip.transport.ctx, &e, path->h.now);
}

void path_too_big(struct path *path, uint32_t seq, uint16_t mtu)
{
	path_too_big_for(path, PORT, seq, mtu);
}
