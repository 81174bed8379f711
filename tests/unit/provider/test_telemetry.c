/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/telemetry.h"

#include "host/telemetry.h"
#include "host/telemetry_socket.h"
#include "support/limit.h"
#include "unit/rnic/pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char directory[64];
static struct pair p;
static struct telemetry *telemetry; /* of p.a */
static int fd;

/** The answer to @p command, or to none: the greeting. Bad JSON is NULL. */
static json_t *hear(const char *command)
{
	static char text[TELEMETRY_OUTPUT];
	json_t *all, *j;
	ssize_t n;

	if (command)
		assert_int_equal(send(fd, command, strlen(command), 0), strlen(command));
	n = recv(fd, text, sizeof text, 0);
	assert_true(n > 0);
	all = json_loadb(text, (size_t)n, 0, NULL);
	if (!command)
		return all;
	j = json_incref(json_object_get(all, command));
	json_decref(all);
	return j;
}

static int setup(void **state)
{
	const struct timeval patience = {.tv_sec = LIMIT_S};

	pair_init(&p, NULL);
	pair_connect(&p);
	snprintf(directory, sizeof directory, "/tmp/uiw-telemetry.XXXXXX");
	assert_non_null(mkdtemp(directory));
	telemetry = telemetry_create(
		&(struct telemetry_config){.engine = &p.engine, .directory = directory});
	provider_telemetry_add(telemetry, p.a.rnic);
	assert_int_equal(telemetry_start(telemetry), 0);
	fd = telemetry_socket_connect(directory, telemetry_name(telemetry));
	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	json_decref(hear(NULL));
	return 0;
}

static int teardown(void **state)
{
	close(fd);
	telemetry_stop(telemetry);
	telemetry_destroy(telemetry);
	pair_fini(&p);
	return rmdir(directory);
}

/** The only item of a list. */
static json_t *the_item(const char *command)
{
	json_t *list = hear(command), *items = json_object_get(list, "items"), *item;

	assert_int_equal(json_array_size(items), 1);
	assert_int_equal(json_integer_value(json_object_get(list, "total")), 1);
	item = json_incref(json_array_get(items, 0));
	json_decref(list);
	return item;
}

static json_int_t number(const json_t *j, const char *key)
{
	assert_true(json_is_integer(json_object_get(j, key)));
	return json_integer_value(json_object_get(j, key));
}

static void expect_text(const json_t *j, const char *key, const char *text)
{
	assert_non_null(json_string_value(json_object_get(j, key)));
	assert_string_equal(json_string_value(json_object_get(j, key)), text);
}

/** What a QP has done, and how full its queues and its CQ are. */
static void work_is_told(void **state)
{
	json_t *qp, *cq;

	pair_post(&p.a, p.a.qp, 1, RDMAP_WR_WRITE, 0, 8, (uintptr_t)p.b.buf, rnic_mr_stag(p.b.mr));
	pair_post_recv(&p.a, p.a.qp, 7, 0, 64);
	pair_run(&p);
	qp = the_item("/uiwarp/qps");
	assert_int_equal(number(qp, "qp"), rnic_qp_num(p.a.qp));
	expect_text(qp, "state", "RTS");
	expect_text(qp, "role", "initiator");
	assert_int_equal(number(qp, "send_posted"), 1);
	assert_int_equal(number(qp, "send_completed"), 1);
	assert_int_equal(number(qp, "recv_posted"), 1);
	assert_int_equal(number(qp, "recv_completed"), 0);
	assert_non_null(strstr(json_string_value(json_object_get(qp, "remote")), ":7174"));
	assert_null(json_object_get(qp, "last_end"));
	cq = the_item("/uiwarp/cqs");
	assert_int_equal(number(cq, "depth"), 1);
	assert_int_equal(number(cq, "cq"), number(qp, "send_cq"));
	json_decref(cq);
	json_decref(qp);
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
}

/** An error has a name: of the device's, and of the QP that had it. */
static void terminates_have_names(void **state)
{
	json_t *rnic, *code, *qp, *end;

	/* An STag that was never given out: RFC 5041 section 7.1, DDP tagged buffer, code 0. */
	pair_post(&p.a, p.a.qp, 1, RDMAP_WR_WRITE, 0, 8, 0, 0xdeadbe00);
	pair_run(&p);
	rnic = hear("/uiwarp/rnic");
	assert_int_equal(number(rnic, "qps"), 1);
	assert_int_equal(json_array_size(json_object_get(rnic, "terminates")), 1);
	code = json_array_get(json_object_get(rnic, "terminates"), 0);
	expect_text(code, "name", "DDP, tagged buffer error: invalid STag");
	assert_int_equal(number(code, "layer"), 1);
	assert_int_equal(number(code, "type"), 1);
	assert_int_equal(number(code, "code"), 0);
	assert_int_equal(number(code, "sent"), 0);
	assert_int_equal(number(code, "received"), 1);
	qp = the_item("/uiwarp/qps");
	expect_text(qp, "state", "ERROR");
	end = json_object_get(qp, "last_end");
	expect_text(end, "kind", "terminate received");
	expect_text(end, "name", json_string_value(json_object_get(code, "name")));
	json_decref(qp);
	json_decref(rnic);
}

/** Whoever sees a region cannot reach it: its key is not told. */
static void regions_are_told_without_their_keys(void **state)
{
	static const char *const rights[] = {"local_write", "remote_write", "remote_read"};
	json_t *mr = the_item("/uiwarp/mrs");

	assert_int_equal(number(mr, "index"), rnic_mr_stag(p.a.mr) >> 8);
	assert_int_equal(number(mr, "length"), PAIR_BUF);
	assert_int_equal(number(mr, "windows"), 0);
	assert_true(json_is_true(json_object_get(mr, "valid")));
	for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++)
		assert_string_equal(
			json_string_value(json_array_get(json_object_get(mr, "access"), i)),
			rights[i]);
	assert_null(json_object_get(mr, "stag"));
	json_decref(mr);
}

/** Peers may address one from anywhere in 64 bits: the others are told all the same. */
static void regions_at_the_end_of_64_bits(void **state)
{
	struct rnic_mr *far;
	json_t *list, *mr;
	bool found = false;
	size_t i;

	assert_int_equal(
		rnic_mr_reg(p.a.pd, p.a.buf, 64, UINT64_MAX - 4095, RNIC_ACCESS_LOCAL_WRITE, &far),
		0);
	list = hear("/uiwarp/mrs");
	assert_int_equal(json_array_size(json_object_get(list, "items")), 2);
	json_array_foreach(json_object_get(list, "items"), i, mr)
	{
		if (number(mr, "index") != rnic_mr_stag(far) >> 8)
			continue;
		expect_text(mr, "iova", "18446744073709547520");
		assert_int_equal(number(mr, "length"), 64);
		found = true;
	}
	assert_true(found);
	json_decref(list);
	assert_int_equal(rnic_mr_dereg(far), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(work_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(terminates_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(
			regions_are_told_without_their_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(regions_at_the_end_of_64_bits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
