/* SPDX-License-Identifier: BSD-2-Clause */
/* The pool is empty, or there is no memory: the packet at hand is lost, and nothing else. */
#include "base/bytes.h"
#include "host.h"
#include "ip/echo.h"
#include "ip/stack.h"
#include "ip/udp.h"
#include "support/alloc_fault.h"
#include "support/eal.h"
#include "support/wrapped.h"

#include <errno.h>
#include <rte_ip_frag.h>

#define ETH    "02 00 00 00 00 01 02 00 00 00 00 02 08 00 "
#define ETH_V6 "02 00 00 00 00 01 02 00 00 00 00 02 86 dd "
#define FD1    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define FD2    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define SOL1   "ff 02 00 00 00 00 00 00 00 00 00 01 ff 00 00 01 "
#define ARP                                                                 \
	"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01"
#define NS                                                                     \
	ETH_V6 "60 00 00 00 00 20 3a ff" FD2 FD1 "87 00 00 00 00 00 00 00" FD1 \
	       "01 01 02 00 00 00 00 02"

/* ---- allocations that fail ------------------------------------------------------------------ */

struct rte_ip_frag_tbl *__real_rte_ip_frag_table_create(
	uint32_t buckets, uint32_t ways, uint32_t entries, uint64_t cycles, int socket);
WRAPPED struct rte_ip_frag_tbl *__wrap_rte_ip_frag_table_create(
	uint32_t buckets, uint32_t ways, uint32_t entries, uint64_t cycles, int socket);

struct rte_ip_frag_tbl *__wrap_rte_ip_frag_table_create(
	uint32_t buckets, uint32_t ways, uint32_t entries, uint64_t cycles, int socket)
{
	return alloc_fault_now()
		       ? NULL
		       : __real_rte_ip_frag_table_create(buckets, ways, entries, cycles, socket);
}

static void ignore_frame(void *ctx, struct rte_mbuf *m)
{
	rte_pktmbuf_free(m);
}

static void fill_nothing(void *ctx, void *buf, size_t len)
{
	memset(buf, 0, len);
}

/** A stack is made whole or not at all. */
static void stack_is_not_made(void **state)
{
	struct host *h = host_new();
	struct ip_stack_config cfg = {.mtu = 1500,
		.wheel = &h->wheel,
		.pool = h->pool,
		.random = {fill_nothing, NULL},
		.transmit = ignore_frame,
		.ipsec = &(const struct ip_ipsec){.ctx = NULL}};
	struct ip_stack *s = NULL;

	/* Itself, reassembly and DPDK's tables for that, what waits under IPsec. */
	for (unsigned i = 1; i <= 19; i++) {
		int64_t before = alloc_fault_live();

		alloc_fault_at(i);
		assert_int_equal(ip_stack_create(&cfg, h->now, &s), -ENOMEM);
		assert_null(s);
		assert_int_equal(alloc_fault_live(), before);
	}
	alloc_fault_at(0);
	assert_int_equal(ip_stack_create(&cfg, h->now, &s), 0);
	ip_stack_destroy(s);
	ip_stack_destroy(NULL); /* as free() */
	host_free(h);
}

/* ---- an empty pool -------------------------------------------------------------------------- */

static struct rte_mbuf *held[512];
static unsigned n_held;

static void empty_pool(struct host *h)
{
	while ((held[n_held] = rte_pktmbuf_alloc(h->pool)))
		n_held++;
}

static void refill_pool(void)
{
	while (n_held)
		rte_pktmbuf_free(held[--n_held]);
}

static struct host *start(void)
{
	struct host *h = host_new_v4();
	struct ip_addr v6 = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &v6, 64, h->now), 0);
	host_run(h, 20 * SECOND);
	timer_stop(&h->wheel, &h->ip->rs_timer); /* as if a router had answered */
	host_input_hex(h, ARP);
	host_forget(h);
	return h;
}

/** A frame in pieces of @p piece bytes (0: whole), its lengths and checksums filled in. */
static struct rte_mbuf *frame(struct host *h, const char *hex, unsigned piece)
{
	struct bytes b = bytes(hex);
	struct rte_mbuf *m = NULL;

	if (b.b[12] == 0x86) {
		store_be16(b.b + 18, (uint16_t)(b.len - 54));
		if (b.b[20] == 58)
			fix_v6(&b);
	} else if (b.b[12] == 8 && b.b[13] == 0) {
		store_be16(b.b + 16, (uint16_t)(b.len - 14));
		fix_v4(&b);
	}
	for (unsigned at = 0; at < b.len; at += piece ? piece : b.len) {
		unsigned n = piece && b.len - at > piece ? piece : b.len - at;
		struct rte_mbuf *part = test_packet(h->pool, b.b + at, n);

		if (m)
			assert_int_equal(rte_pktmbuf_chain(m, part), 0);
		else
			m = part;
	}
	return m;
}

static const struct {
	const char *hex;
	unsigned piece;
	bool told; /**< by rx_no_memory: a packet of others was lost, no answer of ours */
} asks_for_an_answer[] = {
	{ARP, 20, true},
	{ARP, 0, false},
	/* An echo: pieces of a header, and a header in one piece that others hold, too. */
	{ETH "45 00 00 00 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01 08 00 00 00 be ef 00 01",
		18, true},
	{ETH_V6 "60 00 00 00 00 00 3a 40" FD2 FD1 "80 00 00 00 be ef 00 01", 30, true},
	/* Protocols that nobody speaks: errors. */
	{ETH "45 00 00 00 12 34 00 00 40 84 00 00 0a 00 00 02 0a 00 00 01 08 00 00 00 be ef 00 01",
		0, false},
	{ETH_V6 "60 00 00 00 00 00 84 40" FD2 FD1 "80 00 00 00 be ef 00 01", 0, false},
	/* The same behind an extension header. */
	{ETH_V6 "60 00 00 00 00 00 3c 40" FD2 FD1 "84 00 01 04 00 00 00 00 80 00 00 00 be ef 00 01",
		50, true},
	{NS, 0, false},
};

/* Without packets no answer, and no harm; with packets the same question is answered. */
static void answers_need_packets(void **state)
{
	for (unsigned i = 0; i < sizeof asks_for_an_answer / sizeof *asks_for_an_answer; i++) {
		struct host *h = start();
		struct rte_mbuf *m, *knows;
		uint64_t lost;

		/* Who has asked before is known: no question of ours comes in between. */
		knows = frame(h, NS, 0);
		assert_int_equal(ip_input(h->ip, &knows, 1, h->now), 1);
		host_forget(h);
		lost = ip_stack_stats(h->ip)->rx_no_memory;
		m = frame(h, asks_for_an_answer[i].hex, asks_for_an_answer[i].piece);
		empty_pool(h);
		assert_int_equal(ip_input(h->ip, &m, 1, h->now), 1);
		host_expect_nothing(h);
		assert_int_equal(
			ip_stack_stats(h->ip)->rx_no_memory - lost, asks_for_an_answer[i].told);
		refill_pool();
		host_run(h, 2 * SECOND);
		host_forget(h);
		m = frame(h, asks_for_an_answer[i].hex, asks_for_an_answer[i].piece);
		assert_int_equal(ip_input(h->ip, &m, 1, h->now), 1);
		assert_int_equal(h->n_tx, 1);
		host_free(h);
	}
}

/* A report of a group that cannot be sent is sent when it is due again; nor does it come back. */
static void reports_need_packets(void **state)
{
	static const char *const groups[] = {"239.1.2.3", "ff0e::5"};

	for (unsigned i = 0; i < 2; i++) {
		struct host *h = start();
		struct ip_addr group = host_addr(groups[i]),
			       from = host_addr(i ? "fd00::1" : "10.0.0.1");
		struct ip_path p = {.to_group = true};
		struct rte_mbuf *m;

		empty_pool(h);
		assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
		host_expect_nothing(h);
		refill_pool();
		host_run(h, SECOND);
		assert_int_equal(h->n_tx, 1);
		host_forget(h);
		assert_int_equal(ip_path_init(h->ip, &p, &from, &group, h->now), 0);
		m = host_segment(h, 20);
		empty_pool(h);
		assert_int_equal(ip_send(h->ip, &p, 17, m, h->now), 0);
		assert_int_equal(h->n_tx, 1);
		assert_false(ip_is_looping(h->ip));
		refill_pool();
		host_free(h);
	}
}

/* An answer is written into the question, unless others hold that. */
static void answer_to_a_shared_packet_needs_one(void **state)
{
	static const char *const echo[] = {
		ETH "45 00 00 00 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
		    "08 00 00 00 be ef 00 01",
		ETH_V6 "60 00 00 00 00 00 3a 40" FD2 FD1 "80 00 00 00 be ef 00 01",
	};

	for (unsigned i = 0; i < 2; i++) {
		struct host *h = start();
		struct rte_mbuf *m = frame(h, NS, 0);
		uint8_t before[128];
		uint16_t len;

		assert_int_equal(ip_input(h->ip, &m, 1, h->now), 1);
		host_forget(h);
		m = frame(h, echo[i], 0);
		len = m->data_len;
		memcpy(before, rte_pktmbuf_mtod(m, uint8_t *), len);
		rte_mbuf_refcnt_update(m, 1);
		empty_pool(h);
		assert_int_equal(ip_input(h->ip, &m, 1, h->now), 1);
		host_expect_nothing(h);
		assert_int_equal(ip_stack_stats(h->ip)->rx_no_memory, 1);
		refill_pool();
		assert_memory_equal((uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM, before, len);
		rte_pktmbuf_free(m);
		host_free(h);
	}
}

static void request_needs_a_packet(void **state)
{
	struct host *h = start();
	struct ip_addr to = host_addr("10.0.0.2");
	struct echo e;

	echo_init(&e, h->ip, 1);
	empty_pool(h);
	assert_int_equal(echo_send(&e, &to, 100, h->now), -ENOMEM);
	assert_int_equal(e.state, ECHO_IDLE);
	refill_pool();
	assert_int_equal(echo_send(&e, &to, 100, h->now), 0);
	assert_int_equal(e.state, ECHO_WAITING);
	host_free(h);
}

/* Packets without room in front for our headers are as good as none. */
static void packets_without_headroom_are_of_no_use(void **state)
{
	struct host *h = start();
	struct rte_mempool *tight = rte_pktmbuf_pool_create("tight", 63, 0, 0, 100, SOCKET_ID_ANY);
	struct ip_addr to = host_addr("10.0.0.2");
	struct ip_stack_config cfg = {.mtu = 1500,
		.wheel = &h->wheel,
		.pool = tight,
		.random = {fill_nothing, NULL},
		.transmit = ignore_frame,
		.no_link = true};
	struct ip_stack *s;
	struct echo e;

	assert_non_null(tight);
	assert_int_equal(ip_stack_create(&cfg, h->now, &s), 0);
	assert_int_equal(
		ip_addr_add(s, &(struct ip_addr){{[10] = 255, 255, 10, 0, 0, 1}}, 24, h->now), 0);
	echo_init(&e, s, 1);
	assert_int_equal(echo_send(&e, &to, 40, h->now), -ENOMEM);
	assert_int_equal(test_pool_missing(tight), 0);
	ip_stack_destroy(s);
	rte_mempool_free(tight);
	host_free(h);
}

/* ---- packets that are long, in pieces ------------------------------------------------------- */

static unsigned n_datagrams;

static void datagram(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len, uint64_t now)
{
	n_datagrams++;
}

/* The headers are there, and what is behind them does not become contiguous: the packet is lost. */
static void long_packets_need_memory(void **state)
{
	static const struct {
		const char *hex;
		unsigned len;
	} packets[] = {
		{ETH "45 00 00 00 12 34 00 00 40 11 00 00 0a 00 00 02 0a 00 00 01"
		     "00 07 00 09 01 2c 00 00",
			34 + 300},
		{ETH "46 00 00 00 12 34 00 00 01 02 00 00 0a 00 00 02 0a 00 00 01"
		     "94 04 00 00 11 01 00 00 00 00 00 00 02 7d 00 00",
			38 + 300},
		{ETH_V6 "60 00 00 00 00 00 3c 40" FD2 FD1 "84 20 01 fe", 54 + 264 + 8},
	};

	for (unsigned i = 0; i < sizeof packets / sizeof packets[0]; i++) {
		struct host *h = start();
		struct ip_addr group = host_addr("239.1.2.3");
		struct rte_mbuf *m = frame(h, NS, 0);
		char hex[4096];

		snprintf(hex, sizeof hex, "%s", packets[i].hex);
		for (unsigned at = bytes(hex).len; at < packets[i].len; at++)
			strcat(hex, "00");
		n_datagrams = 0;
		assert_int_equal(ip_input(h->ip, &m, 1, h->now), 1);
		assert_int_equal(
			udp_open(h->ip, 9, &(struct udp_user){.input = datagram, .max = 512}), 0);
		assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
		host_run(h, 5 * SECOND);
		host_forget(h);
		for (unsigned again = 0; again < 2; again++) {
			m = frame(h, hex, 140);
			if (!again)
				empty_pool(h);
			assert_int_equal(ip_input(h->ip, &m, 1, h->now), 1);
			refill_pool();
			host_run(h, SECOND);
			assert_int_equal(h->n_tx + n_datagrams, again);
			assert_int_equal(ip_stack_stats(h->ip)->rx_no_memory, 1);
		}
		host_free(h);
	}
}

/* Of two segments the first, which comes while the pool is empty, is lost as such. */
static void expect_taken_with_memory(struct host *h, struct rte_mbuf *m[2])
{
	for (unsigned again = 0; again < 2; again++) {
		if (!again)
			empty_pool(h);
		assert_int_equal(ip_input(h->ip, &m[again], 1, h->now), 1);
		refill_pool();
		assert_int_equal(h->n_rx, again);
		assert_int_equal(ip_stack_stats(h->ip)->rx_no_memory, 1);
	}
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 0);
}

/* Without a link, one octet says which family it is: none is there in the first piece. */
static void first_octet_needs_memory(void **state)
{
	static const char segment[] =
		ETH "45 00 00 00 00 00 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
		    "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 00 00 00 00";
	struct host *h = host_new_no_link();
	struct ip_addr a = host_addr("10.0.0.1");
	struct rte_mbuf *m[2];

	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *rest = frame(h, segment, 0);

		m[i] = rte_pktmbuf_alloc(h->pool);
		rte_pktmbuf_adj(rest, 14);
		assert_int_equal(rte_pktmbuf_chain(m[i], rest), 0);
	}
	expect_taken_with_memory(h, m);
	host_free(h);
}

/* With one, its header and a tag of a priority; what is cut there is no bad header. */
static void frames_need_memory(void **state)
{
	static const char segment[] = "02 00 00 00 00 01 02 00 00 00 00 02 81 00 e0 00 08 00"
				      "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				      "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00";
	static const unsigned piece[] = {13, 16}; /* within the header, within the tag */

	for (unsigned i = 0; i < 2; i++) {
		struct host *h = start();
		struct rte_mbuf *m[2] = {frame(h, segment, piece[i]), frame(h, segment, piece[i])};

		expect_taken_with_memory(h, m);
		host_free(h);
	}
}

/* A datagram is not begun; and an older version's report is sent when it is due again. */
static void datagrams_and_older_reports_need_packets(void **state)
{
	const struct udp_datagram d = {.from = {.addr = host_addr("10.0.0.1"), .port = 7},
		.to = {.addr = host_addr("10.0.0.2"), .port = 9},
		.len = 1};
	struct host *h = start();
	struct ip_addr group = host_addr("239.1.2.3");
	struct rte_mbuf *m = frame(h,
		ETH "46 00 00 00 12 34 00 00 01 02 00 00 0a 00 00 02 0a 00 00 01"
		    "94 04 00 00 11 64 00 00 00 00 00 00",
		0);
	struct udp_out o;
	uint8_t *room;

	assert_int_equal(ip_input(h->ip, &m, 1, h->now), 1);
	host_forget(h);
	empty_pool(h);
	assert_int_equal(udp_begin(h->ip, &o, &d, &room, h->now), -ENOMEM);
	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	host_expect_nothing(h);
	refill_pool();
	assert_int_equal(udp_begin(h->ip, &o, &d, &room, h->now), 0);
	udp_cancel(&o);
	host_run(h, 10 * SECOND);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(*rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 38), 0x16);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_is_not_made),
		cmocka_unit_test(answers_need_packets),
		cmocka_unit_test(reports_need_packets),
		cmocka_unit_test(answer_to_a_shared_packet_needs_one),
		cmocka_unit_test(request_needs_a_packet),
		cmocka_unit_test(packets_without_headroom_are_of_no_use),
		cmocka_unit_test(long_packets_need_memory),
		cmocka_unit_test(first_octet_needs_memory),
		cmocka_unit_test(frames_need_memory),
		cmocka_unit_test(datagrams_and_older_reports_need_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
