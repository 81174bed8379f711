/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/packet.h"

#include "base/bytes.h"
#include "base/cksum_plain.h"
#include "iwpm/message.h"

/* LINKTYPE_ values, https://www.tcpdump.org/linktypes.html */
enum {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_PPP = 9,
	LINK_RAW_BSD = 12,
	LINK_RAW_OPENBSD = 14,
	LINK_PPP_HDLC = 50,
	LINK_PPP_ETHER = 51,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_LINUX_SLL = 113,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_LINUX_SLL2 = 276,
};

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd

/* IEEE 802.3: up to here it is a length, and LLC follows; SNAP's has an EtherType behind it. */
#define ETHERTYPE_LENGTH_MAX 1500
#define LLC_SNAP             0xaaaa03
#define LLC_SNAP_LEN         8

#define ETHERTYPE_MPLS           0x8847
#define ETHERTYPE_MPLS_MULTICAST 0x8848
#define ETHERTYPE_PPPOE          0x8864
#define ETHERTYPE_BRIDGING       0x6558 /* Ethernet in GRE */

#define PROTOCOL_IPIP 4
#define PROTOCOL_TCP  6
#define PROTOCOL_UDP  17
#define PROTOCOL_IPV6 41
#define PROTOCOL_GRE  47
#define PROTOCOL_MPLS 137

/* IPv6's extension headers, RFC 8200 section 4 and RFC 6275 */
#define PROTOCOL_HOP_BY_HOP  0
#define PROTOCOL_ROUTING     43
#define PROTOCOL_DESTINATION 60
#define PROTOCOL_MOBILITY    135

#define PORT_VXLAN 4789
#define PORT_MPLS  6635

/** What carries something, and is not read: by EtherType, IP protocol or UDP port. */
struct packet_unread {
	uint16_t number;
	const char *name;
};

static const struct packet_unread packet_unread_ethertypes[] = {
	{0x22f3, "TRILL"},
	{0x8915, "RoCE (no iWARP)"},
	{0x88e5, "MACsec"},
	{0x88e7, "provider backbone bridges"},
	{0x894f, "NSH"},
	{0, NULL},
};

static const struct packet_unread packet_unread_protocols[] = {
	{50, "IPsec's ESP"},
	{51, "IPsec's AH"},
	{97, "EtherIP"},
	{115, "L2TP"},
	{0, NULL},
};

static const struct packet_unread packet_unread_ports[] = {
	{1701, "L2TP"},
	{2152, "GTP"},
	{4500, "IPsec in UDP"},
	{4790, "VXLAN-GPE"},
	{4791, "RoCE (no iWARP)"},
	{6081, "GENEVE"},
	{8472, "VXLAN on port 8472"},
	{51820, "WireGuard"},
	{0, NULL},
};

/** Tunnels in each other, so that no packet keeps us busy. */
#define TUNNELS_MAX 8

/** What of a frame has not been read. */
struct rest {
	const uint8_t *p;
	size_t here;      /**< bytes captured */
	size_t sent;      /**< bytes on the wire, at least here */
	size_t passed;    /**< bytes that were skipped */
	unsigned tunnels; /**< that were left behind */
};

static bool packet_skip_bytes(struct rest *r, size_t n)
{
	if (r->here < n)
		return false;
	r->p += n;
	r->here -= n;
	r->sent -= n;
	r->passed += n;
	return true;
}

static enum packet_kind packet_not_read(
	const struct packet_unread *names, uint16_t number, struct packet *p)
{
	for (; names->name; names++)
		if (names->number == number)
			p->unread = names->name;
	return PACKET_OTHER;
}

/** Why @p n bytes are not there: not captured, or never sent. */
static enum packet_kind packet_missing(const struct rest *r, size_t n)
{
	return r->sent >= n ? PACKET_CUT : PACKET_BAD;
}

/** The packet ends here, whatever padding or trailer follows. */
static void packet_end_at(struct rest *r, size_t n)
{
	if (r->sent > n)
		r->sent = n;
	if (r->here > r->sent)
		r->here = r->sent;
}

/* ---- TCP ---------------------------------------------------------------------------------- */

static enum packet_kind packet_parse_segment(struct rest *r, struct packet *p)
{
	const uint8_t *h = r->p;
	size_t header;

	if (r->here < 20)
		return packet_missing(r, 20);
	header = (size_t)(h[12] >> 4) * 4;
	if (header < 20)
		return PACKET_BAD;
	p->src.port = load_be16(h);
	p->dst.port = load_be16(h + 2);
	p->seq = load_be32(h + 4);
	p->ack = load_be32(h + 8);
	p->flags = h[13];
	p->window = load_be16(h + 14);
	if (r->sent < header)
		return PACKET_BAD;
	/* Options cut off: the text is as long as it is, none of it here. */
	p->header = r->here < header ? 0 : (uint8_t)header; /* of one that is cut there is no sum */
	p->before = (uint32_t)(r->passed + header);
	p->len = (uint32_t)(r->sent - header);
	p->captured = r->here < header ? 0 : (uint32_t)(r->here - header);
	p->text = h + (r->here < header ? r->here : header);
	return PACKET_TCP;
}

enum packet_sum packet_judge_sum(const struct packet *head, const struct digest *d, uint32_t len)
{
	const uint8_t *tcp = head->text - head->header;
	uint64_t addrs = cksum_addrs(&head->src.addr, &head->dst.addr);
	uint64_t pseudo = cksum_pseudo(addrs, PROTOCOL_TCP, (uint16_t)len);

	/* Packets above 64 KB have no length to sum. */
	if (head->header == 0 || head->routed || len > UINT16_MAX)
		return PACKET_SUM_UNKNOWN;
	if (cksum_fold(pseudo + d->sum) == 0xffff)
		return PACKET_SUM_RIGHT;
	if (load_be16(tcp + CKSUM_TCP_AT) == 0)
		return PACKET_SUM_UNKNOWN;
	/* What hardware is to cut has a pseudo header without a length with some. */
	if (cksum_tcp_is_unfilled(tcp, pseudo) ||
		cksum_tcp_is_unfilled(tcp, cksum_pseudo(addrs, PROTOCOL_TCP, 0)))
		return PACKET_SUM_UNFILLED;
	return PACKET_SUM_WRONG;
}

enum packet_sum packet_sum(const struct packet *p)
{
	struct digest d = {0};

	if (p->captured != p->len || p->header == 0)
		return PACKET_SUM_UNKNOWN;
	digest_add(&d, DIGEST_SUM, p->text - p->header, (size_t)p->header + p->len);
	return packet_judge_sum(p, &d, p->header + p->len);
}

/* ---- tunnels ------------------------------------------------------------------------------ */

static enum packet_kind packet_parse_ip(struct rest *r, struct packet *p);
static enum packet_kind packet_parse_ethertype(struct rest *r, uint16_t type, struct packet *p);
static enum packet_kind packet_parse_mpls(struct rest *r, struct packet *p);

static enum packet_kind packet_parse_ethernet(struct rest *r, struct packet *p)
{
	uint16_t type;

	if (r->here < 14)
		return packet_missing(r, 14);
	type = load_be16(r->p + 12);
	packet_skip_bytes(r, 14);
	return packet_parse_ethertype(r, type, p);
}

/* What is behind the header of UDP, and not what link layers have appended. */
static enum packet_kind packet_parse_mapper(struct rest *r, struct packet *p)
{
	size_t len = load_be16(r->p + 4);

	if (len < 8 || len > r->sent)
		return PACKET_BAD;
	packet_end_at(r, len);
	packet_skip_bytes(r, 8);
	p->text = r->p;
	p->len = (uint32_t)r->sent;
	p->captured = (uint32_t)r->here;
	return PACKET_MAPPER;
}

/* VXLAN has eight octets behind those of UDP (RFC 7348), MPLS none (RFC 7510). */
static enum packet_kind packet_parse_udp(struct rest *r, struct packet *p)
{
	if (r->here < 8)
		return PACKET_OTHER;
	p->src.port = load_be16(r->p);
	p->dst.port = load_be16(r->p + 2);
	if (p->src.port == IWPM_PORT || p->dst.port == IWPM_PORT)
		return packet_parse_mapper(r, p);
	if (p->dst.port == PORT_MPLS && packet_skip_bytes(r, 8))
		return packet_parse_mpls(r, p);
	if (p->dst.port != PORT_VXLAN)
		return packet_not_read(packet_unread_ports, p->dst.port, p);
	if (!packet_skip_bytes(r, 16))
		return packet_missing(r, 16);
	return packet_parse_ethernet(r, p);
}

/* RFC 2784 and 2890: flags tell which fields follow. */
static enum packet_kind packet_parse_gre(struct rest *r, struct packet *p)
{
	uint16_t flags, type;
	size_t len = 4;

	if (r->here < 4)
		return packet_missing(r, 4);
	flags = load_be16(r->p);
	type = load_be16(r->p + 2);
	if (flags & 7) {
		p->unread = "PPTP's GRE";
		return PACKET_OTHER;
	}
	len += (flags & 0x8000 ? 4 : 0) + (flags & 0x2000 ? 4 : 0) + (flags & 0x1000 ? 4 : 0);
	if (!packet_skip_bytes(r, len))
		return packet_missing(r, len);
	return type == ETHERTYPE_BRIDGING ? packet_parse_ethernet(r, p)
					  : packet_parse_ethertype(r, type, p);
}

/* What IP carries, if not TCP. */
static enum packet_kind packet_parse_tunnel(struct rest *r, uint8_t protocol, struct packet *p)
{
	if (++r->tunnels > TUNNELS_MAX)
		return PACKET_OTHER;
	switch (protocol) {
	case PROTOCOL_IPIP:
	case PROTOCOL_IPV6:
		return packet_parse_ip(r, p);
	case PROTOCOL_UDP:
		return packet_parse_udp(r, p);
	case PROTOCOL_GRE:
		return packet_parse_gre(r, p);
	case PROTOCOL_MPLS: /* RFC 4023 */
		return packet_parse_mpls(r, p);
	default:
		return packet_not_read(packet_unread_protocols, protocol, p);
	}
}

/* RFC 3032: labels until the bottom; what is behind says nothing of itself but IP's version. */
static enum packet_kind packet_parse_mpls(struct rest *r, struct packet *p)
{
	bool bottom = false;

	if (++r->tunnels > TUNNELS_MAX)
		return PACKET_OTHER;
	while (!bottom) {
		if (r->here < 4)
			return packet_missing(r, 4);
		bottom = r->p[2] & 1;
		packet_skip_bytes(r, 4);
	}
	if (r->here == 0)
		return packet_missing(r, 1);
	if (r->p[0] >> 4 == 4 || r->p[0] >> 4 == 6)
		return packet_parse_ip(r, p);
	/* RFC 4448: Ethernet behind a control word. */
	if (r->p[0] != 0 || !packet_skip_bytes(r, 4))
		return PACKET_OTHER;
	return packet_parse_ethernet(r, p);
}

/* RFC 1661: the protocol has one octet or two, behind HDLC's address and control if they are there.
 */
static enum packet_kind packet_parse_ppp(struct rest *r, struct packet *p)
{
	uint16_t protocol;

	if (r->here >= 2 && r->p[0] == 0xff && r->p[1] == 3)
		packet_skip_bytes(r, 2);
	if (r->here < 2)
		return packet_missing(r, 2);
	protocol = r->p[0] & 1 ? r->p[0] : load_be16(r->p);
	packet_skip_bytes(r, r->p[0] & 1 ? 1 : 2);
	if (protocol == 0x21 || protocol == 0x57)
		return packet_parse_ip(r, p);
	return protocol == 0x281 || protocol == 0x283 ? packet_parse_mpls(r, p) : PACKET_OTHER;
}

/* RFC 2516. */
static enum packet_kind packet_parse_pppoe(struct rest *r, struct packet *p)
{
	size_t len;

	if (++r->tunnels > TUNNELS_MAX)
		return PACKET_OTHER;
	if (r->here < 6)
		return packet_missing(r, 6);
	len = load_be16(r->p + 4);
	packet_skip_bytes(r, 6);
	packet_end_at(r, len);
	return packet_parse_ppp(r, p);
}

/* ---- IP ----------------------------------------------------------------------------------- */

/* Behind IP, or in IPv6's extension headers: TCP, or what may have it inside. */
static bool packet_may_carry(uint8_t protocol)
{
	static const uint8_t carriers[] = {PROTOCOL_TCP, PROTOCOL_IPIP, PROTOCOL_UDP, PROTOCOL_IPV6,
		PROTOCOL_GRE, PROTOCOL_MPLS, PROTOCOL_HOP_BY_HOP, PROTOCOL_ROUTING,
		PROTOCOL_DESTINATION, PROTOCOL_MOBILITY};

	return memchr(carriers, protocol, sizeof carriers) != NULL;
}

/* What is left is a part of the packet, of which @p field tells as in IPv6. */
static enum packet_kind packet_fragment(
	const struct rest *r, uint8_t protocol, uint32_t id, uint32_t field, struct packet *p)
{
	if (!packet_may_carry(protocol))
		return packet_not_read(packet_unread_protocols, protocol, p);
	p->protocol = protocol;
	p->id = id;
	p->offset = field & 0xfff8;
	p->more = field & 1;
	p->text = r->p;
	p->len = (uint32_t)r->sent;
	p->captured = (uint32_t)r->here;
	/* RFC 8200 section 4.5: all but the last in eights. */
	return p->len == 0 || (p->more && p->len % 8 != 0) ? PACKET_BAD : PACKET_FRAGMENT;
}

static enum packet_kind packet_parse_payload(struct rest *r, uint8_t protocol, struct packet *p)
{
	return protocol == PROTOCOL_TCP ? packet_parse_segment(r, p)
					: packet_parse_tunnel(r, protocol, p);
}

static enum packet_kind packet_parse_ipv4(struct rest *r, struct packet *p)
{
	const uint8_t *h = r->p;
	size_t header, total;
	uint16_t field;

	if (r->here < 20)
		return packet_missing(r, 20);
	header = (size_t)(h[0] & 0xf) * 4;
	total = load_be16(h + 2);
	if (total == 0)
		total = r->sent; /* an offloaded packet above 64 KB */
	if (h[0] >> 4 != 4 || header < 20 || total < header || total > r->sent)
		return PACKET_BAD;
	field = load_be16(h + 6);
	p->src.addr = ip_addr_from_v4(h + 12);
	p->dst.addr = ip_addr_from_v4(h + 16);
	p->routed = header != 20;
	packet_end_at(r, total);
	if (!packet_skip_bytes(r, header))
		return h[9] == PROTOCOL_TCP ? packet_missing(r, header) : PACKET_OTHER;
	if ((field & 0x3fff) != 0)
		return packet_fragment(r, h[9], load_be16(h + 4),
			(field & 0x1fffu) * 8 | (field & 0x2000) >> 13, p);
	return packet_parse_payload(r, h[9], p);
}

/* RFC 8200 section 4: from the fixed header to TCP, or to a tunnel's. */
static enum packet_kind packet_skip_extensions(struct rest *r, uint8_t *next, struct packet *p)
{
	while (*next != PROTOCOL_TCP) {
		uint8_t protocol;
		uint16_t field;
		uint32_t id;
		size_t len;

		if (r->here < 8)
			return packet_missing(r, 8);
		switch (*next) {
		case PROTOCOL_HOP_BY_HOP:
		case PROTOCOL_ROUTING:
		case PROTOCOL_DESTINATION:
		case PROTOCOL_MOBILITY:
			len = (size_t)(r->p[1] + 1) * 8;
			p->routed |= *next != PROTOCOL_HOP_BY_HOP;
			break;
		case 51: /* authentication header, RFC 4302 */
			len = (size_t)(r->p[1] + 2) * 4;
			break;
		case 44:
			field = load_be16(r->p + 2);
			id = load_be32(r->p + 4);
			protocol = r->p[0];
			len = 8; /* an atomic fragment, RFC 6946 */
			if ((field & 0xfff9) == 0)
				break;
			packet_skip_bytes(r, 8);
			return packet_fragment(r, protocol, id, field, p);
		default:
			return PACKET_TCP; /* or what a tunnel has */
		}
		*next = r->p[0];
		if (!packet_skip_bytes(r, len))
			return packet_missing(r, len);
	}
	return PACKET_TCP;
}

static enum packet_kind packet_parse_ipv6(struct rest *r, struct packet *p)
{
	const uint8_t *h = r->p;
	enum packet_kind kind;
	size_t payload;
	uint8_t next;

	if (r->here < 40)
		return packet_missing(r, 40);
	payload = load_be16(h + 4);
	if (payload == 0)
		payload = r->sent - 40; /* an offloaded packet above 64 KB */
	if (h[0] >> 4 != 6 || payload > r->sent - 40)
		return PACKET_BAD;
	p->src.addr = ip_addr_from_v6(h + 8);
	p->dst.addr = ip_addr_from_v6(h + 24);
	p->routed = false;
	packet_end_at(r, 40 + payload);
	packet_skip_bytes(r, 40);
	next = h[6];
	kind = packet_skip_extensions(r, &next, p);
	if (kind != PACKET_TCP)
		return kind;
	return packet_parse_payload(r, next, p);
}

enum packet_kind packet_parse_whole(struct packet *p, uint32_t len)
{
	struct rest r = {.p = p->text, .here = p->captured, .sent = len};
	uint8_t next = p->protocol;
	enum packet_kind kind;

	if (!ip_addr_is_v4(&p->src.addr)) {
		kind = packet_skip_extensions(&r, &next, p);
		if (kind != PACKET_TCP)
			return kind;
	}
	return packet_parse_payload(&r, next, p);
}

static enum packet_kind packet_parse_ip(struct rest *r, struct packet *p)
{
	if (r->here == 0)
		return packet_missing(r, 1);
	return r->p[0] >> 4 == 6 ? packet_parse_ipv6(r, p) : packet_parse_ipv4(r, p);
}

/* RFC 1042. What is shorter, or of another LLC, carries no IP. */
static enum packet_kind packet_parse_llc(struct rest *r, struct packet *p)
{
	uint16_t type;

	if (++r->tunnels > TUNNELS_MAX)
		return PACKET_OTHER;
	if (r->here < LLC_SNAP_LEN || load_be32(r->p) >> 8 != LLC_SNAP)
		return PACKET_OTHER;
	if ((load_be32(r->p + 2) & 0xffffff) != 0) {
		p->unread = "SNAP of another organisation";
		return PACKET_OTHER;
	}
	type = load_be16(r->p + 6);
	packet_skip_bytes(r, LLC_SNAP_LEN);
	if (type <= ETHERTYPE_LENGTH_MAX)
		return PACKET_OTHER;
	return packet_parse_ethertype(r, type, p);
}

static enum packet_kind packet_parse_ethertype(struct rest *r, uint16_t type, struct packet *p)
{
	/* 802.1Q, 802.1ad and what was there before it, stacked as deep as they like. */
	while (type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200) {
		if (r->here < 4)
			return packet_missing(r, 4);
		type = load_be16(r->p + 2);
		packet_skip_bytes(r, 4);
	}
	if (type <= ETHERTYPE_LENGTH_MAX)
		return packet_parse_llc(r, p);
	if (type == ETHERTYPE_IPV4)
		return packet_parse_ipv4(r, p);
	if (type == ETHERTYPE_MPLS || type == ETHERTYPE_MPLS_MULTICAST)
		return packet_parse_mpls(r, p);
	if (type == ETHERTYPE_PPPOE)
		return packet_parse_pppoe(r, p);
	return type == ETHERTYPE_IPV6 ? packet_parse_ipv6(r, p)
				      : packet_not_read(packet_unread_ethertypes, type, p);
}

/* ---- links -------------------------------------------------------------------------------- */

/** A link header of @p len bytes with an EtherType at @p at. */
static enum packet_kind packet_parse_link(struct rest *r, size_t len, size_t at, struct packet *p)
{
	uint16_t type;

	if (r->here < len)
		return packet_missing(r, len);
	type = load_be16(r->p + at);
	packet_skip_bytes(r, len);
	return packet_parse_ethertype(r, type, p);
}

/* Four bytes of address family before IP, in this or that byte order: IP tells itself. */
static enum packet_kind packet_parse_loopback(struct rest *r, struct packet *p)
{
	if (!packet_skip_bytes(r, 4))
		return packet_missing(r, 4);
	if (r->here == 0)
		return packet_missing(r, 1);
	return r->p[0] >> 4 == 4 || r->p[0] >> 4 == 6 ? packet_parse_ip(r, p) : PACKET_OTHER;
}

enum packet_kind packet_parse(const struct cap_frame *f, struct packet *p)
{
	struct rest r = {.p = f->bytes, .here = f->captured, .sent = f->len};

	p->continues = false;
	p->unread = NULL;
	p->more = false;
	p->header = 0;
	p->sum = PACKET_SUM_UNKNOWN;
	switch (f->link) {
	case LINK_ETHERNET:
		return packet_parse_link(&r, 14, 12, p);
	case LINK_PPP:
	case LINK_PPP_HDLC:
		return packet_parse_ppp(&r, p);
	case LINK_PPP_ETHER:
		return packet_parse_pppoe(&r, p);
	case LINK_LINUX_SLL:
		return packet_parse_link(&r, 16, 14, p);
	case LINK_LINUX_SLL2:
		return packet_parse_link(&r, 20, 0, p);
	case LINK_NULL:
	case LINK_LOOP:
		return packet_parse_loopback(&r, p);
	case LINK_RAW:
	case LINK_RAW_BSD:
	case LINK_RAW_OPENBSD:
	case LINK_IPV4:
	case LINK_IPV6:
		return packet_parse_ip(&r, p);
	default:
		return PACKET_OTHER;
	}
}

bool packet_knows_link(uint32_t link)
{
	static const uint32_t known[] = {LINK_NULL, LINK_ETHERNET, LINK_PPP, LINK_RAW_BSD,
		LINK_RAW_OPENBSD, LINK_PPP_HDLC, LINK_PPP_ETHER, LINK_RAW, LINK_LOOP,
		LINK_LINUX_SLL, LINK_IPV4, LINK_IPV6, LINK_LINUX_SLL2};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i] == link)
			return true;
	return false;
}
