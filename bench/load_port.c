/* SPDX-License-Identifier: BSD-2-Clause */
/* A DPDK port alone, as the stack drives it: a message is a frame, or as many as the stack makes of
 * it. What its times have is the machine's, not ours. */
#include "load.h"

#include "dpdk-port/lcore.h"
#include "dpdk-port/port.h"
#include "link.h"

#include <err.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>

#define PORT_BURST 32

/** A frame: a header of Ethernet, whether it is a message's last one, the stamp, the rest. */
#define PORT_LAST   14
#define PORT_STAMP  15
#define PORT_HEADER 23
/** What a full FPDU of the stack carries at an MTU of 1500. */
#define PORT_PAYLOAD 1424

struct port_end {
	struct port *port;
	unsigned lcore, had;
	size_t size;
	uint8_t message[LOAD_SIZE];
	bool sender, answered;
};

static void *port_end_open(const struct load_options *o)
{
	struct port_config cfg = {.device = o->address ? o->address : o->port};
	struct port_end *p = calloc(1, sizeof *p);
	struct port_error e = {""};

	if (!p)
		err(1, "memory");
	p->size = o->size;
	p->sender = o->address != NULL;
	if (port_open(&cfg, &p->port, &e))
		errx(1, "%s", e.text);
	p->lcore = lcore_reserve();
	p->had = lcore_enter(p->lcore);
	if (!link_wait(p->port))
		errx(1, "the link does not come up");
	return p;
}

/** @return false: there was no buffer. */
static bool port_end_frame(struct port_end *p, uint64_t stamp, size_t len, bool last)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(port_pool(p->port));
	uint8_t *b;

	if (!m)
		return false;
	b = rte_pktmbuf_mtod(m, uint8_t *);
	m->data_len = (uint16_t)(PORT_HEADER + len);
	m->pkt_len = m->data_len;
	/* Broadcast, of a protocol for local experiments (RFC 9542 section 3.2). */
	memset(b, 0xff, 6);
	memcpy(b + 6, port_get_caps(p->port)->mac, 6);
	b[12] = 0x88;
	b[13] = 0xb5;
	b[PORT_LAST] = last;
	memcpy(b + PORT_STAMP, &stamp, sizeof stamp);
	memcpy(b + PORT_HEADER, p->message, len);
	port_tx(p->port, m);
	return true;
}

/** The frames leave with the next poll, or when a burst is full: who is late sends many at a time.
 */
static bool port_end_send(void *transport, unsigned connection, uint64_t stamp)
{
	struct port_end *p = transport;

	if (port_backlog(p->port))
		port_flush(p->port);
	if (port_backlog(p->port))
		return false;
	for (size_t left = p->size, part; left; left -= part) {
		part = left < PORT_PAYLOAD ? left : PORT_PAYLOAD;
		if (!port_end_frame(p, stamp, part, part == left))
			errx(1, "no buffers");
	}
	return true;
}

static void port_end_poll(void *transport, load_arrived_fn *arrived, void *ctx)
{
	struct port_end *p = transport;
	struct rte_mbuf *m[PORT_BURST];
	unsigned n = port_rx(p->port, m, PORT_BURST);
	uint64_t stamp;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t *b = rte_pktmbuf_mtod(m[i], const uint8_t *);

		p->answered = true;
		memcpy(&stamp, b + PORT_STAMP, sizeof stamp);
		if (b[PORT_LAST])
			arrived(ctx, stamp);
	}
	if (n)
		rte_pktmbuf_free_bulk(m, n);
	if (port_has_queued(p->port))
		port_flush(p->port);
}

static void port_end_nothing(void *ctx, uint64_t stamp)
{
}

/** What is in a ring goes with its sender. So the receiver says that it has all, and the sender
 * ends first. */
static void port_end_close(void *transport)
{
	struct port_end *p = transport;

	if (!p->sender)
		port_end_send(p, 0, 0);
	while (port_watch(p->port) && !(p->sender && p->answered))
		port_end_poll(p, port_end_nothing, NULL);
	lcore_leave(p->had);
	lcore_release(p->lcore);
	port_close(p->port);
	free(p);
}

const struct load_transport load_port = {
	"port", port_end_open, port_end_send, port_end_poll, port_end_close};
