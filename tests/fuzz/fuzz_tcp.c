/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCP opposite hostile peers that know its sequence numbers: segments near every window, reads,
 * writes, closes and time as the input says. The peers' text is a function of its sequence number,
 * so that every byte that is delivered can be checked.
 */
#include "fuzz.h"
#include "support/eal.h"
#include "support/ip_double.h"
#include "tcp/conn.h"
#include "tcp/stack.h"
#include "tcp/tcp.h"

#include <rte_mbuf.h>

#define MS        UINT64_C(1000000)
#define PORT      5000
#define RPORT     40000
#define CONNS     3
#define RUNS_MAX  50000
#define TAKEN_MAX 64

struct world;

/** One connection, and its user. */
struct app {
	struct world *w;
	struct llp *llp; /* NULL: none yet, or over */
	struct tcp_conn *c;
	uint32_t first; /* byte of the stream */
	uint64_t got;   /* bytes taken */
	uint8_t mood;   /* what it does in upcalls */
	bool eof;
	/* The receive window, to see that it never goes back. */
	bool known;
	uint32_t rcv_nxt, rcv_adv;
	struct tcp_range took[TAKEN_MAX]; /* by on_ooo(), and not shown by on_taken() yet */
	unsigned n_took;
};

struct world {
	struct fuzz *in;
	struct ip_stack ip;
	struct timer_wheel wheel;
	struct tcp_stack *tcp;
	struct llp_stack *llp;
	struct llp_listener *listener;
	uint64_t now;
	struct app app[CONNS];
};

static struct rte_mempool *pool;
static struct ip_addr local, remote;

static uint8_t text_at(uint32_t seq)
{
	return (uint8_t)(seq * 31 ^ seq >> 8);
}

/* ---- the user ---------------------------------------------------------------------------- */

static void on_connected(void *user)
{
	struct app *a = user;

	MUST(a->llp);
	a->first = a->c->rcv_nxt;
}

static void let_go(struct app *a, bool abortive)
{
	struct llp *l = a->llp;

	if (!l)
		return;
	a->llp = NULL;
	a->c = NULL;
	if (abortive)
		llp_abort(l);
	else
		llp_release(l);
}

/** The range of which the user took some before, or n_took. */
static unsigned find_taken(const struct app *a, uint32_t at, uint32_t end)
{
	unsigned i = 0;

	while (i < a->n_took && !(seq_lt(a->took[i].left, end) && seq_lt(at, a->took[i].right)))
		i++;
	return i;
}

static void app_send(struct app *a, uint32_t len, bool join)
{
	void *room = a->llp ? llp_reserve(a->llp, len, join) : NULL;

	if (!room)
		return;
	memset(room, 0x5a, len);
	llp_commit(a->llp, len & 15 ? len : 0);
	if (len & 16)
		llp_push(a->llp);
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct app *a = user;
	size_t sum = 0, take = total;
	uint32_t seq;

	MUST(a->llp && n > 0);
	seq = a->first + (uint32_t)a->got;
	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < v[i].len; k++, seq++)
			MUST(v[i].base[k] == text_at(seq));
		sum += v[i].len;
	}
	MUST(sum == total);
	MUST(find_taken(a, seq - (uint32_t)total, seq) == a->n_took);
	switch (a->mood & 7) {
	case 1:
		take = total / 2;
		break;
	case 2:
		take = 0;
		*need = total + (a->mood >> 3);
		break;
	case 3:
		let_go(a, true);
		return 0;
	case 4:
		let_go(a, false);
		return total;
	case 5:
		app_send(a, 1 + a->mood, true);
		break;
	case 6:
		take = total - total % 7;
		*need = total % 7 ? 7 : 0;
		break;
	}
	a->got += take;
	return take;
}

/*
 * A note says where its text is and how long; the mood says who wants some. Of what was taken no
 * byte comes again.
 */
static bool on_ooo(void *user, const struct llp_iov *v, unsigned n, size_t total, uint64_t ahead,
	struct llp_note *note)
{
	struct app *a = user;
	uint32_t at = a->first + (uint32_t)a->got + (uint32_t)ahead, seq = at;

	MUST(a->llp && n > 0);
	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].len; k++, seq++)
			MUST(v[i].base[k] == text_at(seq));
	MUST(seq - at == total);
	memset(note, 0xa5, sizeof *note);
	note->len = sizeof at;
	memcpy(note->bytes, &at, sizeof at);
	memcpy(note->bytes + sizeof at, &seq, sizeof seq);
	MUST(find_taken(a, at, seq) == a->n_took);
	if (!(a->mood & 128) || a->n_took == TAKEN_MAX)
		return false;
	a->took[a->n_took++] = (struct tcp_range){at, seq};
	return true;
}

static void on_taken(void *user, const struct llp_note *note)
{
	struct app *a = user;
	uint32_t at, end;
	unsigned i;

	MUST(a->llp && note->len == sizeof at);
	memcpy(&at, note->bytes, sizeof at);
	memcpy(&end, note->bytes + sizeof at, sizeof end);
	i = find_taken(a, at, end);
	MUST(i != a->n_took && a->took[i].left == at && a->took[i].right == end);
	a->took[i] = a->took[--a->n_took];
	MUST(at == a->first + (uint32_t)a->got + a->c->recvq.bytes);
	if (a->c->recvq.bytes || (a->mood & 7) == 3) /* what is unread lacks its end */
		let_go(a, true);
	else if ((a->mood & 7) == 4)
		let_go(a, false);
	else
		a->got += end - at;
}

static void on_writable(void *user)
{
	struct app *a = user;

	if (a->mood & 8)
		app_send(a, 1000, false);
}

static void on_eof(void *user)
{
	struct app *a = user;

	MUST(a->llp && !a->eof);
	a->eof = true;
	if (a->mood & 16)
		llp_shutdown(a->llp);
	else if (a->mood & 32)
		let_go(a, a->mood & 64);
}

static void on_closed(void *user, int error)
{
	struct app *a = user;

	MUST(a->llp && error <= 0);
	a->llp = NULL;
	a->c = NULL;
}

static const struct llp_user_ops ops = {.connected = on_connected,
	.readable = on_readable,
	.ooo = on_ooo,
	.taken = on_taken,
	.writable = on_writable,
	.eof = on_eof,
	.closed = on_closed};

static void take_on(struct app *a, struct llp *l)
{
	a->llp = l;
	a->c = tcp_conn_of(l);
	a->got = 0;
	a->eof = a->known = false;
	a->n_took = 0;
}

static int on_accept(void *user, struct llp *l)
{
	struct world *w = user;
	unsigned k = (unsigned)(tcp_conn_of(l)->id.rport - RPORT);

	MUST(k < CONNS);
	if (w->app[k].llp)
		return -1;
	take_on(&w->app[k], l);
	llp_set_user(l, &ops, &w->app[k]);
	return 0;
}

/* ---- the host ---------------------------------------------------------------------------- */

/** What RFC 9293 section 3.8.6 forbids: a window that shrinks, a sequence that goes back. */
static void check(struct world *w)
{
	for (unsigned k = 0; k < CONNS; k++) {
		struct app *a = &w->app[k];
		const struct tcp_conn *c = a->c;

		if (!c || c->state < TCP_ESTABLISHED)
			continue;
		MUST(seq_leq(c->rcv_nxt, c->rcv_adv) && seq_leq(c->snd_una, c->snd_nxt));
		MUST(!a->known || seq_geq(c->rcv_nxt, a->rcv_nxt));
		MUST(!a->known || seq_geq(c->rcv_adv, a->rcv_adv));
		a->rcv_nxt = c->rcv_nxt;
		a->rcv_adv = c->rcv_adv;
		a->known = true;
	}
}

/** What the stack believes to hold of the pool is what its connections hold. */
static void check_held(struct world *w)
{
	uint32_t tx = 0, rx = 0;
	const struct tcp_conn *c;

	for (unsigned i = 0; (c = tcp_table_get(&w->tcp->table, i)); i++) {
		tx += c->sendq.count;
		rx += c->recvq.count + (c->ooo_state ? c->ooo_state->ooo.held : 0);
	}
	MUST(w->tcp->dead || (w->tcp->tx_held == tx && w->tcp->rx_held == rx));
}

/** Take what was sent; the last segment is left in @p s. @return how many there were. */
static unsigned drain(struct world *w, struct tcp_segment *s)
{
	struct rte_mbuf *m;
	unsigned n = 0;

	for (; (m = ip_double_take(&w->ip)); n++) {
		rte_mbuf_sanity_check(m, 1);
		MUST(m->data_len >= TCP_HEADER_LEN);
		MUST(!tcp_wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, m->pkt_len, s));
		rte_pktmbuf_free(m);
	}
	return n;
}

static void round_end(struct world *w)
{
	struct tcp_segment s;

	tcp_round_end(w->tcp);
	check(w);
	check_held(w);
	drain(w, &s);
}

static void run(struct world *w, uint64_t ns)
{
	uint64_t end = w->now + ns, next;

	for (unsigned n = 0; (next = timer_wheel_next(&w->wheel)) <= end; n++) {
		MUST(n < RUNS_MAX); /* a storm of timers */
		if (next > w->now)
			w->now = next;
		tcp_set_now(w->tcp, w->now);
		timer_wheel_run(&w->wheel, w->now);
		round_end(w);
	}
	w->now = end;
	tcp_set_now(w->tcp, w->now);
	round_end(w);
}

static void fill(void *ctx, void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

static void world_start(struct world *w, struct fuzz *in)
{
	uint8_t bits = fuzz_u8(in);
	struct tcp_stack_config cfg = {.ip = &w->ip,
		.wheel = &w->wheel,
		.pool = pool,
		.random = {fill, NULL},
		.congestion_control = bits & 1 ? "newreno" : NULL,
		.send_buffer = bits & 2 ? 8192 : 0,
		.receive_buffer = 128 << 10,
		.keepalive_ms = bits & 4 ? 1000 : 0,
		.user_timeout_ms = 30000,
		.syn_cookies = bits & 128 ? TCP_COOKIES_ALWAYS : TCP_COOKIES_AUTO,
		.ecn = TCP_ECN_ON,
		.no_timestamps = bits & 8,
		.no_sack = bits & 16,
		.no_window_scale = bits & 32};
	const struct ip_endpoint any = {.port = PORT};

	memset(w->app, 0, sizeof w->app);
	w->in = in;
	for (unsigned k = 0; k < CONNS; k++)
		w->app[k].w = w;
	w->ip = (struct ip_stack){.mtu = bits & 64 ? 576 : 1500, .n_addr = 1, .addr = {local}};
	w->now = 1000000 * MS;
	timer_wheel_init(&w->wheel, w->now);
	MUST(!tcp_stack_create(&cfg, w->now, &w->tcp));
	w->llp = tcp_llp_stack(w->tcp);
	MUST(!llp_listen(w->llp, &any, 2, on_accept, w, &w->listener));
}

static void world_end(struct world *w)
{
	run(w, 200 * MS);
	tcp_stack_destroy(w->tcp);
	ip_double_drain(&w->ip);
	MUST(timer_wheel_next(&w->wheel) == TIMER_NEVER);
	MUST(test_pool_missing(pool) == 0);
}

/* ---- the peers --------------------------------------------------------------------------- */

static struct tcp_conn *conn_of(struct world *w, unsigned k, struct tcp_tuple *id)
{
	*id = (struct tcp_tuple){local, remote, PORT, (uint16_t)(RPORT + k)};
	if (w->app[k].c)
		*id = w->app[k].c->id;
	return tcp_table_find(&w->tcp->table, id);
}

/** Near @p base, mostly right at it. */
static uint32_t near(struct world *w, uint32_t base, uint32_t span)
{
	uint8_t how = fuzz_u8(w->in);

	switch (how & 7) {
	case 1:
		return base + (uint32_t)(int8_t)fuzz_u8(w->in);
	case 2:
		return base + (uint32_t)(int16_t)fuzz_u16(w->in);
	case 3:
		return base + span + (uint32_t)(int8_t)fuzz_u8(w->in);
	case 4:
		return base + fuzz_u16(w->in) * 8u;
	case 5:
		return how & 128 ? fuzz_u32(w->in) : base + 1448u * (how >> 3);
	default:
		return base;
	}
}

static void options(struct world *w, const struct tcp_conn *c, struct tcp_segment *s, uint8_t bits)
{
	s->tsval = 7000 + (uint32_t)(w->now / MS);
	if (bits & 1)
		s->tsval += (uint32_t)(int8_t)fuzz_u8(w->in);
	s->tsecr = c ? w->tcp->now_ms + c->ts_offset : 0;
	if (bits & 2)
		s->tsecr = near(w, s->tsecr, 0);
	if (c ? c->ts_on : !(bits & 4))
		s->has |= TCP_HAS_TS;
	if (bits & 4)
		s->has ^= TCP_HAS_TS;
	if (s->flags & TCP_SYN) {
		s->has |= fuzz_u8(w->in) & 7;
		s->mss = fuzz_u16(w->in);
		s->wscale = fuzz_u8(w->in) & 15;
	} else if (c && bits & 8) {
		s->n_sack = 1 + (bits >> 4 & 1) + (bits >> 5 & 1);
		for (unsigned i = 0; i < s->n_sack; i++) {
			s->sack[i].left = near(w, c->snd_una, tcp_flight(c));
			s->sack[i].right = near(w, s->sack[i].left, 1448);
		}
	}
}

static void put(struct world *w, const uint8_t *p, unsigned len, unsigned cut)
{
	struct rte_mbuf *m = test_packet(pool, p, len);

	/* The first 60 bytes are contiguous: ip.h. */
	if (cut && len > 60 && cut < len - 60) {
		unsigned at = 60 + cut, piece = cut & 1 ? 0 : cut;

		rte_pktmbuf_trim(m, (uint16_t)(len - at));
		for (unsigned n = 0; at < len; n++) {
			unsigned size = piece && n < 6 && len - at > piece ? piece : len - at;

			MUST(!rte_pktmbuf_chain(m, test_packet(pool, p + at, size)));
			at += size;
		}
	}
	ip_double_deliver(&w->ip, &remote, &local, m, w->now);
}

static void segment(struct world *w, uint8_t op)
{
	static const uint8_t kinds[] = {TCP_ACK, TCP_ACK | TCP_PSH, TCP_ACK | TCP_FIN, TCP_SYN,
		TCP_SYN | TCP_ACK, TCP_RST, TCP_RST | TCP_ACK};
	unsigned k = (op >> 4) % CONNS, kind = fuzz_u8(w->in) % 8, cut, hlen;
	uint8_t buf[TCP_HEADER_MAX + 2048];
	struct tcp_tuple id;
	const struct tcp_conn *c = conn_of(w, k, &id);
	struct tcp_segment s = {.sport = id.rport, .dport = id.lport};

	s.flags = kind < 7 ? kinds[kind] : fuzz_u8(w->in);
	s.seq = near(w, c && c->state > TCP_SYN_SENT ? c->rcv_nxt : 1000, c ? tcp_rcv_wnd(c) : 0);
	s.ack = near(w, c ? c->snd_nxt : 0, 0);
	s.wnd = op & 128 ? fuzz_u16(w->in) : 65535;
	options(w, c, &s, op & 64 ? fuzz_u8(w->in) : 0);
	if (s.n_sack && s.has & TCP_HAS_TS && s.n_sack > 3)
		s.n_sack = 3;
	if (kind == 1 || kind == 2 || kind == 7)
		s.len = fuzz_u16(w->in) % 1500;
	cut = fuzz_u8(w->in);
	hlen = tcp_wire_emit(&s, buf);
	MUST(hlen <= TCP_HEADER_MAX);
	for (uint32_t i = 0; i < s.len; i++)
		buf[hlen + i] = text_at(s.seq + ((s.flags & TCP_SYN) != 0) + i);
	put(w, buf, hlen + s.len, cut);
}

static void raw(struct world *w)
{
	uint8_t buf[256];
	size_t got;
	const uint8_t *p = fuzz_bytes(w->in, fuzz_u8(w->in), &got);
	uint32_t from;

	memcpy(buf, p, got);
	if (got >= 4) {
		buf[TCP_OFF_SPORT] = RPORT >> 8;
		buf[TCP_OFF_SPORT + 1] = (uint8_t)(RPORT + buf[TCP_OFF_SPORT + 1] % CONNS);
		buf[TCP_OFF_DPORT] = PORT >> 8;
		buf[TCP_OFF_DPORT + 1] = PORT & 0xff;
	}
	if (got > TCP_HEADER_LEN) { /* the text that belongs there */
		unsigned hlen = tcp_wire_header_len(buf);

		from = (uint32_t)buf[TCP_OFF_SEQ] << 24 | (uint32_t)buf[TCP_OFF_SEQ + 1] << 16 |
		       (uint32_t)buf[TCP_OFF_SEQ + 2] << 8 | buf[TCP_OFF_SEQ + 3];
		from += (buf[TCP_OFF_FLAGS] & TCP_SYN) != 0;
		for (size_t i = hlen; i < got && hlen >= TCP_HEADER_LEN; i++)
			buf[i] = text_at(from++);
	}
	put(w, buf, (unsigned)got, 0);
}

/** A handshake in good order, so that most inputs have a connection. */
static void handshake(struct world *w, uint8_t op)
{
	unsigned k = (op >> 4) % CONNS, hlen;
	uint8_t buf[TCP_HEADER_MAX];
	struct tcp_tuple id;
	const struct tcp_conn *c = conn_of(w, k, &id);
	struct tcp_segment s = {.sport = id.rport,
		.dport = id.lport,
		.flags = TCP_SYN,
		.seq = 1000,
		.wnd = 65535,
		.has = fuzz_u8(w->in) & 15,
		.mss = 1460,
		.wscale = 7,
		.tsval = 7000 + (uint32_t)(w->now / MS)};
	struct tcp_segment answer;

	if (op & 128)
		s.flags |= TCP_ECE | TCP_CWR;
	if (c && c->state != TCP_SYN_SENT)
		return;
	if (c) {
		s.flags |= TCP_ACK;
		s.ack = c->snd_nxt;
		s.tsecr = w->tcp->now_ms + c->ts_offset;
	}
	hlen = tcp_wire_emit(&s, buf);
	round_end(w);
	put(w, buf, hlen, 0);
	if (drain(w, &answer) != 1 || (answer.flags & (TCP_SYN | TCP_ACK)) != (TCP_SYN | TCP_ACK))
		return;
	s.flags = TCP_ACK;
	s.seq++;
	s.ack = answer.seq + 1;
	s.has = answer.has & TCP_HAS_TS;
	s.tsecr = answer.tsval;
	hlen = tcp_wire_emit(&s, buf);
	put(w, buf, hlen, 0);
}

/* ---- steps ------------------------------------------------------------------------------- */

static void start_connect(struct world *w, struct app *a)
{
	const struct llp_connect_params p = {
		.remote = {remote, (uint16_t)(RPORT + (a - w->app))}, .local.port = PORT + 1};
	struct llp *l;

	if (a->llp || llp_connect(w->llp, &p, &ops, a, &l))
		return;
	take_on(a, l);
}

static void use(struct world *w, uint8_t op)
{
	struct app *a = &w->app[(op >> 4) % CONNS];
	uint8_t what = fuzz_u8(w->in);

	switch (what & 15) {
	case 0:
	case 1:
	case 2:
		app_send(a, 1u + fuzz_u16(w->in) % 2000, what & 16);
		break;
	case 3:
		for (unsigned i = 0; i < 40; i++)
			app_send(a, 1u + (what & 0xf0) * 6u, what & 16);
		break;
	case 4:
		if (a->llp)
			llp_push(a->llp);
		break;
	case 5:
		if (a->llp)
			llp_shutdown(a->llp);
		break;
	case 6:
		if (what & 128)
			let_go(a, what & 64);
		break;
	case 7:
		start_connect(w, a);
		break;
	case 8:
	case 9:
		a->mood = fuzz_u8(w->in);
		break;
	case 10:
		if (a->llp)
			llp_resume(a->llp);
		break;
	case 11:
		w->ip.send_error = what & 128 ? -113 : 0;
		break;
	case 12:
		w->ip.path_mtu = (uint16_t)(576 + (what >> 4) * 60);
		break;
	case 13:
		w->ip.rx_tos = what >> 4 & 3;
		break;
	case 14: /* others have filled the memory, or not any more */
		w->tcp->rx_hard_limit = what & 128 ? w->tcp->rx_held / 2 : UINT32_MAX;
		break;
	default:
		if (a->llp)
			MUST(llp_unacked(a->llp) < 1u << 22);
	}
}

static void icmp(struct world *w, uint8_t op)
{
	struct tcp_tuple id;
	const struct tcp_conn *c = conn_of(w, (op >> 4) % CONNS, &id);
	uint8_t quote[TCP_HEADER_LEN] = {
		id.lport >> 8, id.lport & 0xff, id.rport >> 8, id.rport & 0xff};
	uint32_t seq = near(w, c ? c->snd_una : 0, c ? tcp_flight(c) : 0);
	struct ip_error e = {.src = local,
		.dst = remote,
		.kind = fuzz_u8(w->in) % (IP_ERROR_TIME + 1),
		.mtu = fuzz_u16(w->in),
		.l4 = quote,
		.l4_len = 8 + fuzz_u8(w->in) % 13};

	quote[4] = (uint8_t)(seq >> 24);
	quote[5] = (uint8_t)(seq >> 16);
	quote[6] = (uint8_t)(seq >> 8);
	quote[7] = (uint8_t)seq;
	w->ip.transport.error(w->ip.transport.ctx, &e, w->now);
}

static void step(struct world *w)
{
	uint8_t op = fuzz_u8(w->in);

	switch (op & 15) {
	case 8:
		handshake(w, op);
		break;
	case 9:
	case 10:
		use(w, op);
		break;
	case 11:
		run(w, MS << fuzz_u8(w->in) % 18);
		break;
	case 12:
		raw(w);
		break;
	case 13:
		icmp(w, op);
		break;
	case 14:
	case 15:
		round_end(w);
		break;
	default:
		segment(w, op);
		if (op & 8)
			round_end(w);
	}
	check(w);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	test_eal_init();
	pool = test_pool("packets", 4095, 2048);
	MUST(!ip_addr_parse("10.0.0.1", &local) && !ip_addr_parse("10.0.0.2", &remote));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	static struct world w;

	world_start(&w, &in);
	while (in.left)
		step(&w);
	world_end(&w);
	return 0;
}
