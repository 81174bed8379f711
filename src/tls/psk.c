/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/psk.h"

#include "base/hex.h"
#include "base/secret_file.h"
#include "base/secret_memory.h"
#include "base/siphash.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <string.h>

#define TLS_PSK_IDENTITY_MAX 128
#define TLS_PSK_KEY_MIN      16 /**< bytes: a guessed key is no key */
#define TLS_PSK_KEY_MAX      64
#define TLS_PSK_LINE_MAX     (TLS_PSK_IDENTITY_MAX + 2 * TLS_PSK_KEY_MAX + 4)
#define TLS_PSK_COUNT_MAX    4096
#define TLS_PSK_SLOTS        (2 * TLS_PSK_COUNT_MAX)
/** OpenSSL's context of sessions: of ours there is one. */
static const uint8_t tls_psk_context[] = {'i', 'w', 'a', 'r', 'p'};

struct tls_psk {
	char identity[TLS_PSK_IDENTITY_MAX + 1];
	uint8_t identity_len;
	uint8_t key[TLS_PSK_KEY_MAX];
	size_t key_len;
};

struct tls_psk_list {
	size_t n;
	struct tls_psk psk[TLS_PSK_COUNT_MAX];
	uint16_t slot[TLS_PSK_SLOTS]; /**< by identity: a key's index + 1; 0: none */
};

/** @return what is wrong with the line, or NULL. */
static const char *tls_psk_parse(char *line, struct tls_psk *p)
{
	char *key = strrchr(line, ':');
	size_t len;

	if (!key || key == line)
		return "expected identity:key";
	*key++ = '\0';
	if ((size_t)(key - 1 - line) > TLS_PSK_IDENTITY_MAX)
		return "expected an identity of at most 128 bytes";
	len = strlen(key);
	if (len % 2 != 0 || len < 2 * TLS_PSK_KEY_MIN || len > 2 * TLS_PSK_KEY_MAX)
		return "expected a key of 32 to 128 hexadecimal digits";
	if (!hex_octets(key, len / 2, p->key))
		return "expected a key of 32 to 128 hexadecimal digits";
	p->key_len = len / 2;
	p->identity_len = (uint8_t)strlen(line);
	memcpy(p->identity, line, (size_t)p->identity_len + 1);
	return NULL;
}

/**
 * The slot of this identity, or the free one where it belongs. Who has written the file has chosen
 * them all, so no random key is needed.
 */
static size_t tls_psk_slot(const struct tls_psk_list *l, const void *id, size_t len)
{
	static const struct siphash_key key;
	size_t at = siphash(&key, id, len) % TLS_PSK_SLOTS;

	for (; l->slot[at] != 0; at = (at + 1) % TLS_PSK_SLOTS) {
		const struct tls_psk *p = &l->psk[l->slot[at] - 1];

		if (p->identity_len == len && !memcmp(p->identity, id, len))
			break;
	}
	return at;
}

/** @return the key of this identity, or NULL. */
static const struct tls_psk *tls_psk_of(const struct tls_psk_list *l, const void *id, size_t len)
{
	size_t at = tls_psk_slot(l, id, len);

	return l->slot[at] != 0 ? &l->psk[l->slot[at] - 1] : NULL;
}

/** Add the key behind the last one. @return false: there is one of this identity. */
static bool tls_psk_add(struct tls_psk_list *l)
{
	const struct tls_psk *p = &l->psk[l->n];
	size_t at = tls_psk_slot(l, p->identity, p->identity_len);

	if (l->slot[at] != 0)
		return false;
	l->slot[at] = (uint16_t)++l->n;
	return true;
}

/** @return what is wrong in line @p number, or NULL. */
static const char *tls_psk_read_lines(FILE *f, struct tls_psk_list *l, unsigned *number)
{
	char line[TLS_PSK_LINE_MAX];
	const char *why = NULL;

	for (*number = 1; !why && fgets(line, sizeof line, f); (*number)++) {
		size_t len = strcspn(line, "\r\n");

		if (line[len] == '\0' && !feof(f)) {
			why = "the line is too long";
			break;
		}
		line[len] = '\0';
		if (len == 0 || line[0] == '#')
			continue;
		if (l->n == TLS_PSK_COUNT_MAX) {
			why = "expected at most 4096 keys";
			break;
		}
		why = tls_psk_parse(line, &l->psk[l->n]);
		if (why)
			break;
		if (!tls_psk_add(l)) {
			why = "another key has this identity already";
			break;
		}
	}
	OPENSSL_cleanse(line, sizeof line);
	return why ? why : secret_file_end(f);
}

int tls_psk_read(const char *path, struct tls_psk_list **out, struct tls_error *e)
{
	char buffer[BUFSIZ];
	const char *why;
	unsigned number;
	int rc;
	FILE *f = secret_file_open(path, "tls_psk", &rc, e->text, sizeof e->text);

	if (!f)
		return rc;
	*out = secret_memory_map(sizeof **out);
	if (!*out) {
		fclose(f);
		snprintf(e->text, sizeof e->text, "tls_psk: no memory");
		return -ENOMEM;
	}
	setvbuf(f, buffer, _IOFBF, sizeof buffer);
	why = tls_psk_read_lines(f, *out, &number);
	fclose(f);
	OPENSSL_cleanse(buffer, sizeof buffer);
	if (!why && (*out)->n != 0)
		return 0;
	if (why)
		snprintf(e->text, sizeof e->text, "tls_psk \"%.300s\" line %u: %s", path, number,
			why);
	else
		snprintf(
			e->text, sizeof e->text, "tls_psk \"%.300s\": there is no key in it", path);
	tls_psk_free(*out);
	*out = NULL;
	return secret_file_error(why);
}

void tls_psk_free(struct tls_psk_list *l)
{
	secret_memory_unmap(l, sizeof *l);
}

/* ---- for OpenSSL ------------------------------------------------------------------------- */

/** A session that stands for the key. SHA-256 is its hash (RFC 8446 section 4.2.11). */
static SSL_SESSION *tls_psk_session(SSL *ssl, const struct tls_psk *p)
{
	static const uint8_t suite[] = {0x13, 0x01};
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, suite);
	SSL_SESSION *s = SSL_SESSION_new();

	/* OpenSSL wants to know that it belongs here before it takes it instead of a certificate.
	 */
	if (s && cipher &&
		SSL_SESSION_set1_id_context(s, tls_psk_context, sizeof tls_psk_context) == 1 &&
		SSL_SESSION_set1_master_key(s, p->key, p->key_len) == 1 &&
		SSL_SESSION_set_cipher(s, cipher) == 1 &&
		SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION) == 1)
		return s;
	SSL_SESSION_free(s);
	return NULL;
}

static struct tls_psk_list *tls_psk_list_of(SSL *ssl)
{
	return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
}

static int tls_psk_offer(
	SSL *ssl, const EVP_MD *hash, const unsigned char **id, size_t *len, SSL_SESSION **out)
{
	const struct tls_psk *p = &tls_psk_list_of(ssl)->psk[0];

	*id = NULL;
	*len = 0;
	*out = NULL;
	if (hash && EVP_MD_get_type(hash) != NID_sha256)
		return 1; /* after a HelloRetryRequest for a suite with another hash */
	*out = tls_psk_session(ssl, p);
	if (!*out)
		return 0;
	*id = (const unsigned char *)p->identity;
	*len = p->identity_len;
	return 1;
}

static int tls_psk_find(SSL *ssl, const unsigned char *id, size_t len, SSL_SESSION **out)
{
	const struct tls_psk *p = tls_psk_of(tls_psk_list_of(ssl), id, len);

	*out = p ? tls_psk_session(ssl, p) : NULL;
	return !p || *out;
}

bool tls_psk_use(struct tls_psk_list *l, SSL_CTX *ctx)
{
	SSL_CTX_set_app_data(ctx, l);
	SSL_CTX_set_psk_use_session_callback(ctx, tls_psk_offer);
	SSL_CTX_set_psk_find_session_callback(ctx, tls_psk_find);
	return SSL_CTX_set_session_id_context(ctx, tls_psk_context, sizeof tls_psk_context) == 1;
}
