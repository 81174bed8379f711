/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole handshakes of TLS with OpenSSL at the other end, whose certificate has any names, is of our
 * CA or not, has expired or not, and comes with others or without; and then a second connection by
 * the ticket of the first, some days later. Who is believed is who may be.
 */
#include "fuzz.h"
#include "support/llp_mem.h"
#include "support/tls_end.h"
#include "support/tls_files.h"
#include "tls/conn.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <openssl/x509v3.h>
#include <time.h>

#define PORT      7174
#define STEPS_MAX 1000000
#define DAY       86400
#define DAYS_GOOD 10
#define SAN_MAX   512

enum {
	OURS_IS_SERVER = 1,
	BY_PATTERN = 2,
	OF_STRANGERS_CA = 4,
	EXPIRED = 8,
	WITH_OTHERS = 16,
	RAW_NAMES = 32,
	AGAIN = 64,
	LATER = 128,
};

static struct tls_files files, strangers;
static struct tls_config config;
static EVP_PKEY *peer_key;
static int64_t passed; /* seconds since the certificates were made */

struct world {
	struct fuzz *in;
	uint8_t mode;
	struct llp_mem *net;
	struct tls_stack *stack;
	struct timer_wheel wheel;
	struct llp_listener *listener;
	struct llp *llp;
	bool connected;
	X509 *certificate;
	uint8_t san[SAN_MAX]; /**< its names, as they stand in it */
	size_t san_len;
	SSL_SESSION *session; /**< of the connection before */
};

static void clean_up(void)
{
	tls_files_close(&strangers);
	tls_files_close(&files);
	EVP_PKEY_free(peer_key);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	MUST(atexit(clean_up) == 0);
	tls_files_open(&files);
	tls_files_open(&strangers);
	tls_files_issue(&files, "ours", "IP:10.0.0.1", 1000);
	tls_files_config(&files, "ours", &config);
	peer_key = EVP_EC_gen("P-256");
	MUST(peer_key);
	return 0;
}

/* ---- the peer's certificate -------------------------------------------------------------- */

static void add_name(GENERAL_NAMES *names, struct fuzz *in)
{
	static const int types[] = {GEN_DNS, GEN_IPADD, GEN_URI, GEN_EMAIL};
	GENERAL_NAME *g = GENERAL_NAME_new();
	ASN1_STRING *text = ASN1_STRING_type_new(V_ASN1_IA5STRING);
	int type = types[fuzz_u8(in) & 3];
	const uint8_t *bytes;
	size_t n;

	MUST(g && text);
	if (type == GEN_IPADD)
		ASN1_STRING_free(text), text = ASN1_STRING_type_new(V_ASN1_OCTET_STRING);
	bytes = fuzz_bytes(in, fuzz_u8(in) & 63, &n);
	MUST(ASN1_STRING_set(text, bytes, (int)n) == 1);
	GENERAL_NAME_set0_value(g, type, text);
	MUST(sk_GENERAL_NAME_push(names, g) > 0);
}

/** Names of their types, or any bytes where they belong. */
static void make_names(struct world *w)
{
	GENERAL_NAMES *names;
	uint8_t *der = NULL;
	const uint8_t *bytes;
	int len;

	if (w->mode & RAW_NAMES) {
		bytes = fuzz_bytes(w->in, fuzz_u8(w->in), &w->san_len);
		memcpy(w->san, bytes, w->san_len);
		return;
	}
	names = GENERAL_NAMES_new();
	MUST(names);
	for (unsigned n = fuzz_u8(w->in) & 3; n; n--)
		add_name(names, w->in);
	len = i2d_GENERAL_NAMES(names, &der);
	MUST(len >= 0 && len <= SAN_MAX);
	memcpy(w->san, der, (size_t)len);
	w->san_len = (size_t)len;
	OPENSSL_free(der);
	GENERAL_NAMES_free(names);
}

static void add_san(struct world *w)
{
	ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
	X509_EXTENSION *e;

	MUST(value && ASN1_OCTET_STRING_set(value, w->san, (int)w->san_len) == 1);
	e = X509_EXTENSION_create_by_NID(NULL, NID_subject_alt_name, 0, value);
	MUST(e && X509_add_ext(w->certificate, e, -1) == 1);
	X509_EXTENSION_free(e);
	ASN1_OCTET_STRING_free(value);
}

static void make_certificate(struct world *w)
{
	const struct tls_files *by = w->mode & OF_STRANGERS_CA ? &strangers : &files;
	static long serial;
	X509 *x = w->certificate = X509_new();

	MUST(x && X509_set_version(x, 2) == 1);
	ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(x), -10 * DAY);
	X509_gmtime_adj(X509_getm_notAfter(x), w->mode & EXPIRED ? -DAY : DAYS_GOOD * DAY);
	MUST(X509_set_pubkey(x, peer_key) == 1);
	MUST(X509_set_issuer_name(x, X509_get_subject_name(by->ca)) == 1);
	make_names(w);
	if (w->san_len)
		add_san(w);
	MUST(X509_sign(x, by->ca_key, EVP_sha256()) > 0);
}

/* ---- who may be believed ----------------------------------------------------------------- */

/** Are @p len bytes in the names of the certificate, whatever case letters have? */
static bool names_have(const struct world *w, const void *bytes, size_t len)
{
	for (size_t at = 0; len <= w->san_len && at <= w->san_len - len; at++) {
		size_t i = 0;

		while (i < len && tolower(w->san[at + i]) == tolower(((const uint8_t *)bytes)[i]))
			i++;
		if (i == len)
			return true;
	}
	return false;
}

/** Of a name each certificate that has it has at least what is behind the first label. */
static bool may_have_name(const struct world *w, const char *name)
{
	const char *dot = strchr(name, '.');
	uint8_t addr[16];

	if (inet_pton(AF_INET, name, addr) == 1 && names_have(w, addr, 4))
		return true;
	if (inet_pton(AF_INET6, name, addr) == 1 && names_have(w, addr, 16))
		return true;
	return names_have(w, dot ? dot : name, strlen(dot ? dot : name));
}

static bool may_have_the_name(const struct world *w)
{
	const struct ip_addr addr = llp_mem_endpoint(w->net, 1, PORT).addr;
	char names[sizeof config.peer_name], *save = NULL;

	if (config.peer_name[0] == '\0')
		return w->mode & OURS_IS_SERVER || names_have(w, addr.b + 12, 4) ||
		       names_have(w, addr.b, 16);
	strcpy(names, config.peer_name);
	for (char *one = strtok_r(names, ", \t", &save); one; one = strtok_r(NULL, ", \t", &save))
		if (may_have_name(w, one))
			return true;
	return false;
}

static bool may_be_believed(const struct world *w)
{
	return !(w->mode & (OF_STRANGERS_CA | EXPIRED)) && passed < DAYS_GOOD * DAY &&
	       may_have_the_name(w);
}

/* ---- the user ---------------------------------------------------------------------------- */

static void on_connected(void *user)
{
	((struct world *)user)->connected = true;
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	MUST(((struct world *)user)->connected);
	return total;
}

static void on_nothing(void *user)
{
}

static void on_closed(void *user, int error)
{
	((struct world *)user)->llp = NULL;
}

static const struct llp_user_ops ops = {
	.connected = on_connected,
	.readable = on_readable,
	.writable = on_nothing,
	.eof = on_nothing,
	.closed = on_closed,
};

static int on_accept(void *user, struct llp *l)
{
	struct world *w = user;

	w->llp = l;
	llp_set_user(l, &ops, w);
	return 0;
}

/* ---- a connection ------------------------------------------------------------------------ */

static void show_certificates(struct world *w, SSL *ssl)
{
	MUST(SSL_use_certificate(ssl, w->certificate) == 1);
	MUST(SSL_use_PrivateKey(ssl, peer_key) == 1);
	if (w->mode & WITH_OTHERS) {
		MUST(SSL_add1_chain_cert(ssl, strangers.ca) == 1);
		MUST(SSL_add1_chain_cert(ssl, w->certificate) == 1);
	}
}

static void connect_once(struct world *w)
{
	static const struct tls_config nobody;
	struct llp_connect_params p = {.remote = llp_mem_endpoint(w->net, 1, PORT)};
	struct ip_endpoint to = llp_mem_endpoint(w->net, 0, PORT);
	struct tls_end peer;

	w->connected = false;
	tls_end_init(&peer, &nobody, !(w->mode & OURS_IS_SERVER));
	show_certificates(w, peer.ssl);
	if (w->session)
		MUST(SSL_set_session(peer.ssl, w->session) == 1);
	if (w->mode & OURS_IS_SERVER) {
		llp_mem_peer_connect(&peer.raw, w->net, 1, &to);
	} else {
		llp_mem_peer_listen(&peer.raw, w->net, 1, PORT);
		MUST(!llp_connect(tls_llp_stack(w->stack), &p, &ops, w, &w->llp));
	}
	tls_end_run(&peer, w->net);
	MUST(!w->connected || may_be_believed(w));
	if (peer.done && w->llp)
		tls_end_write(&peer, "text", 4);
	tls_end_run(&peer, w->net);
	SSL_SESSION_free(w->session);
	w->session = w->mode & OURS_IS_SERVER ? SSL_get1_session(peer.ssl) : NULL;
	if (w->llp)
		llp_abort(w->llp);
	w->llp = NULL;
	tls_end_fini(&peer);
	llp_mem_run(w->net, STEPS_MAX);
}

static int64_t seconds(void)
{
	return time(NULL) + passed;
}

static void fill(void *ctx, void *to, size_t len)
{
	memset(to, 0x5a, len);
}

static void begin(struct world *w)
{
	struct ip_endpoint at = llp_mem_endpoint(w->net, 0, PORT);
	struct tls_stack_config cfg = {.below = llp_mem_stack(w->net, 0),
		.wheel = &w->wheel,
		.tls = &config,
		.random = {fill, NULL},
		.time = seconds};
	struct tls_error e;

	timer_wheel_init(&w->wheel, 0);
	MUST(tls_stack_create(&cfg, &w->stack, &e) == 0);
	if (w->mode & OURS_IS_SERVER)
		MUST(!llp_listen(tls_llp_stack(w->stack), &at, 4, on_accept, w, &w->listener));
}

/** Text of the configuration has no zero bytes. */
static void choose_pattern(struct world *w)
{
	size_t n;
	const uint8_t *bytes = fuzz_bytes(w->in, fuzz_u8(w->in) & 63, &n);

	for (size_t i = 0; i < n; i++)
		config.peer_name[i] = bytes[i] ? (char)bytes[i] : '.';
	config.peer_name[n] = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	struct world w = {.in = &in, .mode = fuzz_u8(&in), .net = llp_mem_create()};

	passed = 0;
	config.peer_name[0] = '\0';
	if (w.mode & BY_PATTERN)
		choose_pattern(&w);
	make_certificate(&w);
	begin(&w);
	connect_once(&w);
	if (w.mode & AGAIN) {
		passed = w.mode & LATER ? 2 * DAYS_GOOD * DAY : DAY / 24;
		connect_once(&w);
	}
	if (w.listener)
		llp_unlisten(tls_llp_stack(w.stack), w.listener);
	SSL_SESSION_free(w.session);
	X509_free(w.certificate);
	llp_mem_destroy(w.net);
	tls_stack_destroy(w.stack);
	return 0;
}
