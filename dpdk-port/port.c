/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/port_private.h"

#include "dpdk-port/capture.h"
#include "dpdk-port/carrier.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/intr_gate.h"
#include "dpdk-port/vlan.h"

#include <linux/if_packet.h>
#include <rte_dev.h>
#include <sys/socket.h>
#include <unistd.h>

/** Watches (of 100 ms) that a memif client gets to connect before it is started anew. */
#define PORT_PATIENCE 20

const struct port_caps *port_get_caps(const struct port *p)
{
	return &p->caps;
}

struct rte_mempool *port_pool(struct port *p)
{
	return p->pool;
}

const struct port_stats *port_get_stats(const struct port *p)
{
	return &p->stats;
}

void port_set_capture(struct port *p, struct capture *c)
{
	p->capture = c;
}

void port_set_now(struct port *p, uint64_t now)
{
	p->now = now;
}

/** Bursts of nothing but frames of other VLANs that are looked at before others get their turn. */
#define PORT_BURSTS_OF_OTHERS 8

static unsigned port_receive(struct port *p, struct rte_mbuf **pkts, unsigned n)
{
	unsigned got = rte_eth_rx_burst(p->id, 0, pkts, (uint16_t)n);

	if (unlikely(p->capture))
		for (unsigned i = 0; i < got; i++) {
			vlan_restore(pkts[i]);
			capture_packet(p->capture, pkts[i], CAPTURE_IN, p->now);
		}
	p->stats.rx_packets += got;
	return got;
}

/** Keep the frames of our VLAN, without their tags. */
static unsigned port_sort(struct port *p, struct rte_mbuf **pkts, unsigned got)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < got; i++) {
		if (vlan_pop(pkts[i], p->vlan)) {
			pkts[kept++] = pkts[i];
			continue;
		}
		rte_pktmbuf_free(pkts[i]);
		p->stats.rx_other_vlan++;
	}
	return kept;
}

unsigned port_rx(struct port *p, struct rte_mbuf **pkts, unsigned n)
{
	unsigned got, kept, bursts = 0;

	if (unlikely(p->rx_signal.handler))
		p->rx_signal.handler(p->rx_signal.number);
	if (unlikely(!p->started))
		return 0;
	got = port_receive(p, pkts, n);
	if (likely(!p->sorts))
		return got;
	/* None at all means that the port has none: the caller may go to sleep. */
	while ((kept = port_sort(p, pkts, got)) == 0 && got && ++bursts < PORT_BURSTS_OF_OTHERS)
		got = port_receive(p, pkts, n);
	return kept;
}

void port_drop(struct port *p)
{
	rte_pktmbuf_free(tso_take(&p->tso));
	p->stats.tx_dropped += p->tail - p->head;
	while (p->head != p->tail)
		rte_pktmbuf_free(p->queue[p->head++ & (PORT_QUEUE - 1)]);
}

static unsigned port_send(struct port *p, struct rte_mbuf **pkts, unsigned n)
{
	unsigned sent = p->memif_tx.map.ring ? memif_tx_burst(&p->memif_tx, pkts, n) : 0;

	return sent ? sent : rte_eth_tx_burst(p->id, 0, pkts, (uint16_t)n);
}

/** Hand to the driver what it takes; the rest stays. */
static void port_queue_send(struct port *p)
{
	while (p->head != p->tail && likely(p->started)) {
		unsigned at = p->head & (PORT_QUEUE - 1);
		unsigned n = RTE_MIN(p->tail - p->head, PORT_QUEUE - at);
		unsigned sent;

		sent = port_send(p, p->queue + at, RTE_MIN(n, PORT_BURST));
		p->head += sent;
		p->stats.tx_packets += sent;
		if (!sent)
			break;
	}
}

static void port_enqueue(struct port *p, struct rte_mbuf *m)
{
	if (unlikely(p->tail - p->head == PORT_QUEUE)) {
		port_queue_send(p);
		if (p->tail - p->head == PORT_QUEUE) {
			rte_pktmbuf_free(m);
			p->stats.tx_dropped++;
			return;
		}
	}
	p->queue[p->tail++ & (PORT_QUEUE - 1)] = m;
	/* With a backlog the port is full: try again once a round, not once a frame. */
	if (p->tail - p->head >= PORT_BURST && !p->backlog) {
		port_queue_send(p);
		p->backlog = p->tail - p->head;
	}
}

/** A chain that the driver refuses is lost; TCP sends its segments again, each by itself. */
static void port_enqueue_gathered(struct port *p)
{
	struct rte_mbuf *m = tso_take(&p->tso);

	if (!m)
		return;
	if (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) {
		if (rte_eth_tx_prepare(p->id, 0, &m, 1) != 1) {
			log_printf(p->log, LOG_LEVEL_WARNING,
				"port: its driver takes no TCP segmentation: off");
			p->caps.tx_tso = p->gathers = false;
			rte_pktmbuf_free(m);
			p->stats.tx_dropped++;
			return;
		}
		p->stats.tx_tso++;
	}
	port_enqueue(p, m);
}

static void port_gather(struct port *p, struct rte_mbuf *m)
{
	if (tso_gather(&p->tso, m))
		return;
	port_enqueue_gathered(p);
	if (!p->gathers || !tso_gather(&p->tso, m))
		port_enqueue(p, m);
}

void port_flush(struct port *p)
{
	if (unlikely(p->gathers))
		port_enqueue_gathered(p);
	if (p->head == p->tail)
		return;
	port_queue_send(p);
	/* Nobody will ever take these: do not keep them until the link comes back. */
	if (unlikely(p->head != p->tail) && !p->link_up)
		port_drop(p);
	p->backlog = p->tail - p->head;
}

bool port_has_queued(const struct port *p)
{
	return p->head != p->tail || (unlikely(p->gathers) && p->tso.head);
}

unsigned port_backlog(const struct port *p)
{
	return p->backlog;
}

void port_tx(struct port *p, struct rte_mbuf *m)
{
	if (unlikely(p->vlan) && !vlan_push(m, p->vlan)) {
		rte_pktmbuf_free(m);
		p->stats.tx_dropped++;
		return;
	}
	if (unlikely(p->capture))
		capture_packet(p->capture, m, CAPTURE_OUT, p->now);
	if (unlikely(p->gathers))
		port_gather(p, m);
	else
		port_enqueue(p, m);
}

static bool port_has_carrier(struct port *p)
{
	enum carrier c = carrier_get(p->rx_fd, p->if_index);

	if (c == CARRIER_GONE)
		atomic_store_explicit(&p->gone, true, memory_order_relaxed);
	return c == CARRIER_UP || c == CARRIER_UNKNOWN;
}

bool port_is_gone(const struct port *p)
{
	return atomic_load_explicit(&p->gone, memory_order_relaxed);
}

/** A packet socket polls readable after its interface went down, until it has told so. */
static void port_take_error(const struct port *p)
{
	int error;
	socklen_t len = sizeof error;

	if (p->if_index)
		getsockopt(p->rx_fd, SOL_SOCKET, SO_ERROR, &error, &len);
}

void port_let_go(const struct port *p)
{
	holding_close(&p->holding);
}

bool port_link(struct port *p, uint32_t *speed)
{
	struct rte_eth_link l = {0};
	bool was_up = p->link_up;

	if (rte_eth_link_get_nowait(p->id, &l))
		l.link_status = p->link_up;
	if (p->if_index && !port_has_carrier(p))
		l.link_status = RTE_ETH_LINK_DOWN;
	p->link_up = p->started && l.link_status == RTE_ETH_LINK_UP;
	/* A memif has a connection now. */
	if (p->link_up && !was_up)
		holding_keep_private(&p->holding);
	if (speed)
		*speed = l.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : l.link_speed;
	return p->link_up;
}

/** A client is started anew when it was refused or its server went. Not too soon: to stop it in the
 * middle of the handshake would only begin it again. */
static bool port_is_overdue(const struct port *p)
{
	return !p->started || p->downs >= PORT_PATIENCE;
}

static void port_restart(void *port)
{
	struct port *p = port;

	if (p->started)
		rte_eth_dev_stop(p->id);
	p->started = rte_eth_dev_start(p->id) == 0;
}

/** From now on there is no descriptor to sleep on. */
static void port_rx_forget(struct port *p)
{
	memif_interrupt_close(&p->memif_interrupt);
	p->rx_event = false;
	p->rx_fd = -1;
}

/** A memif's interrupt is there as long as its connection. */
static void port_watch_interrupt(struct port *p)
{
	struct memif_interrupt *i = &p->memif_interrupt;

	if (!p->intr_gate)
		return;
	if (!p->link_up)
		p->memif_silent = false;
	if (memif_interrupt_is_open(i) && !(p->link_up && memif_interrupt_is_current(i, p->id)))
		port_rx_forget(p);
	if (p->link_up && p->rx_fd < 0 && !p->memif_silent &&
		memif_interrupt_open(i, p->id, p->pool) == 0) {
		p->rx_fd = i->fd;
		p->rx_event = true;
	}
}

/** So is its ring. */
static void port_watch_ring(struct port *p)
{
	struct memif_tx *t = &p->memif_tx;

	if (!p->is_memif)
		return;
	if (t->map.ring && !(p->link_up && memif_tx_is_current(t, p->id))) {
		memif_tx_close(t);
		p->memif_tx_asked = false;
	}
	if (p->link_up && !t->map.ring && !p->memif_tx_asked)
		(void)memif_tx_open(t, p->id);
	p->memif_tx_asked = p->link_up;
}

bool port_watch(struct port *p)
{
	intr_gate_pass(p->intr_gate);
	port_take_error(p);
	port_link(p, NULL);
	port_watch_interrupt(p);
	port_watch_ring(p);
	if (p->link_up) {
		p->downs = 0;
		intr_gate_shut(p->intr_gate);
		return true;
	}
	intr_gate_open(p->intr_gate);
	p->downs++;
	if (p->connects && port_is_overdue(p)) {
		eal_log_quiet(true);
		eal_call_in_turn(port_restart, p);
		eal_log_quiet(false);
		p->downs = 0;
	}
	return false;
}

uint64_t port_rx_missed(struct port *p)
{
	struct rte_eth_stats s = {0};
	struct tpacket_stats kernel = {0};
	socklen_t len = sizeof kernel;

	if (rte_eth_stats_get(p->id, &s))
		return p->kernel_missed;
	if (!p->rx_event && p->rx_fd >= 0 &&
		getsockopt(p->rx_fd, SOL_PACKET, PACKET_STATISTICS, &kernel, &len) == 0)
		p->kernel_missed += kernel.tp_drops;
	return s.imissed + s.rx_nombuf + p->kernel_missed;
}

int port_rx_fd(const struct port *p)
{
	return p->rx_fd;
}

void port_rx_arm(struct port *p)
{
	if (memif_interrupt_is_open(&p->memif_interrupt))
		memif_interrupt_arm(&p->memif_interrupt);
	else if (p->rx_event)
		rte_eth_dev_rx_intr_enable(p->id, 0);
}

void port_rx_woken(struct port *p)
{
	uint64_t events;

	if (memif_interrupt_is_open(&p->memif_interrupt)) {
		memif_interrupt_mask(&p->memif_interrupt);
		return;
	}
	if (!p->rx_event)
		return;
	rte_eth_dev_rx_intr_disable(p->id, 0);
	/* An eventfd stays readable until it is read; it was set non-blocking at open. */
	if (read(p->rx_fd, &events, sizeof events) < 0)
		return;
}

bool port_rx_is_interrupt(const struct port *p)
{
	return p->rx_event;
}

void port_rx_disbelieve(struct port *p, unsigned look_ms)
{
	log_printf(p->log, LOG_LEVEL_WARNING,
		"port %s: %s offers a receive interrupt that does not come; packets are looked for "
		"every %u ms from now on%s",
		p->device ? rte_dev_name(p->device) : "", p->caps.driver, look_ms,
		p->legacy_helps ? ", unless \"eal = --vfio-intr=legacy\" makes it come" : "");
	port_rx_woken(p);
	p->memif_silent = memif_interrupt_is_open(&p->memif_interrupt);
	port_rx_forget(p);
	p->caps.rx_interrupt = false;
}
