/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls_user.h"

#include <errno.h>
#include <string.h>

static void user_connected(void *user)
{
	struct tls_user *u = user;

	assert_false(u->connected);
	u->connected = true;
	u->protected_ = llp_protects(u->llp);
}

static size_t user_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct tls_user *u = user;
	size_t take = total;

	u->shown++;
	if (u->abort_in_readable) {
		llp_abort(u->llp);
		u->llp = NULL;
		return 0;
	}
	if (u->pause)
		return 0;
	if (u->chunk != 0) {
		take = total / u->chunk * u->chunk;
		*need = take < total ? u->chunk : 0;
	}
	assert_true(take <= TLS_USER_ROOM - u->rx_len);
	for (size_t left = take; left != 0 && n != 0; v++, n--) {
		size_t run = v->len < left ? v->len : left;

		assert_int_not_equal(v->len, 0);
		memcpy(u->rx + u->rx_len, v->base, run);
		u->rx_len += run;
		left -= run;
	}
	return take;
}

static void user_acked(void *user)
{
	((struct tls_user *)user)->acked++;
}

static void user_writable(void *user)
{
	((struct tls_user *)user)->writable++;
}

static void user_eof(void *user)
{
	struct tls_user *u = user;

	assert_false(u->eof);
	u->eof = true;
}

static void user_eof_waits(void *user)
{
	struct tls_user *u = user;

	assert_false(u->eof);
	u->eof_waits++;
}

static void user_closed(void *user, int error)
{
	struct tls_user *u = user;

	assert_false(u->closed);
	u->llp = NULL;
	u->closed = true;
	u->error = error;
}

static const struct llp_user_ops user_ops = {
	.connected = user_connected,
	.readable = user_readable,
	.writable = user_writable,
	.acked = user_acked,
	.eof = user_eof,
	.eof_waits = user_eof_waits,
	.closed = user_closed,
};

static void user_log(void *ctx, enum log_level level, const char *text)
{
	print_message("%s\n", text);
}

static const struct log_sink user_sink = {.line = user_log, .max_level = LOG_LEVEL_INFO};

uint64_t tls_user_now;

void tls_user_pass(struct tls_user *u, uint64_t ns)
{
	tls_user_now += ns;
	timer_wheel_run(&u->wheel, tls_user_now);
}

static uint64_t user_now(const void *ctx)
{
	return tls_user_now;
}

static void user_fill(void *ctx, void *to, size_t len)
{
	memset(to, 0x5a, len);
}

void tls_user_open(struct tls_user *u, struct llp_mem *m, unsigned host, const struct tls_config *c,
	uint64_t records_max)
{
	const struct tls_stack_config cfg = {.below = llp_mem_stack(m, host),
		.wheel = &u->wheel,
		.tls = c,
		.log = &user_sink,
		.records_max = records_max,
		.now = user_now,
		.random = {user_fill, NULL},
		.time = tls_files_time};
	struct tls_error e;

	memset(u, 0, sizeof *u);
	timer_wheel_init(&u->wheel, tls_user_now);
	if (tls_stack_create(&cfg, &u->stack, &e) != 0)
		fail_msg("%s", e.text);
}

void tls_user_close(struct tls_user *u)
{
	if (u->llp)
		llp_abort(u->llp);
	if (u->listener)
		llp_unlisten(tls_llp_stack(u->stack), u->listener);
	tls_stack_destroy(u->stack);
}

void tls_user_connect(struct tls_user *u, struct llp_mem *m, unsigned to, uint16_t port)
{
	struct llp_connect_params p = {.remote = llp_mem_endpoint(m, to, port)};

	assert_int_equal(llp_connect(tls_llp_stack(u->stack), &p, &user_ops, u, &u->llp), 0);
}

static int user_accept(void *user, struct llp *l)
{
	struct tls_user *u = user;

	if (u->llp)
		return -EBUSY;
	u->llp = l;
	if (u->demand_addr)
		llp_demand_addr(l);
	llp_set_user(l, &user_ops, u);
	return 0;
}

void tls_user_listen(struct tls_user *u, struct llp_mem *m, unsigned host, uint16_t port)
{
	struct ip_endpoint local = llp_mem_endpoint(m, host, port);

	assert_int_equal(
		llp_listen(tls_llp_stack(u->stack), &local, 4, user_accept, u, &u->listener), 0);
}

bool tls_user_send(struct tls_user *u, const void *bytes, uint32_t len)
{
	void *room = llp_reserve(u->llp, len, true);

	if (!room)
		return false;
	memcpy(room, bytes, len);
	llp_commit(u->llp, len);
	llp_push(u->llp);
	return true;
}

uint8_t tls_user_byte(size_t i)
{
	return (uint8_t)(i * 31 + (i >> 8) * 7);
}

void tls_user_stream(struct tls_user *u, size_t at, size_t len, uint32_t record)
{
	uint8_t bytes[16384];

	while (len != 0) {
		uint32_t n = len < record ? (uint32_t)len : record;

		for (uint32_t i = 0; i < n; i++)
			bytes[i] = tls_user_byte(at + i);
		assert_true(tls_user_send(u, bytes, n));
		at += n;
		len -= n;
	}
}

void tls_user_expect(const struct tls_user *u, size_t len)
{
	assert_int_equal(u->rx_len, len);
	for (size_t i = 0; i < len; i++)
		if (u->rx[i] != tls_user_byte(i))
			fail_msg("byte %zu differs", i);
}
