/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/doctor.h"

#include "tls/tls.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define DAY INT64_C(86400)
/** From here on it is time to think of a new one. */
#define DAYS_FEW 14

/* ---- our certificate ------------------------------------------------------------------------ */

static void doctor_tls_look_at_time(struct doctor *d, const struct tls_certificate *c)
{
	const char *path = d->config->tls.certificate;
	int64_t days = c->seconds_left / DAY;
	const char *unit = days == 1 ? "day" : "days";

	if (c->seconds_until > 0) {
		doctor_wrong(d, "tls_certificate \"%s\" is not valid before %" PRId64 " s from now",
			path, c->seconds_until);
		doctor_advise(d, "see to this host's clock (\"date\"), or get another certificate");
	} else if (c->seconds_left < 0) {
		doctor_wrong(d, "tls_certificate \"%s\" has expired", path);
		doctor_advise(d, "put a new one in its place: it is read again by itself");
	} else if (days < DAYS_FEW) {
		doctor_note(d,
			"tls_certificate expires in %" PRId64 " %s; a new one is read by itself",
			days, unit);
	} else {
		doctor_good(d, "tls_certificate expires in %" PRId64 " %s", days, unit);
	}
}

/** Who connects to an address looks for it in the certificate, unless told of another name. */
static void doctor_tls_look_at_names(struct doctor *d)
{
	struct tls_certificate c;
	struct tls_error e;
	char text[IP_ADDR_STRLEN];

	for (unsigned i = 0; i < d->config->num_addresses; i++) {
		const struct ip_addr *a = &d->config->address[i].addr;

		if (!ip_addr_is_loopback(a) &&
			tls_certificate_read(d->config->tls.certificate, a, &c, &e) == 0 &&
			!c.has_addr)
			doctor_note(d,
				"tls_certificate does not name our address %s: who connects "
				"to it needs \"tls_peer_name\"",
				ip_addr_format(a, text));
	}
}

void doctor_look_at_certificate(struct doctor *d)
{
	struct tls_certificate c;
	struct tls_error e;

	if (d->config->tls.mode == TLS_OFF || d->config->tls.certificate[0] == '\0')
		return;
	if (tls_certificate_read(d->config->tls.certificate, NULL, &c, &e) != 0)
		return; /* the stack does not start then, and says why */
	doctor_tls_look_at_time(d, &c);
	doctor_tls_look_at_names(d);
}

/* ---- a peer --------------------------------------------------------------------------------- */

/** Words of a reason, OpenSSL's among them, and what to do. */
static const struct {
	const char *words, *advice;
} doctor_tls_advice[] = {
	{"does not speak TLS", "set \"tls\" there, or \"tls = off\" here"},
	{"hostname mismatch",
		"let the peer's certificate name the address that we connect to, or give "
		"a name that it has as \"tls_peer_name\""},
	/* Of the alerts of a peer that has looked at us. */
	{"alert \"certificate expired", "renew this host's \"tls_certificate\", or see to the "
					"peer's clock"},
	{"expired", "renew the peer's certificate, or see to this host's clock"},
	{"not yet valid", "see to the clocks of both hosts (\"date\")"},
	{"certificate: ", "let \"tls_ca\" have the certificate of the CA that issued the peer's"},
	{"pre-shared key", "let the \"tls_psk\" of both hosts have the same key"},
	{"unknown ca", "the peer does not know our CA: let its \"tls_ca\" have it"},
	{"certificate", "the peer does not believe our certificate: see its log"},
	{"alert", "the peer does not believe us: see its log, and whether both have the same key "
		  "of \"tls_psk\", or both certificates"},
};

static void doctor_tls_advise(struct doctor *d, const char *reason)
{
	for (size_t i = 0; i < sizeof doctor_tls_advice / sizeof doctor_tls_advice[0]; i++) {
		if (!strcasestr(reason, doctor_tls_advice[i].words))
			continue;
		doctor_advise(d, "%s", doctor_tls_advice[i].advice);
		return;
	}
	doctor_advise(d, "see the peer's log");
}

bool doctor_explain_tls(struct doctor *d, int error, bool connected, const char *peer)
{
	const char *reason;

	if (!net_tls(d->net))
		return false;
	reason = tls_stack_reason(net_tls(d->net));
	if (error == -EKEYREJECTED || error == -EPROTO) {
		doctor_wrong(d, "there is no TLS with port %u of %s: %s", d->port, peer, reason);
		doctor_tls_advise(d, reason);
	} else if (error == -ECONNRESET && connected) {
		/* With TLS 1.3 a client is through before the server has looked at it. */
		doctor_wrong(d,
			"port %u of %s ends the connection behind its part of TLS: it does not "
			"believe us",
			d->port, peer);
		doctor_advise(d, "see its log; its \"tls_ca\" must have the CA of our certificate");
	} else if (error == -ECONNRESET) {
		doctor_wrong(d,
			"port %u of %s takes a connection, but ends it when it hears TLS: it "
			"speaks none",
			d->port, peer);
		doctor_advise(d, "set \"tls\" there, or \"tls = off\" here");
	} else {
		return false;
	}
	return true;
}
