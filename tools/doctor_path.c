/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/doctor.h"

#include <errno.h>
#include <string.h>

/** How long an answer may take: RTTs of seconds are none that RDMA could live with. */
#define PING_MS 2000
/** A neighbour is asked several times, a second apart. */
#define NEIGHBOUR_MS 4000
/** Time for others to object to our addresses. */
#define CONFLICT_MS 300

#define SMALL_PING 84

static bool doctor_path_has_answer(void *ctx)
{
	const struct echo *e = ctx;

	return e->state != ECHO_WAITING;
}

/** One ping. @return 0, -ETIMEDOUT, or what echo_send() said. d->echo tells the rest. */
static int doctor_path_ping(struct doctor *d, const struct ip_addr *to, uint16_t len, unsigned ms)
{
	int rc;

	engine_lock(net_engine(d->net));
	rc = echo_send(&d->echo, to, len, net_now(d->net));
	engine_unlock(net_engine(d->net));
	if (rc != 0)
		return rc;
	return doctor_wait(d, ms, doctor_path_has_answer, &d->echo) ? 0 : -ETIMEDOUT;
}

/** What a packet may take that comes at all, by the one that came before. */
static unsigned doctor_path_patience_ms(const struct doctor *d)
{
	unsigned ms = (unsigned)(d->rtt_ns / 1000000) * 4 + 100;

	return ms < PING_MS ? ms : PING_MS;
}

/** A lost packet is none of our findings: three times. */
static bool doctor_path_passes(struct doctor *d, const struct ip_addr *to, uint16_t len)
{
	for (unsigned i = 0; i < 3; i++)
		if (doctor_path_ping(d, to, len, doctor_path_patience_ms(d)) == 0)
			return d->echo.state == ECHO_REPLIED;
	return false;
}

/* ---- the link ------------------------------------------------------------------------------ */

struct neighbour {
	struct ip_addr addr;
	bool resolved;
};

static void doctor_path_see_neighbour(
	void *ctx, const struct ip_addr *a, const uint8_t mac[6], const char *state)
{
	struct neighbour *n = ctx;

	if (ip_addr_equal(a, &n->addr) && strcmp(state, "INCOMPLETE") != 0 &&
		strcmp(state, "FAILED") != 0)
		n->resolved = true;
}

/** Does @p a, which should be on our link, answer ARP or ND? A ping makes us ask. */
static bool doctor_path_is_neighbour(struct doctor *d, const struct ip_addr *a)
{
	struct neighbour n = {.addr = *a};
	bool answered = doctor_path_ping(d, a, SMALL_PING, NEIGHBOUR_MS) == 0 &&
			d->echo.state == ECHO_REPLIED;

	engine_lock(net_engine(d->net));
	ip_neighbour_each(net_ip(d->net), doctor_path_see_neighbour, &n);
	engine_unlock(net_engine(d->net));
	return answered || n.resolved;
}

static bool doctor_path_is_on_link(const struct doctor *d, const struct ip_addr *a)
{
	for (unsigned i = 0; i < d->config->num_addresses; i++) {
		const struct config_address *our = &d->config->address[i];

		if (ip_addr_is_v4(a) == ip_addr_is_v4(&our->addr) &&
			ip_addr_in_prefix(a, &our->addr, our->prefix_len))
			return true;
	}
	return ip_addr_is_link_local(a);
}

static bool doctor_path_has_conflict(void *ctx)
{
	const struct ip_stats *s = ctx;

	return s->arp_conflicts != 0 || s->nd_conflicts != 0;
}

void doctor_look_at_neighbours(struct doctor *d)
{
	/* Asked for under the lock, and read there too. */
	const struct ip_stats *s = ip_stack_stats(net_ip(d->net));
	char text[IP_ADDR_STRLEN];

	if (doctor_wait(d, CONFLICT_MS, doctor_path_has_conflict, (void *)(uintptr_t)s)) {
		doctor_wrong(d, "another host on this link has one of our addresses");
		doctor_advise(d, "give each its own; two processes of one host need two addresses "
				 "too (%%{slot} in docs/configuration.md)");
	}
	for (unsigned i = 0; i < d->config->num_gateways; i++) {
		const struct ip_addr *g = &d->config->gateway[i];

		ip_addr_format(g, text);
		if (doctor_path_is_neighbour(d, g)) {
			doctor_good(d, "the gateway %s answers", text);
			continue;
		}
		doctor_wrong(d, "the gateway %s does not answer %s", text,
			ip_addr_is_v4(g) ? "ARP" : "neighbour solicitations");
		doctor_advise(d,
			"see that \"gateway\" is the router's address on this link, and that "
			"the port is in the right network (cable, VLAN, bridge)");
	}
}

/* ---- the path ------------------------------------------------------------------------------ */

static void doctor_path_explain_error(struct doctor *d, const char *host)
{
	switch (d->echo.error) {
	case IP_ERROR_NET:
		doctor_wrong(d, "a router says that it knows no way to the network of %s", host);
		doctor_advise(
			d, "see to the routes there, and that \"gateway\" is the right router");
		break;
	case IP_ERROR_HOST:
		doctor_wrong(d, "the last router on the way says that %s does not answer it", host);
		doctor_advise(d, "see that the peer runs, with this address: a stack of ours lives "
				 "only as long as its program");
		break;
	case IP_ERROR_ADMIN:
		doctor_note(d, "a firewall forbids pings to %s", host);
		break;
	case IP_ERROR_TIME:
		doctor_wrong(d, "packets to %s go round in a circle", host);
		doctor_advise(d, "see to the routes of the routers on the way");
		break;
	default:
		doctor_note(d, "pings to %s are refused", host);
		break;
	}
}

/** The largest ping that passes, of which @p good is known to and @p bad not to. */
static uint16_t doctor_path_largest(struct doctor *d, uint16_t good, uint16_t bad)
{
	while (bad - good > 1) {
		uint16_t middle = (uint16_t)((good + bad) / 2);

		if (doctor_path_passes(d, &d->peer, middle))
			good = middle;
		else
			bad = middle;
	}
	return good;
}

/** The largest packet that the port takes to the peer: what ESP adds to it must have room, too. */
static uint16_t doctor_path_mtu(struct doctor *d)
{
	struct ip_path path = {.mtu = 0};
	uint16_t mtu = net_mtu(d->net);
	struct ip_addr src;

	engine_lock(net_engine(d->net));
	if (ip_source(net_ip(d->net), &d->peer, &src) == 0 &&
		ip_path_init(net_ip(d->net), &path, &src, &d->peer, net_now(d->net)) == 0 &&
		path.link_mtu < mtu)
		mtu = path.link_mtu;
	engine_unlock(net_engine(d->net));
	return mtu;
}

static void doctor_path_look_at_mtu(struct doctor *d)
{
	uint16_t mtu = doctor_path_mtu(d);
	uint16_t fits;

	if (doctor_path_passes(d, &d->peer, mtu)) {
		doctor_good(d, "packets of %u bytes, %s, pass", mtu,
			mtu < net_mtu(d->net) ? "the largest that leave the port room for ESP"
					      : "the port's largest");
		return;
	}
	if (d->echo.state == ECHO_ERROR && d->echo.error == IP_ERROR_MTU) {
		doctor_good(d,
			"packets of %u bytes are too long for the path, and a router says so "
			"(%u fit): TCP finds that by itself",
			mtu, d->echo.mtu);
		return;
	}
	fits = doctor_path_largest(d, SMALL_PING, mtu);
	doctor_wrong(
		d, "packets of more than %u bytes vanish on the way, and no router says so", fits);
	doctor_advise(d,
		"set \"mtu = %u\", or mend the path: some link on it takes less than %u "
		"bytes, and the ICMP message that should tell of it is lost or filtered",
		fits, mtu);
}

/** @return false: there is no use in going on. */
static bool doctor_path_look_at_route(struct doctor *d)
{
	struct ip_addr src;
	char text[IP_ADDR_STRLEN];
	int rc;

	engine_lock(net_engine(d->net));
	rc = ip_source(net_ip(d->net), &d->peer, &src);
	engine_unlock(net_engine(d->net));
	ip_addr_format(&d->peer, text);
	if (rc != 0) {
		doctor_wrong(d, "there is no route to %s", text);
		doctor_advise(d,
			"add a \"gateway\" of that address family, or an \"address\" in the "
			"peer's network");
		return false;
	}
	if (!doctor_path_is_on_link(d, &d->peer) || doctor_path_is_neighbour(d, &d->peer))
		return true;
	doctor_wrong(d, "%s should be on our link, but does not answer %s", text,
		ip_addr_is_v4(&d->peer) ? "ARP" : "neighbour solicitations");
	doctor_advise(d,
		"see that the peer runs (a stack of ours lives only as long as its program), "
		"that both ports are in one network, and that the prefix length of \"address\" "
		"is right");
	return false;
}

bool doctor_look_at_path(struct doctor *d)
{
	char text[IP_ADDR_STRLEN];
	int rc;

	if (!doctor_path_look_at_route(d))
		return false;
	ip_addr_format(&d->peer, text);
	rc = doctor_path_ping(d, &d->peer, SMALL_PING, PING_MS);
	if (rc == -ETIMEDOUT)
		rc = doctor_path_ping(d, &d->peer, SMALL_PING, PING_MS);
	if (rc != 0) {
		doctor_note(d,
			"%s does not answer pings: it may not be there, or a firewall drops them; "
			"the MTU of the path cannot be seen",
			text);
		return true;
	}
	if (d->echo.state == ECHO_ERROR) {
		doctor_path_explain_error(d, text);
		return d->echo.error == IP_ERROR_ADMIN || d->echo.error == IP_ERROR_PROTO;
	}
	d->answers_ping = true;
	d->rtt_ns = d->echo.answered - d->echo.sent;
	doctor_good(d, "%s answers pings, in %.3f ms", text, (double)d->rtt_ns / 1e6);
	doctor_path_look_at_mtu(d);
	return true;
}
