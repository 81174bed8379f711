/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/port_private.h"

#include "dpdk-port/capture.h"
#include "dpdk-port/carrier.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/external.h"
#include "dpdk-port/intr_gate.h"
#include "dpdk-port/vlan.h"

#include "base/sysfs.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <rte_dev.h>
#include <sys/socket.h>
#include <unistd.h>

/** Watches (of 100 ms) that a memif client gets to connect before it is started anew. */
#define PORT_PATIENCE 20

/** How often what a server says comes before such a start, which is put off by as much. */
#define PORT_RESTART_WAY 5

/** Watches after which Linux has told what a carrier is that has changed (carrier.h). */
#define PORT_DOUBT 11

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

/** A memif's connection that was not looked at yet (memif_link_watch()) has no bursts. */
static bool port_driver_bursts(const struct port *p)
{
	return !p->is_memif || p->memif.by_driver;
}

static unsigned port_burst(struct port *p, struct rte_mbuf **pkts, unsigned n)
{
	if (memif_link_is_open(&p->memif))
		return memif_rx_burst(&p->memif.rx, pkts, n);
	return port_driver_bursts(p) ? rte_eth_rx_burst(p->id, 0, pkts, (uint16_t)n) : 0;
}

static unsigned port_receive(struct port *p, struct rte_mbuf **pkts, unsigned n)
{
	unsigned got = port_burst(p, pkts, n);

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

void port_drop_some(
	struct port *p, bool (*is_of)(const struct rte_mbuf *m, const void *arg), const void *arg)
{
	unsigned kept = p->head;

	for (unsigned i = p->head; i != p->tail; i++) {
		struct rte_mbuf *m = p->queue[i & (PORT_QUEUE - 1)];

		if (is_of(m, arg)) {
			rte_pktmbuf_free(m);
			p->stats.tx_dropped++;
		} else {
			p->queue[kept++ & (PORT_QUEUE - 1)] = m;
		}
	}
	p->tail = kept;
	p->backlog = RTE_MIN(p->backlog, p->tail - p->head);
}

static unsigned port_send(struct port *p, struct rte_mbuf **pkts, unsigned n)
{
	if (memif_link_is_open(&p->memif))
		return memif_tx_burst(&p->memif.tx, pkts, n);
	return port_driver_bursts(p) ? rte_eth_tx_burst(p->id, 0, pkts, (uint16_t)n) : 0;
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

uint32_t port_queue_end(const struct port *p)
{
	return p->tail;
}

bool port_is_past(const struct port *p, uint32_t end)
{
	/* An end of long ago is not between the two, however often they have wrapped. */
	return end == p->head || end - p->head > p->tail - p->head;
}

/** A copy of @p m in its place, in one piece. @return NULL: it is lost. */
static struct rte_mbuf *port_copy_parts(struct port *p, struct rte_mbuf *m)
{
	struct rte_mbuf *copy = external_copy(p->pool, m);

	rte_pktmbuf_free(m);
	if (!copy)
		p->stats.tx_dropped++;
	return copy;
}

void port_tx(struct port *p, struct rte_mbuf *m)
{
	if (unlikely(m->nb_segs > p->most_segs)) {
		m = port_copy_parts(p, m);
		if (!m)
			return;
	}
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

/** A TAP's interface may be deleted under it, too, of which its driver does not tell. */
static void port_look_for_tap(struct port *p)
{
	char name[IF_NAMESIZE];

	if (p->rx_fd >= 0 ? p->is_tap && rxfd_tap_is_gone(p->rx_fd)
			  : p->tap && !if_indextoname(p->tap, name) && errno == ENXIO)
		atomic_store_explicit(&p->gone, true, memory_order_relaxed);
}

bool port_is_gone(const struct port *p)
{
	return atomic_load_explicit(&p->gone, memory_order_relaxed);
}

/** A packet socket polls readable after its interface went down, until it has told so. @return it
 * has told so. */
static bool port_take_error(const struct port *p)
{
	int error = 0;
	socklen_t len = sizeof error;

	return p->if_index && getsockopt(p->rx_fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 &&
	       error == ENETDOWN;
}

/** How often has the carrier gone since the last watch? It goes on counting while Linux has not yet
 * told that it is back. Of an interface that is gone there is no count. */
static uint64_t port_count_downs(struct port *p)
{
	uint64_t before = p->carrier_downs;

	p->carrier_downs = sysfs_number_of(p->carrier_fd);
	return p->carrier_downs > before ? p->carrier_downs - before : 0;
}

void port_let_go(const struct port *p)
{
	holding_close(&p->holding);
}

/** What is told of the link: a change is told of, however short it was. */
static bool port_link_is_up(const struct port *p)
{
	return p->link_up && !p->doubtful;
}

bool port_carries(const struct port *p)
{
	return p->link_up;
}

bool port_link(struct port *p, uint32_t *speed)
{
	struct rte_eth_link l = {0};
	bool was_up = p->link_up;

	if (rte_eth_link_get_nowait(p->id, &l))
		l.link_status = p->link_up;
	port_look_for_tap(p);
	/* What the driver says of one that is gone may be of before. */
	if ((p->if_index && !port_has_carrier(p)) || port_is_gone(p))
		l.link_status = RTE_ETH_LINK_DOWN;
	p->link_up = p->started && l.link_status == RTE_ETH_LINK_UP;
	if (!p->link_up)
		p->doubtful = 0;
	/* A memif has a connection now. */
	if (p->link_up && !was_up)
		holding_keep_private(&p->holding);
	if (speed)
		*speed = l.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : l.link_speed;
	return port_link_is_up(p);
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

	/* The server says something at last: that is heard first. */
	if (port_gives_way(p, &p->gave_way, PORT_RESTART_WAY))
		return;
	p->gave_way = 0;
	if (p->started)
		rte_eth_dev_stop(p->id);
	p->started = rte_eth_dev_start(p->id) == 0;
}

/** A memif's interrupt is there as long as its connection, each of which has one of its own. */
static void port_watch_memif(struct port *p)
{
	struct memif_link *l = &p->memif;

	memif_link_watch(l, p->id, p->link_up, p->copies, p->log);
	if (!p->link_up)
		p->memif_silent = false;
	p->rx_event = memif_link_is_open(l) && !p->memif_silent;
	p->rx_fd = p->rx_event ? l->rx.end.fd : -1;
}

/**
 * What it is connected to may be another after its link was down, however short. What is seen of
 * one end in two ways counts once: the error may come a look behind the carrier's count, and the
 * link go down until it is no longer doubtful. Others look at the link, too: what they have seen is
 * not counted yet.
 */
static void port_watch_interface(struct port *p)
{
	uint64_t downs = port_count_downs(p);
	bool error = port_take_error(p), was_up = p->watched_up;
	bool counted = p->counted == PORT_DOUBT;

	if (p->doubtful)
		p->doubtful--;
	if (p->counted)
		p->counted--;
	counted |= p->counted && !error;
	if ((downs || error) && was_up)
		p->doubtful = PORT_DOUBT;
	port_link(p, NULL);
	p->watched_up = p->link_up;
	if (downs || error)
		p->counted = PORT_DOUBT;
	else if (!p->link_up)
		p->counted = 0;
	if (!downs && was_up && (error || !p->link_up) && !counted)
		downs = 1;
	p->link_downs += p->is_memif ? 0 : downs;
}

uint64_t port_link_downs(const struct port *p)
{
	return p->link_downs;
}

bool port_watch(struct port *p)
{
	intr_gate_pass(p->intr_gate);
	port_watch_interface(p);
	if (p->is_memif)
		port_watch_memif(p);
	/* It would poll in error without end. */
	if (p->is_tap && port_is_gone(p))
		p->rx_fd = -1;
	if (p->memif.by_driver)
		intr_gate_shut(p->intr_gate);
	else
		intr_gate_open(p->intr_gate);
	if (p->link_up) {
		p->downs = p->gave_way = 0;
		return port_link_is_up(p);
	}
	p->downs++;
	if (p->connects && port_is_overdue(p)) {
		eal_log_quiet(true);
		if (eal_try_in_turn(port_restart, p))
			p->downs = 0;
		eal_log_quiet(false);
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
	return s.imissed + s.rx_nombuf + p->kernel_missed + p->memif.rx.dropped;
}

int port_rx_fd(const struct port *p)
{
	return p->rx_fd;
}

void port_rx_arm(struct port *p)
{
	if (p->rx_event && p->is_memif)
		memif_rx_arm(&p->memif.rx);
	else if (p->rx_event)
		rte_eth_dev_rx_intr_enable(p->id, 0);
}

void port_rx_woken(struct port *p)
{
	uint64_t events;

	if (!p->rx_event)
		return;
	if (p->is_memif) {
		memif_rx_mask(&p->memif.rx);
		return;
	}
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
	p->memif_silent = p->is_memif;
	p->rx_event = false;
	p->rx_fd = -1;
	p->caps.rx_interrupt = false;
}
