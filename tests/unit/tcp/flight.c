/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight.h"

void flight_init(struct flight *f, unsigned options, const char *congestion_control)
{
	const struct tcp_stack_config cfg = {.congestion_control = congestion_control};

	*f = (struct flight){0};
	f->c = host_accepted(&f->h, &f->p, options | TCP_HAS_MSS, &cfg);
	f->first = f->p.ack;
	/* The handshake took no time; the path is said to be longer. */
	tcp_rto_init(&f->c->rto);
	tcp_rto_sample(&f->c->rto, RTT);
	for (int i = 0; i < 50; i++)
		tcp_rto_sample(&f->c->rto, RTT);
	tcp_min_rtt_sample(&f->c->rec.min_rtt, RTT, f->c->s->now_ms);
}

void flight_make(struct flight *f, unsigned n)
{
	for (; n; n--)
		app_send_pattern(&f->h.app, f->made++ * LEN, LEN);
}

void flight_start(struct flight *f, unsigned options)
{
	flight_init(f, options, "newreno");
	flight_make(f, 10);
	assert_int_equal(ip_double_pending(&f->h.ip), 10);
	ip_double_drain(&f->h.ip);
	host_advance(&f->h, RTT);
}

void flight_expect(struct flight *f, unsigned i)
{
	struct heard a;

	host_expect(&f->h, &a);
	assert_int_equal((a.h.seq - f->first) / LEN, i);
	assert_int_equal((a.h.seq - f->first) % LEN, 0);
	/* Large ones that vanish again and again are cut (RFC 8899): the first piece, then. */
	assert_int_equal(a.len, u32_min(LEN, f->c->emss));
	for (uint32_t k = 0; k < a.len; k++)
		assert_int_equal(a.text[k], (uint8_t)((i * LEN + k) * 31 >> 3));
}

void flight_ack(struct flight *f, unsigned n)
{
	f->p.ack = f->first + n * LEN;
	peer_send(&f->p, 0, NULL, 0);
}

void flight_sack(struct flight *f, unsigned acked, unsigned from, unsigned to)
{
	const struct tcp_range r = {f->first + from * LEN, f->first + to * LEN};

	f->p.ack = f->first + acked * LEN;
	peer_sack(&f->p, f->p.ack, &r, 1);
}

void flight_echo(struct flight *f, uint64_t ago)
{
	f->p.tsecr = f->c->ts_offset + (uint32_t)((f->h.now - ago) / MS);
}
