/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS opposite a stranger, whose handshake is any bytes, and opposite a peer that has its keys and
 * sends records of any type, length and damage. What the user is shown is what was sealed as
 * application data before the first fault, and nothing else.
 */
#include "fuzz.h"
#include "support/llp_mem.h"
#include "tls/conn.h"

#include <stdio.h>
#include <unistd.h>

#define STEPS_MAX 1000000
#define PORT      7174
#define TEXT_MAX  (1 << 18)

static struct tls_config config;
static char psk_path[64];

struct user {
	struct fuzz *in;
	struct llp_mem *net;
	struct llp_mem_peer peer;
	struct tls_stack *stack;
	struct llp *llp;         /**< NULL: not there, or gone */
	struct tls_direction tx; /**< the peer's */
	uint8_t secret[TLS_SECRET_MAX];
	uint8_t *text; /**< what the user must be shown */
	size_t sealed, shown;
	unsigned closed;
	bool eof;
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	FILE *f;
	int fd;

	strcpy(psk_path, "/tmp/fuzz-tls-XXXXXX");
	fd = mkstemp(psk_path);
	MUST(fd >= 0);
	f = fdopen(fd, "w");
	MUST(f && fputs("fuzz:00112233445566778899aabbccddeeff\n", f) > 0 && fclose(f) == 0);
	config.mode = TLS_REQUIRED;
	strcpy(config.psk, psk_path);
	return 0;
}

/* ---- the user ---------------------------------------------------------------------------- */

static void send_some(struct user *u, uint32_t len)
{
	void *room = u->llp ? llp_reserve(u->llp, len, len & 1) : NULL;

	if (!room)
		return;
	memset(room, 0x5a, len);
	llp_commit(u->llp, len & 2 ? len : 0);
	llp_push(u->llp);
}

static void whim(struct user *u)
{
	uint8_t op = fuzz_u8(u->in);

	if (!u->llp)
		return;
	switch (op & 15) {
	case 1:
		llp_abort(u->llp);
		u->llp = NULL;
		break;
	case 2:
		llp_release(u->llp);
		u->llp = NULL;
		break;
	case 3:
		llp_shutdown(u->llp);
		break;
	case 4:
		llp_resume(u->llp);
		break;
	case 5:
		send_some(u, 1 + fuzz_u16(u->in) % TLS_CONTENT_MAX);
		break;
	}
}

static void on_connected(void *user)
{
	whim(user);
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct user *u = user;
	uint8_t op = fuzz_u8(u->in);
	size_t take = op & 1 ? total : total / (1 + (op >> 4)), at = u->shown;

	MUST(u->llp && n >= 1 && n <= 2 && !u->closed);
	MUST(u->shown + total <= u->sealed);
	for (unsigned i = 0; i < n; at += v[i++].len)
		MUST(memcmp(v[i].base, u->text + at, v[i].len) == 0);
	MUST(at == u->shown + total);
	if (op & 2 && take < total)
		*need = total - take + 1 + (op >> 4);
	if (op & 4)
		whim(u);
	u->shown += take;
	return take;
}

static void on_writable(void *user)
{
	whim(user);
}

static void on_eof(void *user)
{
	struct user *u = user;

	MUST(!u->eof && !u->closed);
	u->eof = true;
	whim(u);
}

static void on_closed(void *user, int error)
{
	struct user *u = user;

	MUST(error <= 0 && u->closed++ == 0);
	u->llp = NULL;
}

static const struct llp_user_ops ops = {
	.connected = on_connected,
	.readable = on_readable,
	.writable = on_writable,
	.eof = on_eof,
	.closed = on_closed,
};

static int on_accept(void *user, struct llp *l)
{
	struct user *u = user;

	u->llp = l;
	llp_set_user(l, &ops, u);
	return 0;
}

/* ---- the peer ---------------------------------------------------------------------------- */

static void send_raw(struct user *u, const uint8_t *bytes, size_t len)
{
	if (u->peer.llp && len)
		llp_mem_send_raw(u->peer.llp, bytes, len);
}

/** What a record with this content and type is to the user: a type of 0 is padding. */
static void account(struct user *u, const uint8_t *content, uint32_t len, uint8_t type)
{
	while (type == 0 && len != 0)
		type = content[--len];
	if (type != TLS_APPLICATION_DATA)
		return;
	memcpy(u->text + u->sealed, content, len);
	u->sealed += len;
}

/** A sealed record. @param flip a bit of it to be changed; 0: none. */
static void send_record(struct user *u, uint8_t type, uint32_t len, uint32_t flip)
{
	static uint8_t record[TLS_CONTENT_MAX + TLS_RECORD_OVERHEAD];
	size_t got;
	const uint8_t *from = fuzz_bytes(u->in, len, &got);

	memset(record + TLS_HEADER_LEN, 0x77, len);
	memcpy(record + TLS_HEADER_LEN, from, got);
	if (u->sealed + len > TEXT_MAX)
		return;
	account(u, record + TLS_HEADER_LEN, len, type);
	MUST(tls_record_seal(&u->tx, record, type, len));
	if (flip)
		record[flip / 8 % (len + TLS_RECORD_OVERHEAD)] ^= (uint8_t)(1 << flip % 8);
	send_raw(u, record, len + TLS_RECORD_OVERHEAD);
}

static void renew_keys(struct user *u)
{
	const uint8_t message[] = {TLS_KEY_UPDATE, 0, 0, 1, fuzz_u8(u->in) & 1};
	uint8_t record[sizeof message + TLS_RECORD_OVERHEAD];

	memcpy(record + TLS_HEADER_LEN, message, sizeof message);
	MUST(tls_record_seal(&u->tx, record, TLS_HANDSHAKE, sizeof message));
	send_raw(u, record, sizeof record);
	MUST(tls_suite_next_secret(u->tx.suite, u->secret));
	MUST(tls_direction_key(&u->tx, u->tx.suite, u->secret, true));
}

static void step(struct user *u, uint8_t op)
{
	const uint8_t *bytes;
	size_t n;

	switch (op & 15) {
	case 0:
	case 1:
		send_record(u, TLS_APPLICATION_DATA, 1 + fuzz_u16(u->in) % TLS_CONTENT_MAX, 0);
		break;
	case 2:
		send_record(u, fuzz_u8(u->in), 1 + fuzz_u8(u->in), 0);
		break;
	case 3:
		send_record(u, TLS_HANDSHAKE, 1 + fuzz_u8(u->in), 0);
		break;
	case 4:
		send_record(u, TLS_APPLICATION_DATA, 1 + fuzz_u8(u->in), fuzz_u16(u->in));
		break;
	case 5:
		renew_keys(u);
		break;
	case 6:
		bytes = fuzz_bytes(u->in, fuzz_u8(u->in), &n);
		send_raw(u, bytes, n);
		break;
	case 7:
		whim(u);
		break;
	case 8:
		if (u->peer.llp)
			llp_shutdown(u->peer.llp);
		break;
	case 9:
		llp_mem_set_segment(u->net, fuzz_u8(u->in));
		break;
	default:
		llp_mem_run(u->net, STEPS_MAX);
	}
}

/* ---- the connection ---------------------------------------------------------------------- */

/** As after a handshake whose secrets are known. */
static void skip_handshake(struct user *u, uint8_t suite)
{
	struct tls_conn *c = LIST_FIRST(&u->stack->conns);
	const struct tls_suite *s = tls_suite_find((uint16_t)(0x1301 + suite % 3));

	c->secrets = tls_secret_pool_get(&u->stack->credentials.secrets);
	MUST(c->secrets);
	memset(c->secrets, 0x42, sizeof *c->secrets);
	memset(u->secret, 0x42, sizeof u->secret);
	tls_handshake_free(c->handshake);
	c->handshake = NULL;
	MUST(tls_conn_place_keys(c, &c->tx, s) && tls_conn_place_keys(c, &c->rx, s));
	MUST(tls_direction_key(&c->tx, s, c->secrets->tx, true));
	MUST(tls_direction_key(&c->rx, s, c->secrets->rx, false));
	MUST(tls_direction_key(&u->tx, s, u->secret, true));
	c->state = TLS_CONN_OPEN;
}

/** Shared keys do not expire. */
static int64_t no_time(void)
{
	return 0;
}

static void fill(void *ctx, void *to, size_t len)
{
	memset(to, 0x5a, len);
}

/** @param kept_max as of tls_stack_config. */
static void begin(struct user *u, bool server, bool on, uint8_t records_max, size_t kept_max)
{
	static struct timer_wheel wheel;
	struct tls_stack_config cfg = {.below = llp_mem_stack(u->net, 0),
		.wheel = &wheel,
		.tls = &config,
		.records_max = records_max,
		.kept_max = kept_max,
		.random = {fill, NULL},
		.time = no_time};
	struct ip_endpoint at = llp_mem_endpoint(u->net, server ? 0 : 1, PORT);
	struct llp_connect_params p = {.remote = at};
	struct llp_listener *listener;
	struct tls_error e;

	timer_wheel_init(&wheel, 0);
	config.mode = on ? TLS_ON : TLS_REQUIRED;
	MUST(tls_stack_create(&cfg, &u->stack, &e) == 0);
	if (server) {
		MUST(!llp_listen(tls_llp_stack(u->stack), &at, 1, on_accept, u, &listener));
		llp_mem_peer_connect(&u->peer, u->net, 1, &at);
	} else {
		llp_mem_peer_listen(&u->peer, u->net, 1, PORT);
		MUST(!llp_connect(tls_llp_stack(u->stack), &p, &ops, u, &u->llp));
	}
	llp_mem_run(u->net, STEPS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	uint8_t mode = fuzz_u8(&in);
	struct user u = {.in = &in, .net = llp_mem_create(), .text = malloc(TEXT_MAX)};
	struct fuzz nothing = {NULL, 0};

	u.in = &nothing; /* no whims before it is connected */
	begin(&u, mode & 1, mode & 2, mode & 4 ? 3 : 0, mode & 0x80 ? 2000 : 0);
	u.in = &in;
	if (mode & 8) {
		size_t n;
		const uint8_t *bytes;

		/* A stranger. What comes in the clear is not compared: it is not TLS's. */
		llp_mem_set_segment(u.net, fuzz_u8(&in));
		bytes = fuzz_bytes(&in, SIZE_MAX, &n);
		if (n && (*bytes == TLS_HANDSHAKE || !(mode & 2) || !(mode & 1)))
			send_raw(&u, bytes, n);
		llp_mem_run(u.net, STEPS_MAX);
		MUST(u.shown == 0);
	} else if (u.llp) {
		skip_handshake(&u, mode >> 4);
		while (in.left)
			step(&u, fuzz_u8(&in));
		llp_mem_run(u.net, STEPS_MAX);
	}
	if (u.llp)
		llp_abort(u.llp);
	llp_mem_peer_done(&u.peer);
	llp_mem_run(u.net, STEPS_MAX);
	tls_direction_clear(&u.tx);
	llp_mem_destroy(u.net);
	tls_stack_destroy(u.stack);
	free(u.text);
	return 0;
}
