/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a packet costs when there are many connections: two of our stacks back to back in one
 * thread, an echo on one, small requests from the other. No port and no wire: what is measured is
 * IP and TCP of the one that echoes, its requests and its answers. Also what memory a connection
 * takes when it is new, and when it is idle again. One line of JSON.
 *
 * The traffic is the same with few connections and with many: as many requests in a burst, each of
 * another connection, in an order that is random and stays; as much time between bursts; and each
 * connection's turn comes before it would acknowledge the last answer in a packet of its own. With
 * a longer gap (-g 50000) that is no longer so: then most of many connections send such packets.
 *
 *     tcp_connections [-f FEW] [-m MANY] [-r RUNS] [-l BYTES] [-g GAP]
 */
#include "base/prng.h"
#include "tcp/tcp.h"

#include <errno.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PORT      7
#define PORTS     4 /* listeners: a pair of addresses has 28,000 ephemeral ports for each */
#define BURST     32
#define QUEUE     8192
#define PACKETS   163839 /* each of many has an answer waiting for its ACK */
#define SIZE_MAX_ 1024
#define LEAD      5000  /* bursts before it is measured: many have come to their turn, too */
#define ROUNDS    10000 /* bursts, in one run */
#define GAP       5000  /* ns between bursts: 50,000 connections have their turns within 30 ms */
#define WARM_UP   18    /* requests of each: beyond those that are acknowledged at once */
#define SILENCE   UINT64_C(1000000000) /* after a run: its timers must not be the next one's */
#define HUGE_PAGE (2u << 20)

/** Frames on their way to a host. */
struct wire {
	struct rte_mbuf *m[QUEUE];
	unsigned head, tail;
};

struct host {
	struct ip_stack *ip;
	struct tcp_stack *tcp;
	struct timer_wheel wheel;
	struct wire *out;
	struct prng random;
};

struct bench {
	struct rte_mempool *pool;
	struct host client, server;
	struct wire to_client, to_server;
	struct prng random;
	uint64_t now, gap, packets, spent; /**< by the server: received, ns */
	struct llp **conn;
	unsigned *order, turn, burst;
	unsigned n, accepted, connected, closed;
	uint32_t size;
	uint64_t answered;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "tcp_connections: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- users of connections ----------------------------------------------------------------- */

static void send_text(struct llp *l, uint32_t len)
{
	void *room = llp_reserve(l, len, false);

	if (!room)
		die("no room for a message", ENOBUFS);
	memset(room, 0x5a, len);
	llp_commit(l, len);
	llp_push(l);
}

/* A connection of the server is its own user; one of the client is the bench's. */
static size_t on_request(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	send_text(user, (uint32_t)total);
	return total;
}

static size_t on_answer(void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct bench *b = user;

	b->answered += total;
	return total;
}

static void on_connected(void *user)
{
	struct bench *b = user;

	b->connected++;
}

static void on_closed(void *user, int error)
{
	die("a connection ended", error);
}

static const struct llp_user_ops server_ops = {.readable = on_request, .closed = on_closed};
static const struct llp_user_ops client_ops = {
	.connected = on_connected, .readable = on_answer, .closed = on_closed};

static int on_accept(void *user, struct llp *l)
{
	struct bench *b = user;

	b->accepted++;
	llp_set_user(l, &server_ops, l);
	return 0;
}

/* ---- hosts -------------------------------------------------------------------------------- */

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

static void host_start(struct bench *b, struct host *h, struct wire *out, uint8_t number)
{
	struct ip_stack_config ip = {.mac = {2, 0, 0, 0, 0, number},
		.mtu = 1500,
		.wheel = &h->wheel,
		.pool = b->pool,
		.random = {fill, &h->random},
		.transmit = transmit,
		.transmit_ctx = out,
		.tx_ipv4_cksum = true,
		.tx_tcp_cksum = true};
	struct tcp_stack_config tcp = {.wheel = &h->wheel,
		.pool = b->pool,
		.random = {fill, &h->random},
		.max_connections = 1 << 20,
		.keepalive_ms = 7200000};
	struct ip_addr address = ip_addr_from_v4((uint8_t[]){10, 0, 0, number});
	int err;

	h->out = out;
	h->random.state = number;
	timer_wheel_init(&h->wheel, b->now);
	err = ip_stack_create(&ip, b->now, &h->ip);
	if (!err)
		err = ip_addr_add(h->ip, &address, 24, b->now);
	tcp.ip = h->ip;
	if (!err)
		err = tcp_stack_create(&tcp, b->now, &h->tcp);
	if (err)
		die("a stack does not start", err);
}

/** A burst of what waits on @p w, as a port would hand it up: in packets of its own. */
static unsigned receive(struct bench *b, struct wire *w, struct rte_mbuf **pkts)
{
	unsigned n = 0;

	while (n < BURST && w->head != w->tail) {
		struct rte_mbuf *m = w->m[w->head++ % QUEUE];

		pkts[n] = rte_pktmbuf_copy(m, b->pool, 0, UINT32_MAX);
		if (!pkts[n])
			die("no packet", ENOBUFS);
		pkts[n++]->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
		rte_pktmbuf_free(m);
	}
	return n;
}

/** One poll of @p h: what came, timers, the end of the round. */
static void poll_host(struct bench *b, struct host *h, struct rte_mbuf **pkts, unsigned n)
{
	tcp_set_now(h->tcp, b->now);
	ip_input(h->ip, pkts, n, b->now);
	timer_wheel_run(&h->wheel, b->now);
	tcp_round_end(h->tcp);
}

/** Until all is still. */
static void settle(struct bench *b)
{
	struct rte_mbuf *pkts[BURST];
	uint64_t begin;
	unsigned n;

	do {
		b->now += 1000;
		n = receive(b, &b->to_server, pkts);
		begin = cpu_ns();
		poll_host(b, &b->server, pkts, n);
		b->spent += cpu_ns() - begin;
		b->packets += n;
		n = receive(b, &b->to_client, pkts);
		poll_host(b, &b->client, pkts, n);
	} while (b->to_server.head != b->to_server.tail || b->to_client.head != b->to_client.tail);
}

static void pass_time(struct bench *b, uint64_t ns)
{
	for (uint64_t end = b->now + ns; b->now < end; b->now += 1000000)
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

static void listen_on_ports(struct bench *b)
{
	for (uint16_t i = 0; i < PORTS; i++) {
		const struct ip_endpoint at = {.port = (uint16_t)(PORT + i)};
		struct llp_listener *l;
		int err = llp_listen(tcp_llp_stack(b->server.tcp), &at, 1024, on_accept, b, &l);

		if (err)
			die("cannot listen", err);
	}
}

static void connect_up_to(struct bench *b, unsigned n)
{
	b->conn = realloc(b->conn, n * sizeof *b->conn);
	b->order = realloc(b->order, n * sizeof *b->order);
	if (!b->conn || !b->order)
		die("connections", ENOMEM);
	while (b->n < n) {
		const struct llp_connect_params p = {
			.remote = {ip_addr_from_v4((uint8_t[]){10, 0, 0, 2}),
				(uint16_t)(PORT + b->n % PORTS)}};
		int err = llp_connect(
			tcp_llp_stack(b->client.tcp), &p, &client_ops, b, &b->conn[b->n]);

		if (err)
			die("cannot connect", err);
		b->n++;
		if (b->n % 16 == 0)
			settle(b);
	}
	for (unsigned i = 0; i < 5000 && (b->connected < n || b->accepted < n); i++)
		pass_time(b, 1000000);
	if (b->connected < n || b->accepted < n)
		die("not all connections came up", ETIMEDOUT);
}

/* ---- measuring ---------------------------------------------------------------------------- */

static void ask(struct bench *b, unsigned i)
{
	send_text(b->conn[i], b->size);
}

/** A connection is acknowledged at once in its youth. */
static void grow_up(struct bench *b)
{
	for (unsigned k = 0; k < WARM_UP * b->n; k++) {
		ask(b, k % b->n);
		if (k % BURST)
			continue;
		settle(b);
		b->now += b->gap;
		tcp_set_now(b->client.tcp, b->now);
	}
	pass_time(b, 50000000);
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

struct cost {
	double ns;      /**< the server's CPU time for each packet that it gets */
	double packets; /**< that it gets for each request */
};

/** Of the first @p n connections. */
static struct cost run(struct bench *b, unsigned n)
{
	uint64_t asked = b->answered;
	struct cost c;

	shuffle(b, n);
	for (unsigned r = 0; r < LEAD + ROUNDS; r++) {
		if (r == LEAD)
			b->packets = b->spent = 0;
		b->now += b->gap;
		tcp_set_now(b->client.tcp, b->now);
		for (unsigned i = 0; i < b->burst; i++, b->turn = (b->turn + 1) % n)
			ask(b, b->order[b->turn]);
		tcp_round_end(b->client.tcp);
		asked += (uint64_t)b->burst * b->size;
		settle(b);
	}
	c.ns = (double)b->spent / (double)b->packets;
	c.packets = (double)b->packets / ROUNDS / b->burst;
	pass_time(b, SILENCE);
	if (b->answered != asked)
		die("answers are missing", EIO);
	return c;
}

static size_t memory(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*u %lu", &pages) != 1)
		die("/proc/self/statm", EIO);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static int by_ns(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static struct cost median(struct cost *v, unsigned n)
{
	qsort(v, n, sizeof *v, by_ns);
	return v[n / 2];
}

int main(int argc, char **argv)
{
	char *eal[] = {"tcp_connections", "--no-huge", "-m", "512", "--no-pci", "--no-shconf",
		"--no-telemetry", "--log-level=error", "--iova-mode=va", "-l", "0", NULL};
	unsigned few = 10, many = 50000, runs = 11;
	static struct bench b = {.now = 1000000000, .size = 64, .random.state = 1, .gap = GAP};
	static struct cost of_few[100], of_many[100];
	size_t empty, fresh;
	struct cost x, y;
	int opt;

	while ((opt = getopt(argc, argv, "f:m:r:l:g:")) != -1) {
		unsigned v = (unsigned)(optarg ? strtoul(optarg, NULL, 0) : 0);

		if (opt == 'f')
			few = v;
		else if (opt == 'm')
			many = v;
		else if (opt == 'r')
			runs = v;
		else if (opt == 'l')
			b.size = v;
		else if (opt == 'g')
			b.gap = v;
		else
			return 2;
	}
	if (!few || many < few || !runs || runs > 100 || !b.size || b.size > SIZE_MAX_)
		return 2;
	b.burst = few < BURST ? few : BURST;
	if (rte_eal_init(sizeof eal / sizeof eal[0] - 1, eal) < 0)
		die("EAL", EIO);
	b.pool = packet_pool();
	touch_packets(&b);
	host_start(&b, &b.client, &b.to_server, 1);
	host_start(&b, &b.server, &b.to_client, 2);
	pass_time(&b, 10000000);
	listen_on_ports(&b);
	connect_up_to(&b, few);
	pass_time(&b, 300000000);
	empty = memory();
	connect_up_to(&b, many);
	pass_time(&b, 300000000);
	fresh = (memory() - empty) / (many > few ? 2 * (many - few) : 1);
	grow_up(&b);
	for (unsigned i = 0; i < runs; i++) {
		of_few[i] = run(&b, few);
		of_many[i] = run(&b, many);
	}
	x = median(of_few, runs);
	y = median(of_many, runs);
	pass_time(&b, 3000000000u);
	printf("{\"few\": %u, \"many\": %u, \"bytes\": %u, \"ns_few\": %.1f, \"ns_many\": %.1f, "
	       "\"ratio\": %.2f, \"packets_few\": %.2f, \"packets_many\": %.2f, \"memory_new\": "
	       "%zu, \"memory_used\": %zu}\n",
		few, many, b.size, x.ns, y.ns, y.ns / x.ns, x.packets, y.packets, fresh,
		(memory() - empty) / (many > few ? 2 * (many - few) : 1));
	return 0;
}
