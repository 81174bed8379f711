/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/session.h"

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
