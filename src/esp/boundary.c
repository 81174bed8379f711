/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/boundary.h"

#include "base/bytes.h"
#include "base/secret_file.h"
#include "esp/packet.h"
#include "ip/eth_wire.h"
#include "ip/ip.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/udp.h"
#include "ip/udp_wire.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_LEN 1024
#define WHY_LEN  512
#define TOLD_LEN 128

/** Between two looks at the file because of packets: strangers can send those, too. */
#define LOOK_GAP_NS UINT64_C(1000000)
/** And before a file that was refused is read again as it is. */
#define RETRY_GAP_NS UINT64_C(1000000000)

struct esp_boundary {
	struct ip_ipsec ops;
	struct rte_mempool *pool;
	const struct log_sink *log;
	struct ip_stack *ip;
	char path[PATH_LEN];
	struct secret_file_stamp stamp; /**< of the file, when it was last tried */
	char refused[WHY_LEN];          /**< why it was, the last time; it is told once */
	char warned_of_clear[TOLD_LEN]; /**< what was told of what is in force, likewise */
	char warned_of_key[TOLD_LEN];
	uint64_t next_look; /**< the earliest, because of a packet */
	bool try_again;     /**< it was refused, for a reason that may pass */
	uint64_t next_try;  /**< the earliest, of the file as it is */
	struct esp_stats stats;
	struct esp_database db;
};

/* ---- buffers ------------------------------------------------------------------------------- */

static bool esp_mbuf_may_be_written(const struct rte_mbuf *m)
{
	return rte_pktmbuf_is_contiguous(m) && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
}

/**
 * @p m, or a copy of it, to be written to. Owns @p m.
 * @param tailroom that it needs.
 * @param dropped is counted if there is none.
 */
static struct rte_mbuf *esp_mbuf_own(
	struct esp_boundary *b, struct rte_mbuf *m, uint16_t tailroom, uint64_t *dropped)
{
	struct rte_mbuf *copy;
	uint8_t *to = NULL;

	if (esp_mbuf_may_be_written(m) && rte_pktmbuf_tailroom(m) >= tailroom &&
		rte_pktmbuf_headroom(m) >= ESP_HEADROOM + ETH_LEN)
		return m;
	copy = rte_pktmbuf_alloc(b->pool);
	if (copy && m->pkt_len <= (uint32_t)UINT16_MAX - tailroom &&
		rte_pktmbuf_tailroom(copy) >= m->pkt_len + tailroom)
		to = (uint8_t *)rte_pktmbuf_append(copy, (uint16_t)m->pkt_len);
	if (!to) {
		++*dropped;
		rte_pktmbuf_free(copy);
		rte_pktmbuf_free(m);
		return NULL;
	}
	for (const struct rte_mbuf *seg = m; seg; to += seg->data_len, seg = seg->next)
		memcpy(to, rte_pktmbuf_mtod(seg, const void *), seg->data_len);
	rte_pktmbuf_free(m);
	return copy;
}

/** Field by field, as each is soon read: a copy of the whole would wait for all stores before. */
static void esp_mbuf_buffer(struct rte_mbuf *m, struct esp_buffer *buffer)
{
	size_t headroom = rte_pktmbuf_headroom(m);

	buffer->data = rte_pktmbuf_mtod(m, uint8_t *);
	buffer->len = m->data_len;
	buffer->headroom = headroom > ETH_LEN ? headroom - ETH_LEN : 0;
	buffer->tailroom = rte_pktmbuf_tailroom(m);
	buffer->from = NULL;
}

/** TCP keeps what it sends: it can be encrypted from there to elsewhere, and is not copied first.
 */
static bool esp_mbuf_may_be_read(const struct rte_mbuf *m, const struct esp_sa *sa)
{
	return rte_pktmbuf_is_contiguous(m) && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) > 1 &&
	       rte_pktmbuf_tailroom(m) >= esp_sa_trailer_room(sa);
}

/** @return where what is in @p m will be, once it was encrypted; NULL: there is no memory. */
static struct rte_mbuf *esp_mbuf_beside(
	struct esp_boundary *b, const struct rte_mbuf *m, struct esp_buffer *buffer)
{
	struct rte_mbuf *out = rte_pktmbuf_alloc(b->pool);

	if (!out || rte_pktmbuf_tailroom(out) < m->data_len) {
		b->stats.tx_no_memory++;
		rte_pktmbuf_free(out);
		return NULL;
	}
	out->data_len = m->data_len;
	esp_mbuf_buffer(out, buffer);
	buffer->from = rte_pktmbuf_mtod(m, uint8_t *);
	return out;
}

/** @p m is what became of @p buffer. What ports said of it, and are asked for, is of before. */
static void esp_mbuf_finish(struct rte_mbuf *m, const struct esp_buffer *buffer)
{
	m->data_off = (uint16_t)(buffer->data - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)buffer->len;
	m->pkt_len = (uint32_t)buffer->len;
	m->ol_flags = 0;
}

/* ---- what is dropped ----------------------------------------------------------------------- */

static void esp_boundary_say(
	struct esp_boundary *b, uint64_t n, const struct ip_flow *f, const char *what)
{
	char src[IP_ADDR_STRLEN], dst[IP_ADDR_STRLEN];
	enum log_level level = log_level_of_count(n);

	if (!b->log || level > b->log->max_level)
		return;
	log_printf(b->log, level, "ipsec: %s (protocol %u, %s to %s; %llu so far)", what, f->proto,
		ip_addr_format(&f->src, src), ip_addr_format(&f->dst, dst), (unsigned long long)n);
}

static enum ip_ipsec_verdict esp_boundary_drop(struct esp_boundary *b, struct rte_mbuf *m,
	uint64_t *counter, const struct ip_flow *f, const char *what)
{
	esp_boundary_say(b, ++*counter, f, what);
	rte_pktmbuf_free(m);
	return IP_IPSEC_DROPPED;
}

static uint64_t *esp_boundary_rx_counter(struct esp_boundary *b, enum esp_verdict v)
{
	struct esp_stats *s = &b->stats;

	switch (v) {
	case ESP_DUMMY:
		return &s->rx_dummy;
	case ESP_REPLAY:
		return &s->rx_replay;
	case ESP_LATE:
		return &s->rx_late;
	case ESP_BAD_ICV:
		return &s->rx_bad_icv;
	case ESP_SHORT:
		return &s->rx_short;
	case ESP_BAD_PADDING:
		return &s->rx_bad_padding;
	case ESP_BAD_HEADER:
	case ESP_FRAGMENT:
		return &s->rx_bad_header;
	case ESP_ENDED:
		return &s->rx_ended;
	default:
		return &s->rx_failed;
	}
}

static uint64_t *esp_boundary_tx_counter(struct esp_boundary *b, enum esp_verdict v)
{
	struct esp_stats *s = &b->stats;

	if (v == ESP_ENDED)
		return &s->tx_ended;
	return v == ESP_NO_ROOM ? &s->tx_too_long : &s->tx_failed;
}

/* ---- out ----------------------------------------------------------------------------------- */

static enum ip_ipsec_verdict esp_boundary_protect(struct esp_boundary *b, struct esp_sa *sa,
	const struct ip_flow *f, struct rte_mbuf **m, struct ip_addr *to, uint64_t now)
{
	struct rte_mbuf *clear = NULL;
	struct esp_buffer buffer;
	enum esp_verdict v;

	if (esp_mbuf_may_be_read(*m, sa)) {
		clear = *m;
		*m = esp_mbuf_beside(b, clear, &buffer);
	} else {
		*m = esp_mbuf_own(b, *m, (uint16_t)(esp_sa_trailer_room(sa) + sa->shape.icv_len),
			&b->stats.tx_no_memory);
		if (*m)
			esp_mbuf_buffer(*m, &buffer);
	}
	if (!*m) {
		rte_pktmbuf_free(clear);
		return IP_IPSEC_DROPPED;
	}
	b->stats.tx_bytes += buffer.len;
	esp_sa_pass_time(sa, now);
	v = esp_encapsulate(sa, &buffer);
	rte_pktmbuf_free(clear);
	if (v != ESP_OK)
		return esp_boundary_drop(
			b, *m, esp_boundary_tx_counter(b, v), f, esp_verdict_name(v));
	esp_mbuf_finish(*m, &buffer);
	b->stats.tx_packets++;
	if (sa->config.tunnel)
		*to = sa->config.dst;
	return IP_IPSEC_CHANGED;
}

static enum ip_ipsec_verdict esp_boundary_output(
	void *ctx, const struct ip_flow *f, struct rte_mbuf **m, struct ip_addr *to, uint64_t now)
{
	struct esp_boundary *b = ctx;
	struct esp_sa *sa;

	switch (esp_database_output(&b->db, f, &sa)) {
	case ESP_BYPASS:
		return IP_IPSEC_PASS;
	case ESP_PROTECT:
		if (sa)
			return esp_boundary_protect(b, sa, f, m, to, now);
		return esp_boundary_drop(b, *m, &b->stats.tx_no_sa, f,
			"there is no SA for a packet that a policy protects");
	default:
		return esp_boundary_drop(
			b, *m, &b->stats.tx_discarded, f, "no policy lets a packet out");
	}
}

/* ---- in ------------------------------------------------------------------------------------ */

/** What is not for us to look into counts as IKE, which goes on as it is (RFC 3948 section 2). */
static enum esp_udp_kind esp_boundary_udp_kind(const struct esp_boundary *b,
	const struct ip_flow *f, const struct rte_mbuf *m, uint16_t l4_off)
{
	uint32_t at = l4_off + UDP_LEN, len;

	if (f->proto != UDP_PROTO || !esp_database_has_port(&b->db, f->dst_port) ||
		m->pkt_len <= at)
		return ESP_UDP_IKE;
	len = m->pkt_len - at;
	/* IP has put that much together. */
	if (m->data_len < at + (len < ESP_UDP_MARKER_LEN ? len : ESP_UDP_MARKER_LEN))
		return ESP_UDP_NOTHING;
	return esp_udp_kind(rte_pktmbuf_mtod_offset(m, const uint8_t *, at), len);
}

/**
 * The SA of an ESP packet. A peer may use one whose SPI is new as soon as it is in the file, so who
 * has written that loses nothing.
 */
static struct esp_sa *esp_boundary_find(
	struct esp_boundary *b, const struct ip_flow *f, uint32_t spi, uint64_t now)
{
	struct esp_sa *sa = esp_database_find(&b->db, &f->dst, spi);

	if (sa || now < b->next_look)
		return sa;
	b->next_look = now + LOOK_GAP_NS;
	esp_boundary_look(b, now);
	return esp_database_find(&b->db, &f->dst, spi);
}

/** @return that the packet @p m, without extension headers, is TCP's. */
static bool esp_mbuf_is_tcp(const struct rte_mbuf *m)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);

	return (h[0] >> 4 == 4 ? h[IPV4_PROTOCOL] : h[IPV6_NEXT_HEADER]) == IP_PROTO_TCP;
}

/** @param at where ESP begins. */
static enum ip_ipsec_verdict esp_boundary_open_packet(struct esp_boundary *b,
	const struct ip_flow *f, struct rte_mbuf **m, uint16_t at, const void **secured,
	uint64_t now)
{
	struct esp_buffer buffer;
	enum esp_verdict v;
	struct esp_sa *sa;

	*m = esp_mbuf_own(b, *m, 0, &b->stats.rx_no_memory);
	if (!*m)
		return IP_IPSEC_DROPPED;
	if ((*m)->data_len - (size_t)at < ESP_IV)
		return esp_boundary_drop(b, *m, &b->stats.rx_short, f, "short");
	sa = esp_boundary_find(
		b, f, load_be32(rte_pktmbuf_mtod_offset(*m, const uint8_t *, at)), now);
	if (!sa)
		return esp_boundary_drop(
			b, *m, &b->stats.rx_no_sa, f, "there is no SA for an ESP packet");
	esp_mbuf_buffer(*m, &buffer);
	esp_sa_pass_time(sa, now);
	v = esp_decapsulate(sa, &buffer, at);
	if (v != ESP_OK)
		return esp_boundary_drop(
			b, *m, esp_boundary_rx_counter(b, v), f, esp_verdict_name(v));
	esp_mbuf_finish(*m, &buffer);
	b->stats.rx_packets++;
	b->stats.rx_bytes += buffer.len;
	*secured = sa;
	if (sa->config.tunnel)
		return IP_IPSEC_TUNNELLED;
	/*
	 * In transport mode it has the header that was checked as it came, and was kept right. Its
	 * addresses must be the SA's, and the ICV says of the rest what a checksum would (RFC 3948
	 * section 3.1.2).
	 */
	(*m)->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	return esp_mbuf_is_tcp(*m) ? IP_IPSEC_OPENED : IP_IPSEC_CHANGED;
}

static enum ip_ipsec_verdict esp_boundary_arrive(struct esp_boundary *b, const struct ip_flow *f,
	struct rte_mbuf *m, const struct esp_sa *secured)
{
	switch (esp_database_input(&b->db, f, secured)) {
	case ESP_ARRIVED:
		return IP_IPSEC_PASS;
	case ESP_CLEAR:
		return esp_boundary_drop(b, m, &b->stats.rx_clear, f,
			"a packet came in the clear that a policy protects");
	case ESP_MISMATCH:
		return esp_boundary_drop(b, m, &b->stats.rx_mismatch, f,
			"a packet came by an SA that is not for it");
	default:
		return esp_boundary_drop(
			b, m, &b->stats.rx_discarded, f, "no policy lets a packet in");
	}
}

static enum ip_ipsec_verdict esp_boundary_input(void *ctx, const struct ip_flow *f,
	struct rte_mbuf **m, uint16_t l4_off, const void **secured, uint64_t now)
{
	struct esp_boundary *b = ctx;

	/* What is inside of ESP is not ESP again: nobody could go on like that for ever. */
	if (*secured)
		return esp_boundary_arrive(b, f, *m, *secured);
	if (f->proto == ESP_PROTO)
		return esp_boundary_open_packet(b, f, m, l4_off, secured, now);
	switch (esp_boundary_udp_kind(b, f, *m, l4_off)) {
	case ESP_UDP_IKE:
		return esp_boundary_arrive(b, f, *m, NULL);
	case ESP_UDP_KEEPALIVE:
		rte_pktmbuf_free(*m);
		return IP_IPSEC_DROPPED;
	default:
		return esp_boundary_open_packet(
			b, f, m, (uint16_t)(l4_off + UDP_LEN), secured, now);
	}
}

static bool esp_boundary_clear(void *ctx, const struct ip_flow *f)
{
	const struct esp_boundary *b = ctx;

	/* Who has sent it is not known before it is opened. */
	if (f->proto == ESP_PROTO ||
		(f->proto == UDP_PROTO && esp_database_has_port(&b->db, f->dst_port)))
		return false;
	return esp_boundary_arrive(ctx, f, NULL, NULL) == IP_IPSEC_PASS;
}

/* ---- paths --------------------------------------------------------------------------------- */

static uint16_t esp_boundary_room(void *ctx, const struct ip_addr *src, const struct ip_addr *dst,
	uint16_t mtu, struct ip_addr *to)
{
	struct esp_boundary *b = ctx;

	return (uint16_t)esp_database_room(&b->db, src, dst, mtu, to);
}

/** The packets of an SA leave in one way: as ESP, or in UDP with its ports. */
static bool esp_boundary_leaves_so(const struct esp_sa_config *c, const struct ip_flow *f)
{
	return c->udp == (f->proto == UDP_PROTO) &&
	       (!c->udp || (c->udp_src == f->src_port && c->udp_dst == f->dst_port));
}

static bool esp_boundary_sent(
	void *ctx, const struct ip_flow *f, const uint8_t *esp, size_t len, uint64_t now)
{
	struct esp_boundary *b = ctx;
	const struct esp_sa *sa =
		esp_database_find_outbound(&b->db, &f->dst, load_be32(esp + ESP_SPI));

	return sa && esp_boundary_leaves_so(&sa->config, f) && esp_sa_sent(sa, esp, len, now);
}

/* ---- the file ------------------------------------------------------------------------------ */

int esp_boundary_create(const struct esp_boundary_config *cfg, struct esp_boundary **out)
{
	struct esp_boundary *b = calloc(1, sizeof *b);

	if (!b)
		return -ENOMEM;
	b->ops = (struct ip_ipsec){.ctx = b,
		.output = esp_boundary_output,
		.input = esp_boundary_input,
		.clear = esp_boundary_clear,
		.room = esp_boundary_room,
		.sent = esp_boundary_sent};
	b->pool = cfg->pool;
	b->log = cfg->log;
	snprintf(b->path, sizeof b->path, "%s", cfg->path);
	esp_database_init(&b->db, &cfg->random);
	*out = b;
	return 0;
}

void esp_boundary_destroy(struct esp_boundary *b)
{
	if (!b)
		return;
	esp_database_fini(&b->db);
	free(b);
}

const struct ip_ipsec *esp_boundary_ops(struct esp_boundary *b)
{
	return &b->ops;
}

static bool esp_boundary_host_has(void *ctx, const struct ip_addr *a)
{
	const struct esp_boundary *b = ctx;

	return ip_addr_is_configured(b->ip, a);
}

/** As a file may be that was forgotten, or whose keys have yet to be agreed on. */
static void esp_boundary_tell_without_policy(struct esp_boundary *b, const struct esp_file *f)
{
	char is[TOLD_LEN] = "";

	if (!f->n_policies)
		snprintf(is, sizeof is, "in %d, out %d", f->accept_in, f->accept_out);
	if (!secret_file_is_news(b->warned_of_clear, sizeof b->warned_of_clear, is))
		return;
	log_printf(b->log, LOG_LEVEL_WARNING,
		"ipsec \"%s\" has no policy for this host: packets in are %s, packets out are %s",
		b->path, f->accept_in ? "taken in the clear" : "discarded",
		f->accept_out ? "sent in the clear" : "discarded");
}

static void esp_boundary_tell_shared_key(struct esp_boundary *b, const struct esp_file *f)
{
	char first[IP_ADDR_STRLEN], second[IP_ADDR_STRLEN], is[TOLD_LEN] = "";
	unsigned one, other;

	if (esp_file_find_shared(f, &one, &other))
		snprintf(is, sizeof is, "%s %s", ip_addr_format(&f->state[one].dst, first),
			ip_addr_format(&f->state[other].dst, second));
	if (!secret_file_is_news(b->warned_of_key, sizeof b->warned_of_key, is))
		return;
	log_printf(b->log, LOG_LEVEL_WARNING,
		"ipsec \"%s\": the SAs with spi 0x%x to %s and to %s have one key, and each "
		"its own \"replay-window\": what was sent to one can be sent again to the other; "
		"give each "
		"its own key",
		b->path, f->state[one].spi, first, second);
}

static int esp_boundary_read(struct esp_boundary *b, uint64_t now, char *why, size_t size)
{
	const struct esp_host host = {esp_boundary_host_has, b};
	char reason[WHY_LEN] = "";
	struct esp_file *f;
	int rc;

	secret_file_stamp_take(&b->stamp, b->path);
	rc = esp_file_read(b->path, &host, &f, why, size);
	if (rc)
		return rc;
	rc = esp_database_update(&b->db, f, now, reason, sizeof reason);
	if (rc) {
		snprintf(why, size, "ipsec \"%.300s\": %.150s", b->path, reason);
		esp_file_free(f);
		return rc;
	}
	b->stats.sas_in = b->db.inbound;
	b->stats.sas_out = b->db.outbound;
	b->stats.policies = f->n_policies;
	ip_ipsec_changed(b->ip);
	esp_boundary_tell_without_policy(b, f);
	esp_boundary_tell_shared_key(b, f);
	return 0;
}

int esp_boundary_open(
	struct esp_boundary *b, struct ip_stack *ip, uint64_t now, char *why, size_t size)
{
	b->ip = ip;
	return esp_boundary_read(b, now, why, size);
}

/** Is there a reason to read the file? */
static bool esp_boundary_is_stale(const struct esp_boundary *b, uint64_t now)
{
	struct secret_file_stamp stamp;

	if (b->try_again && now >= b->next_try)
		return true;
	secret_file_stamp_take(&stamp, b->path);
	return secret_file_stamp_differs(&stamp, &b->stamp);
}

void esp_boundary_look(struct esp_boundary *b, uint64_t now)
{
	char why[WHY_LEN] = "";
	int rc;

	if (!esp_boundary_is_stale(b, now))
		return;
	rc = esp_boundary_read(b, now, why, sizeof why);
	b->try_again = rc && secret_file_try_again(rc);
	b->next_try = now + RETRY_GAP_NS;
	if (rc) {
		b->stats.reloads_failed++;
		if (secret_file_is_news(b->refused, sizeof b->refused, why))
			log_printf(b->log, LOG_LEVEL_WARNING,
				"%s; what was read before stays in force", why);
		return;
	}
	b->refused[0] = '\0';
	b->stats.reloads++;
	log_printf(b->log, LOG_LEVEL_INFO, "ipsec \"%s\" was read again: %llu SAs in, %llu out",
		b->path, (unsigned long long)b->stats.sas_in, (unsigned long long)b->stats.sas_out);
}

const struct esp_stats *esp_boundary_stats(const struct esp_boundary *b)
{
	return &b->stats;
}
