/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/doctor.h"

#include "mpa/mpa.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_MS 5000
#define REPLY_MS   5000

/**
 * One connection attempt and its result; under the engine's lock until the attempt has ended.
 */
struct attempt {
	const struct mpa_config *config;
	struct mpa mpa;
	bool no_mpa;
	bool connected, over, replied, rejected, eof;
	int error; /**< of the connection, when it is over */
	uint8_t revision;
	bool crc, markers, enhanced;
	uint16_t ird, ord;
	char reason[128]; /**< why what came was no MPA; empty: none came */
};

/* ---- upcalls -------------------------------------------------------------------------------- */

static void doctor_peer_on_connected(void *user)
{
	struct attempt *a = user;

	a->connected = true;
	if (a->no_mpa)
		return;
	a->error = mpa_request(&a->mpa, 1, 1, NULL, 0);
	a->over = a->error != 0;
}

static void doctor_peer_on_reply(void *user, const struct mpa_start *st)
{
	struct attempt *a = user;

	a->replied = true;
	a->rejected = st->reject;
	a->revision = st->revision;
	a->crc = st->crc;
	a->markers = st->markers;
	a->enhanced = st->enhanced;
	a->ird = st->ird;
	a->ord = st->ord;
}

static void doctor_peer_on_error(void *user, enum mpa_error code, const char *reason)
{
	struct attempt *a = user;

	/* A reply that was read may still ask for what we do not want: that is the peer's MPA. */
	if (!a->replied && code != MPA_ERROR_CLOSED)
		snprintf(a->reason, sizeof a->reason, "%s", reason);
	a->over = true;
}

static void doctor_peer_on_eof(void *user)
{
	struct attempt *a = user;

	a->eof = true;
	a->over = true;
}

static void doctor_peer_on_closed(void *user, int error)
{
	struct attempt *a = user;

	a->error = error;
	a->over = true;
}

static void doctor_peer_on_nothing(void *user)
{
	(void)user;
}

static const struct mpa_user_ops doctor_peer_ops = {
	.connected = doctor_peer_on_connected,
	.reply = doctor_peer_on_reply,
	.error = doctor_peer_on_error,
	.writable = doctor_peer_on_nothing,
	.eof = doctor_peer_on_eof,
	.closed = doctor_peer_on_closed,
};

/* ---- one attempt ---------------------------------------------------------------------------- */

static bool doctor_peer_is_decided(void *ctx)
{
	const struct attempt *a = ctx;

	return a->over || a->replied || (a->connected && a->no_mpa);
}

static bool doctor_peer_is_connected(void *ctx)
{
	const struct attempt *a = ctx;

	return a->over || a->connected;
}

/** From here on the engine's thread tells what comes of it, perhaps before this returns. */
static void doctor_peer_begin(struct doctor *d, struct attempt *a)
{
	const struct llp_connect_params params = {
		.local.port = d->from, .remote = {d->peer, d->port}};
	struct llp *l;
	int rc;

	engine_lock(net_engine(d->net));
	rc = llp_connect(net_llp(d->net), &params, NULL, NULL, &l);
	if (rc == 0)
		mpa_init_initiator(&a->mpa, l, a->config, &doctor_peer_ops, a);
	a->error = rc;
	a->over = rc != 0;
	engine_unlock(net_engine(d->net));
}

static void doctor_peer_end(struct doctor *d, struct attempt *a)
{
	engine_lock(net_engine(d->net));
	/* Both do nothing where there is no connection. */
	if (a->connected && !a->over)
		mpa_release(&a->mpa);
	else
		mpa_abort(&a->mpa);
	engine_unlock(net_engine(d->net));
}

/** As far as the peer goes. From its end on nothing in @p a changes, so it is read without a lock.
 */
static void doctor_peer_attempt_run(struct doctor *d, struct attempt *a)
{
	doctor_peer_begin(d, a);
	if (doctor_wait(d, CONNECT_MS, doctor_peer_is_connected, a))
		doctor_wait(d, REPLY_MS, doctor_peer_is_decided, a);
	doctor_peer_end(d, a);
}

/* ---- what it tells -------------------------------------------------------------------------- */

static void doctor_peer_explain_no_connection(
	struct doctor *d, const struct attempt *a, const char *peer)
{
	int error = a->over ? a->error : -ETIMEDOUT;

	if (doctor_explain_tls(d, error, false, peer))
		return;
	switch (error) {
	case -ECONNREFUSED:
		doctor_wrong(d, "%s refuses connections to port %u: nobody listens there", peer,
			d->port);
		doctor_advise(d,
			"start the server first, see that it listens at this port (rping: 7174, "
			"perftest: 18515) and on this address");
		break;
	case -ETIMEDOUT:
		doctor_wrong(
			d, "%s does not answer a connection request to port %u", peer, d->port);
		doctor_advise(d,
			d->answers_ping
				? "it answers pings: so a firewall on the way or at the peer drops "
				  "TCP to this port; let it through"
				: "see that the peer runs, and that no firewall drops TCP to this "
				  "port");
		break;
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		doctor_wrong(d, "%s cannot be reached: %s", peer, strerror(-error));
		doctor_advise(d, "see to the routes on the way and that the peer runs");
		break;
	default:
		doctor_wrong(d, "the connection to %s port %u fails: %s", peer, d->port,
			strerror(-error));
		doctor_advise(d, "look for a firewall, of either host or on the way, that "
				 "refuses TCP to this port, and at the peer's own log");
		break;
	}
}

static void doctor_peer_explain_reply(struct doctor *d, const struct attempt *a, const char *peer)
{
	char depths[64] = "";

	if (a->enhanced)
		snprintf(depths, sizeof depths, ", IRD %u, ORD %u", a->ird, a->ord);
	if (a->rejected)
		doctor_good(d,
			"port %u of %s speaks MPA, and rejects a connection without the "
			"private data that its program wants",
			d->port, peer);
	else
		doctor_good(d, "port %u of %s speaks MPA: revision %u, CRC %s, markers %s%s",
			d->port, peer, a->revision, a->crc ? "on" : "off",
			a->markers ? "on" : "off", depths);
	if (d->config->mpa.crc == MPA_CRC_REQUIRED && !a->rejected && !a->crc) {
		doctor_wrong(d, "it does without CRCs, but our \"crc\" is \"required\"");
		doctor_advise(d, "set \"crc = preferred\", or switch CRCs on at the peer");
	}
}

static void doctor_peer_explain_no_mpa(struct doctor *d, const struct attempt *a, const char *peer)
{
	if (a->reason[0] != '\0') {
		doctor_wrong(
			d, "port %u of %s answers, but not with MPA: %s", d->port, peer, a->reason);
		doctor_advise(d,
			"something other than RDMA listens there; see what, with \"ss -tlnp\" on "
			"the peer, and use another port");
		return;
	}
	if (a->over) {
		doctor_wrong(d, "port %u of %s takes a connection, but ends it when it hears MPA%s",
			d->port, peer, a->eof ? "" : ", by a reset");
		doctor_advise(
			d, net_tls(d->net)
				   ? "it is probably no RDMA program: see what listens there, "
				     "with \"ss -tlnp\" on the peer, and use another port"
				   : "either it wants TLS (see \"tls\" of the peer), or it is no "
				     "RDMA program: see what listens there, with \"ss -tlnp\" "
				     "on the peer, and use another port");
		return;
	}
	doctor_wrong(d, "port %u of %s takes a connection, but does not answer MPA within %u s",
		d->port, peer, REPLY_MS / 1000);
	doctor_advise(d,
		"either something other than RDMA listens there, or the program does not look at "
		"its events");
}

/**
 * A peer that knows revision 1 only may end what begins with 2: RFC 6581 section 10. What it
 * answers to a connection that begins with 1.
 */
static bool doctor_peer_look_by_revision_1(struct doctor *d, const char *peer)
{
	struct mpa_config older = d->config->mpa;
	struct attempt a = {.config = &older};

	older.revision = 1;
	doctor_peer_attempt_run(d, &a);
	if (!a.replied)
		return false;
	doctor_peer_explain_reply(d, &a, peer);
	doctor_note(d, "it ends connections that begin with MPA revision 2, as our programs' do "
		       "before they try 1; \"mpa_revision = 1\" saves that");
	return true;
}

/** What came of it, once it is told whether there is a connection at all. */
static void doctor_peer_look_at_mpa(struct doctor *d, const struct attempt *a, const char *peer)
{
	doctor_good(d, "a TCP connection to port %u of %s comes about%s", d->port, peer,
		net_tls(d->net) ? ", and TLS on it" : "");
	if (d->only_tcp)
		return;
	if (a->replied)
		doctor_peer_explain_reply(d, a, peer);
	else if (a->over && doctor_explain_tls(d, a->error, true, peer))
		return;
	else if (!a->over || a->reason[0] != '\0' || d->config->mpa.revision == 1 ||
		 !doctor_peer_look_by_revision_1(d, peer))
		doctor_peer_explain_no_mpa(d, a, peer);
}

void doctor_look_at_peer(struct doctor *d)
{
	struct attempt a = {.config = &d->config->mpa, .no_mpa = d->only_tcp};
	char peer[IP_ADDR_STRLEN];

	ip_addr_format(&d->peer, peer);
	if (!doctor_map_port(d, peer))
		return;
	doctor_peer_attempt_run(d, &a);
	d->from = 0;
	if (a.connected)
		doctor_peer_look_at_mpa(d, &a, peer);
	else
		doctor_peer_explain_no_connection(d, &a, peer);
}
