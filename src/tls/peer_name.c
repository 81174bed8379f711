/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/peer_name.h"

#include <openssl/x509v3.h>
#include <string.h>
#include <strings.h>

/** "*.rest" stands for any one label before the rest. */
static bool tls_peer_name_like(const char *pattern, const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && dot != name && strcasecmp(pattern + 1, dot) == 0;
}

/** Does any DNS name of @p names fit @p pattern, which begins with "*."? */
static bool tls_peer_name_any_like(const GENERAL_NAMES *names, const char *pattern)
{
	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *g = sk_GENERAL_NAME_value(names, i);
		const char *text;

		if (g->type != GEN_DNS)
			continue;
		text = (const char *)ASN1_STRING_get0_data(g->d.dNSName);
		/* A zero byte inside is a trick. */
		if (strlen(text) == (size_t)ASN1_STRING_length(g->d.dNSName) &&
			tls_peer_name_like(pattern, text))
			return true;
	}
	return false;
}

static bool tls_peer_name_matches_one(X509 *certificate, const char *name)
{
	GENERAL_NAMES *names;
	bool like;

	if (strncmp(name, "*.", 2) != 0)
		return X509_check_ip_asc(certificate, name, 0) == 1 ||
		       X509_check_host(certificate, name, 0,
			       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
				       X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
			       NULL) == 1;
	names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
	like = names && tls_peer_name_any_like(names, name);
	GENERAL_NAMES_free(names);
	return like;
}

bool tls_peer_name_matches(X509 *certificate, const char *names)
{
	char list[256], *save = NULL;
	size_t len = strlen(names);

	if (len >= sizeof list)
		return false;
	memcpy(list, names, len + 1);
	for (const char *one = strtok_r(list, ", \t", &save); one;
		one = strtok_r(NULL, ", \t", &save))
		if (tls_peer_name_matches_one(certificate, one))
			return true;
	return false;
}

bool tls_peer_name_has_addr(X509 *certificate, const struct ip_addr *addr)
{
	char text[IP_ADDR_STRLEN];

	return X509_check_ip_asc(certificate, ip_addr_format(addr, text), 0) == 1;
}
