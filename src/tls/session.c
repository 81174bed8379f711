/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/session.h"

#include "base/bytes.h"

#include <string.h>

static struct tls_session *tls_session_find(
	struct tls_session_list *l, const struct ip_endpoint *server)
{
	for (unsigned i = 0; i < TLS_SESSION_COUNT; i++) {
		struct tls_session *s = &l->of[i];

		if (s->session && s->server.port == server->port &&
			ip_addr_equal(&s->server.addr, &server->addr))
			return s;
	}
	return NULL;
}

void tls_session_put(
	struct tls_session_list *l, const struct ip_endpoint *server, SSL_SESSION *session)
{
	struct tls_session *s = tls_session_find(l, server);

	if (!s) {
		s = &l->of[l->next];
		l->next = (l->next + 1) % TLS_SESSION_COUNT;
	}
	SSL_SESSION_free(s->session);
	*s = (struct tls_session){*server, session};
}

SSL_SESSION *tls_session_take(struct tls_session_list *l, const struct ip_endpoint *server)
{
	struct tls_session *s = tls_session_find(l, server);
	SSL_SESSION *session = s ? s->session : NULL;

	if (s)
		s->session = NULL;
	return session;
}

void tls_session_clear(struct tls_session_list *l)
{
	for (unsigned i = 0; i < TLS_SESSION_COUNT; i++)
		SSL_SESSION_free(l->of[i].session);
	*l = (struct tls_session_list){0};
}

/* ---- those that we have given tickets for -------------------------------------------------- */

static unsigned tls_session_place(const uint8_t *name, unsigned len)
{
	return len >= 2 ? load_be16(name) % TLS_SESSION_GIVEN : 0;
}

void tls_session_give(struct tls_session_given *g, SSL_SESSION *session)
{
	unsigned len;
	const uint8_t *name = SSL_SESSION_get_id(session, &len);
	SSL_SESSION **place = &g->of[tls_session_place(name, len)];

	SSL_SESSION_free(*place);
	*place = session;
}

SSL_SESSION *tls_session_find_given(
	const struct tls_session_given *g, const uint8_t *name, unsigned len)
{
	SSL_SESSION *s = g->of[tls_session_place(name, len)];
	unsigned its_len;
	const uint8_t *its = s ? SSL_SESSION_get_id(s, &its_len) : NULL;

	return its && its_len == len && memcmp(its, name, len) == 0 ? s : NULL;
}

void tls_session_clear_given(struct tls_session_given *g)
{
	for (unsigned i = 0; i < TLS_SESSION_GIVEN; i++)
		SSL_SESSION_free(g->of[i]);
	*g = (struct tls_session_given){0};
}
