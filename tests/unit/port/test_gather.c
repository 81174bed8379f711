/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames with parts in the program's memory, and what of them is left with a port. */
#include "dpdk-port/external.h"
#include "dpdk-port/port_private.h"
#include "support/faults.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <rte_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD 60u /* Ethernet, IPv4 and TCP, and six bytes of text */
#define PART 1000u
#define ZERO 4u

static struct rte_mbuf_ext_shared_info shared;
static uint8_t bytes[PART], zeros[ZERO];

static void never(void *addr, void *opaque)
{
	fail();
}

static struct port *open_port(const char *device)
{
	struct port_config cfg = {.device = device, .memory_mib = 40, .gather = true};
	struct port_error e = {""};
	struct port *p = NULL;

	if (port_open(&cfg, &p, &e))
		fail_msg("%s", e.text);
	shared = (struct rte_mbuf_ext_shared_info){.free_cb = never};
	rte_mbuf_ext_refcnt_set(&shared, 1);
	for (unsigned i = 0; i < PART; i++)
		bytes[i] = (uint8_t)(i * 7);
	return p;
}

static struct rte_mbuf *part(struct port *p, void *from, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));

	assert_non_null(m);
	rte_pktmbuf_attach_extbuf(m, from, (rte_iova_t)(uintptr_t)from, len, &shared);
	rte_mbuf_ext_refcnt_update(&shared, 1);
	m->data_len = len;
	m->pkt_len = len;
	return m;
}

/** As TCP makes them, with @p from in the middle. The port is to make the checksums. */
static struct rte_mbuf *chain(struct port *p, void *from)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));
	uint8_t *h;

	assert_non_null(m);
	m->data_len = HEAD;
	m->pkt_len = HEAD;
	h = rte_pktmbuf_mtod(m, uint8_t *);
	memset(h, 0, HEAD);
	memset(h, 0xff, 6);
	h[12] = 8; /* IPv4 */
	h[14] = 0x45;
	h[16] = (HEAD - 14 + PART + ZERO) >> 8;
	h[17] = (HEAD - 14 + PART + ZERO) & 255;
	h[23] = IPPROTO_TCP;
	h[46] = 5 << 4;
	m->l2_len = 14;
	m->l3_len = 20;
	m->l4_len = 20;
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;
	assert_int_equal(rte_pktmbuf_chain(m, part(p, from, PART)), 0);
	assert_int_equal(rte_pktmbuf_chain(m, part(p, zeros, ZERO)), 0);
	return m;
}

static unsigned references(void)
{
	return rte_mbuf_ext_refcnt_read(&shared) - 1u;
}

/* ---- what waits ---------------------------------------------------------------------------- */

static struct rte_mbuf *plain(struct port *p, uint32_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p));

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, 64), &number, sizeof number);
	return m;
}

static bool is_chain(const struct rte_mbuf *m, const void *arg)
{
	return m->nb_segs > 1 && m->next->shinfo == arg;
}

/** Others keep their places, also where the queue's end is before its begin. */
static void chains_in_the_queue_are_dropped(void **state)
{
	struct port *p = open_port("net_ring8");
	uint32_t sent = 0, number = 0, expected = 0;
	struct rte_mbuf *got[32];
	unsigned n;

	p->head = p->tail = UINT32_MAX - 20;
	while (!port_backlog(p)) {
		port_tx(p, plain(p, sent++));
		port_flush(p);
	}
	for (unsigned i = 0; i < 40; i++) {
		port_tx(p, chain(p, bytes));
		port_tx(p, plain(p, sent++));
	}
	assert_true(port_settle(p) == false); /* its driver does not tell */
	assert_int_equal(references(), 80);
	port_drop_some(p, is_chain, &shared);
	assert_int_equal(references(), 0);
	assert_int_equal(port_get_stats(p)->tx_dropped, 40);
	assert_int_equal(p->tail - p->head, 41);
	while ((n = port_rx(p, got, 32)) > 0) {
		for (unsigned i = 0; i < n; i++) {
			memcpy(&number, rte_pktmbuf_mtod(got[i], void *), sizeof number);
			assert_int_equal(number, expected++);
			rte_pktmbuf_free(got[i]);
		}
		port_flush(p);
	}
	assert_int_equal(expected, sent);
	assert_int_equal(rte_mempool_in_use_count(port_pool(p)), 0);
	port_close(p);
}

static void nothing_is_waited_for_without_a_link(void **state)
{
	struct port *p = open_port("net_ring7");

	port_tx(p, chain(p, bytes));
	p->link_up = p->started = false;
	assert_false(port_settle(p));
	assert_int_equal(references(), 2);
	port_drop_some(p, is_chain, &shared);
	assert_int_equal(references(), 0);
	assert_false(port_has_queued(p));
	p->started = true;
	port_close(p);
}

/** What is read by nobody knows whom, and when, is not given to another. */
static void buffers_that_are_not_given_back_stay(void **state)
{
	struct port *p = open_port("net_null8");
	struct rte_mempool *pool = port_pool(p);
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mbuf *kept = chain(p, bytes);

	snprintf(name, sizeof name, "%s", pool->name);
	port_close(p);
	assert_ptr_equal(rte_mempool_lookup(name), pool);
	p = open_port("net_null8");
	assert_ptr_not_equal(port_pool(p), pool);
	snprintf(name, sizeof name, "%s", port_pool(p)->name);
	port_close(p);
	assert_null(rte_mempool_lookup(name));
	rte_mbuf_ext_refcnt_update(&shared, 2); /* opened anew */
	rte_pktmbuf_free(kept);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	rte_mempool_free(pool);
}

/* ---- a TAP --------------------------------------------------------------------------------- */

static struct port *open_tap(char *name, size_t len)
{
	char device[48];

	if (geteuid() != 0 || access("/dev/net/tun", R_OK | W_OK) != 0)
		skip();
	snprintf(name, len, "uiwg%d", (int)getpid());
	snprintf(device, sizeof device, "net_tap8,iface=%s", name);
	return open_port(device);
}

/** A socket that receives IPv4 on @p interface. */
static int listen_on(const char *interface)
{
	struct sockaddr_ll a = {.sll_family = AF_PACKET,
		.sll_protocol = htons(0x0800),
		.sll_ifindex = (int)if_nametoindex(interface)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

/** Its driver gives back all. */
static void close_whole(struct port *p)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof name, "%s", port_pool(p)->name);
	port_close(p);
	assert_null(rte_mempool_lookup(name));
}

static void a_tap_gets_copies(void **state)
{
	uint8_t frame[2000];
	char name[16];
	struct port *p = open_tap(name, sizeof name);
	unsigned used = rte_mempool_in_use_count(port_pool(p)); /* to receive */
	int fd = listen_on(name);

	assert_true(port_get_caps(p)->external);
	port_tx(p, chain(p, bytes));
	assert_int_equal(references(), 0);
	port_flush(p);
	assert_int_equal(port_get_stats(p)->tx_packets, 1);
	do /* its neighbour, the host, may send as well */
		assert_true(recv(fd, frame, sizeof frame, 0) > 0);
	while (frame[0] != 0xff || frame[23] != IPPROTO_TCP);
	assert_memory_equal(frame + HEAD, bytes, PART);
	assert_memory_equal(frame + HEAD + PART, zeros, ZERO);
	assert_true(frame[50] || frame[51]); /* the checksum */
	close(fd);
	assert_int_equal(rte_mempool_in_use_count(port_pool(p)), used);
	close_whole(p);
}

/** The program has unmapped it, and deregistered nothing: the frame is lost, not the process. */
static void memory_that_is_gone_ends_no_process(void **state)
{
#ifdef GUARDED_PLAIN
	skip();
#else
	char name[16];
	struct port *p = open_tap(name, sizeof name);
	unsigned used = rte_mempool_in_use_count(port_pool(p));
	uint8_t *end = faults_prepare();

	port_tx(p, chain(p, end - PART / 2));
	assert_int_equal(faults, 1);
	assert_int_equal(references(), 0);
	assert_int_equal(port_get_stats(p)->tx_dropped, 1);
	assert_false(port_has_queued(p));
	assert_int_equal(rte_mempool_in_use_count(port_pool(p)), used);
	close_whole(p);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_in_the_queue_are_dropped),
		cmocka_unit_test(nothing_is_waited_for_without_a_link),
		cmocka_unit_test(buffers_that_are_not_given_back_stay),
		cmocka_unit_test(a_tap_gets_copies),
		cmocka_unit_test(memory_that_is_gone_ends_no_process),
	};

	return cmocka_run_group_tests_name("port-gather", tests, NULL, NULL);
}
