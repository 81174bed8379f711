/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a packet costs one of our stacks when it has many connections: requests come, each is
 * answered by an echo. Also what memory a connection takes when it is new, and when it is idle
 * again. One line of JSON.
 *
 * What is timed is IP and TCP of the stack that echoes, no more: its CPU time from a burst of
 * requests in its hand to the answers in the port's, with its timers and the end of its round. The
 * other ends are a model (tcp_peer.h) which is not timed and takes no more of the caches than a
 * port that writes packets would: a second stack in this thread would need the same caches for its
 * own connections. A look at the clock is a system call; what it takes is subtracted.
 *
 * The traffic is the same with few connections and with many: as many requests in a burst, each of
 * another connection, in an order that is random and stays; as much time between bursts. A request
 * acknowledges the answer before it, so each packet moves text both ways and lets go of a packet
 * that waited since the connection's last turn: with many, nothing that a packet needs is in the
 * caches.
 *
 *     tcp_connections [-f FEW] [-m MANY] [-r RUNS] [-l BYTES] [-g GAP]
 */
#include "base/clock_id.h"
#include "base/number.h"
#include "base/prng.h"
#include "sample.h"
#include "tcp/tcp.h"
#include "tcp_peer.h"

#include <errno.h>
#include <rte_atomic.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BURST     32
#define QUEUE     256
#define PACKETS   131071 /* each of many has an answer waiting for its ACK */
#define SIZE_MAX_ 1024
#define RUNS_MAX  100
#define LEAD      25000 /* bursts before it is measured: many have come to their turn, too */
#define ROUNDS    50000 /* bursts, in one run: a quarter of a second, as far as timers look */
#define GAP       5000  /* ns between bursts: 50,000 connections have their turns within 30 ms */
#define WARM_UP   18    /* requests of each: beyond those that are acknowledged at once */
#define SILENCE   UINT64_C(1000000000) /* after a run: its timers must not be the next one's */
#define LOOKS     100000               /* at the clock, to see what one takes */
#define HUGE_PAGE (2u << 20)

/** Frames on their way. */
struct wire {
	struct rte_mbuf *m[QUEUE];
	unsigned head, tail;
};

struct bench {
	struct rte_mempool *pool;
	struct ip_stack *ip;
	struct tcp_stack *tcp;
	struct timer_wheel wheel;
	struct peer peer;
	struct wire to_peer, to_stack;
	struct prng random;
	uint64_t now, gap, packets, spent; /**< by the stack: received, ns */
	double look;                       /**< at the clock, ns */
	unsigned few, many, runs;          /**< connections in use; runs with each */
	unsigned *order, turn, burst;
	unsigned accepted;
	uint32_t size;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "tcp_connections: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

static double time_of_a_look(void)
{
	uint64_t begin = clock_id_ns(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned i = 0; i < LOOKS; i++)
		(void)clock_id_ns(CLOCK_THREAD_CPUTIME_ID);
	return (double)(clock_id_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (LOOKS + 1);
}

/* ---- users of connections ----------------------------------------------------------------- */

/* A connection is its own user. */
static size_t on_request(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	void *room = llp_reserve(user, (uint32_t)total, false);

	if (!room)
		die("no room for a message", ENOBUFS);
	memset(room, 0x5a, total);
	llp_commit(user, (uint32_t)total);
	llp_push(user);
	return total;
}

static void on_closed(void *user, int error)
{
	die("a connection ended", error);
}

static const struct llp_user_ops ops = {.readable = on_request, .closed = on_closed};

static int on_accept(void *user, struct llp *l)
{
	struct bench *b = user;

	b->accepted++;
	llp_set_user(l, &ops, l);
	return 0;
}

/* ---- the stack ---------------------------------------------------------------------------- */

static void transmit(void *ctx, struct rte_mbuf *m)
{
	struct wire *w = ctx;

	if (w->tail - w->head == QUEUE)
		die("the wire is full", ENOBUFS);
	w->m[w->tail++ % QUEUE] = m;
}

static void fill(void *ctx, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len--)
		*p++ = (uint8_t)prng_u64(ctx);
}

static void start_stack(struct bench *b)
{
	struct ip_stack_config ip = {.mac = {2, 0, 0, 0, 0, STACK_NUMBER},
		.mtu = 1500,
		.wheel = &b->wheel,
		.pool = b->pool,
		.random = {fill, &b->random},
		.transmit = transmit,
		.transmit_ctx = &b->to_peer,
		.tx_ipv4_cksum = true,
		.tx_tcp_cksum = true};
	struct tcp_stack_config tcp = {.wheel = &b->wheel,
		.pool = b->pool,
		.random = {fill, &b->random},
		.max_connections = 1 << 20,
		.keepalive_ms = 7200000};
	struct ip_addr address = ip_addr_from_v4((uint8_t[]){10, 0, 0, STACK_NUMBER});
	int err;

	timer_wheel_init(&b->wheel, b->now);
	err = ip_stack_create(&ip, b->now, &b->ip);
	if (!err)
		err = ip_addr_add(b->ip, &address, 24, b->now);
	tcp.ip = b->ip;
	if (!err)
		err = tcp_stack_create(&tcp, b->now, &b->tcp);
	for (unsigned i = 0; i < PEER_PORTS && !err; i++) {
		const struct ip_endpoint at = {.port = (uint16_t)(PEER_PORT + i)};
		struct llp_listener *l;

		err = llp_listen(tcp_llp_stack(b->tcp), &at, 1024, on_accept, b, &l);
	}
	if (err)
		die("the stack does not start", err);
}

static void set_time(struct bench *b, uint64_t now)
{
	b->now = b->peer.now = now;
}

/** One poll: what came, timers, the end of the round. This is what is measured. */
static void poll_stack(struct bench *b)
{
	struct rte_mbuf *pkts[BURST];
	unsigned n = 0;
	uint64_t begin;

	while (n < BURST && b->to_stack.head != b->to_stack.tail)
		pkts[n++] = b->to_stack.m[b->to_stack.head++ % QUEUE];
	rte_mb(); /* what the model wrote is there: to wait for it is not the cost of the stack */
	begin = clock_id_ns(CLOCK_THREAD_CPUTIME_ID);
	tcp_set_now(b->tcp, b->now);
	ip_input(b->ip, pkts, n, b->now);
	timer_wheel_run(&b->wheel, b->now);
	tcp_round_end(b->tcp);
	b->spent += clock_id_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	b->packets += n;
}

/** Polls until all is still. */
static void settle(struct bench *b)
{
	do {
		poll_stack(b);
		while (b->to_peer.head != b->to_peer.tail)
			peer_input(&b->peer, b->to_peer.m[b->to_peer.head++ % QUEUE]);
	} while (b->to_stack.head != b->to_stack.tail);
}

static void pass_time(struct bench *b, uint64_t ns)
{
	for (uint64_t end = b->now + ns; b->now < end; set_time(b, b->now + 1000000))
		settle(b);
}

/** In huge pages if the kernel has them, as a NIC's packets are. */
static struct rte_mempool *packet_pool(void)
{
	struct rte_pktmbuf_pool_private room = {.mbuf_data_room_size = 2048 + RTE_PKTMBUF_HEADROOM};
	uint32_t size = sizeof(struct rte_mbuf) + room.mbuf_data_room_size;
	struct rte_mempool *pool = rte_mempool_create_empty("packets", PACKETS, size, 256,
		sizeof room, SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	size_t len = (size_t)(PACKETS + 1) * (size + 256);
	char *p = mmap(
		NULL, len + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!pool || p == MAP_FAILED)
		die("packets", ENOMEM);
	p += -(uintptr_t)p & (HUGE_PAGE - 1);
	madvise(p, len, MADV_HUGEPAGE); /* without, it is slower, no more */
	rte_mempool_set_ops_byname(pool, "stack", NULL);
	rte_pktmbuf_pool_init(pool, &room);
	if (rte_mempool_populate_iova(pool, p, RTE_BAD_IOVA, len, NULL, NULL) != PACKETS)
		die("packets", ENOMEM);
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

/** Each packet's memory is there before any is counted. */
static void touch_packets(struct bench *b)
{
	static struct rte_mbuf *all[PACKETS];

	if (rte_pktmbuf_alloc_bulk(b->pool, all, PACKETS))
		die("packets", ENOMEM);
	for (unsigned i = 0; i < PACKETS; i++)
		memset(all[i]->buf_addr, 0, all[i]->buf_len);
	rte_pktmbuf_free_bulk(all, PACKETS);
}

/** As many connections as there are, and so many more that there are @p n. */
static void connect_up_to(struct bench *b, unsigned n)
{
	while (b->accepted < n) {
		peer_connect(&b->peer, b->accepted);
		set_time(b, b->now + b->gap);
		settle(b);
		if (b->peer.connected != b->accepted)
			die("a connection does not come up", ETIMEDOUT);
	}
}

/* ---- measuring ---------------------------------------------------------------------------- */

/** Requests for the next burst's turn, and their answers. */
static void round_of(struct bench *b, unsigned n)
{
	set_time(b, b->now + b->gap);
	for (unsigned i = 0; i < b->burst; i++, b->turn = (b->turn + 1) % n)
		peer_ask(&b->peer, b->order[b->turn], b->size);
	settle(b);
}

/** Nothing waits for an acknowledgment any more, nor for a timer. */
static void be_silent(struct bench *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		peer_acknowledge(&b->peer, i);
		if (i % BURST == 0)
			settle(b);
	}
	pass_time(b, SILENCE);
}

/** The first @p n connections in random order. */
static void shuffle(struct bench *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned k = (unsigned)(prng_u64(&b->random) % (i + 1));

		b->order[i] = b->order[k];
		b->order[k] = i;
	}
	b->turn = 0;
}

/** A connection is acknowledged at once in its youth. */
static void grow_up(struct bench *b, unsigned n)
{
	shuffle(b, n);
	for (unsigned k = 0; k < WARM_UP * n / b->burst; k++)
		round_of(b, n);
	be_silent(b, n);
}

struct cost {
	double ns;      /**< the stack's CPU time for each packet that it gets */
	double packets; /**< that it sends for each of them */
};

/** Of the first @p n connections. */
static struct cost run(struct bench *b, unsigned n)
{
	uint64_t answered = b->peer.answered, segments = 0, asked = (uint64_t)b->burst * b->size;
	struct cost c;

	shuffle(b, n);
	for (unsigned r = 0; r < LEAD + ROUNDS; r++) {
		if (r == LEAD) {
			b->packets = b->spent = 0;
			segments = b->peer.segments;
		}
		round_of(b, n);
	}
	c.ns = ((double)b->spent - b->look * ROUNDS) / (double)b->packets;
	c.packets = (double)(b->peer.segments - segments) / (double)b->packets;
	be_silent(b, n);
	if (b->peer.answered - answered != asked * (LEAD + ROUNDS))
		die("answers are missing", EIO);
	return c;
}

/** Of each run; the medians count. */
struct results {
	double few[RUNS_MAX], many[RUNS_MAX], ratio[RUNS_MAX];
	double packets_few, packets_many; /**< of the last */
};

/** Runs with few and with many by turns: machines change their speed, so each is compared with the
 *  one beside it. */
static void measure(struct bench *b, struct results *r)
{
	for (unsigned i = 0; i < b->runs; i++) {
		struct cost few = run(b, b->few), many = run(b, b->many);

		r->few[i] = few.ns;
		r->many[i] = many.ns;
		r->ratio[i] = many.ns / few.ns;
		r->packets_few = few.packets;
		r->packets_many = many.packets;
	}
}

static bool options(struct bench *b, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "f:m:r:l:g:")) != -1) {
		uint64_t n;
		unsigned v;

		if (opt == '?' || !number_parse(optarg, 0, UINT32_MAX, &n))
			return false;
		v = (unsigned)n;
		if (opt == 'f')
			b->few = v;
		else if (opt == 'm')
			b->many = v;
		else if (opt == 'r')
			b->runs = v;
		else if (opt == 'l')
			b->size = v;
		else
			b->gap = v;
	}
	b->burst = b->few < BURST ? b->few : BURST;
	return b->few && b->many > b->few && b->runs && b->runs <= RUNS_MAX && b->size &&
	       b->size <= SIZE_MAX_;
}

static void set_up(struct bench *b)
{
	char *eal[] = {"tcp_connections", "--no-huge", "-m", "256", "--no-pci", "--no-shconf",
		"--no-telemetry", "--log-level=error", "--iova-mode=va", "-l", "0", NULL};

	if (rte_eal_init(sizeof eal / sizeof eal[0] - 1, eal) < 0)
		die("EAL", EIO);
	b->pool = packet_pool();
	touch_packets(b);
	b->order = calloc(b->many, sizeof *b->order);
	if (!b->order)
		die("connections", ENOMEM);
	shuffle(b, b->many);
	peer_init(&b->peer, b->pool, b->many, transmit, &b->to_stack);
	b->look = time_of_a_look();
	start_stack(b);
}

int main(int argc, char **argv)
{
	static struct bench b = {.now = 1000000000,
		.few = 10,
		.many = 50000,
		.runs = 11,
		.size = 64,
		.random.state = 1,
		.gap = GAP};
	static struct results r;
	size_t empty, fresh;

	if (!options(&b, argc, argv))
		return 2;
	set_up(&b);
	connect_up_to(&b, b.few);
	pass_time(&b, 300000000);
	empty = sample_memory();
	connect_up_to(&b, b.many);
	pass_time(&b, 300000000);
	fresh = (sample_memory() - empty) / (b.many - b.few);
	grow_up(&b, b.many);
	measure(&b, &r);
	printf("{\"few\": %u, \"many\": %u, \"bytes\": %u, \"ns_few\": %.1f, \"ns_many\": %.1f, "
	       "\"ratio\": %.2f, \"packets_few\": %.2f, \"packets_many\": %.2f, \"memory_new\": "
	       "%zu, \"memory_used\": %zu}\n",
		b.few, b.many, b.size, sample_median(r.few, b.runs), sample_median(r.many, b.runs),
		sample_median(r.ratio, b.runs), r.packets_few, r.packets_many, fresh,
		(sample_memory() - empty) / (b.many - b.few));
	return 0;
}
