/* SPDX-License-Identifier: BSD-2-Clause */
/* A host over a port of its own, DPDK's null port: each step of opening that can fail, what it says
 * of the port, and how it ends. */
#include "host/net_priv.h"
#include "ip/stack.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>
/* And that. */
#include "net_fixture.h"

#define CAPTURE "test_net_port.pcapng"

static struct net *host;

static int setup(void **state)
{
	struct config_error e = {.text = ""};
	struct config c;

	net_fixture_null(&c);
	return net_open(&c, &host, &e);
}

static int teardown(void **state)
{
	net_close(host);
	return 0;
}

static void assert_fails(const struct config *c, int error, const char *says)
{
	struct config_error e = {.text = ""};
	struct net *n = NULL;

	assert_int_equal(net_open(c, &n, &e), error);
	assert_string_equal(e.text, says);
}

/* After each failure the next attempt finds the port free. */
static void each_step_that_fails_is_told(void **state)
{
	struct config_error e = {.text = ""};
	struct net *n = NULL;
	struct config c;

	net_fixture_null(&c);
	strcpy(c.capture, "/nonexistent/x.pcapng");
	assert_fails(
		&c, -ENOENT, "capture file \"/nonexistent/x.pcapng\": No such file or directory");
	net_fixture_null(&c);
	strcpy(c.ipsec, "/nonexistent/x");
	assert_fails(&c, -ENOENT, "ipsec \"/nonexistent/x\": No such file or directory");
	net_fixture_null(&c);
	strcpy(c.congestion_control, "vegas");
	assert_fails(&c, -EINVAL, "congestion_control: there is none named \"vegas\"");
	/* What the configuration's own checks refuse before. */
	net_fixture_null(&c);
	c.address[0].addr = ip_addr_from_v4("\xf0\0\0\1");
	assert_fails(&c, -EINVAL, "address 240.0.0.1/24: Invalid argument");
	net_fixture_null(&c);
	c.gateway[0] = ip_addr_from_v4("\12\1\1\1");
	c.num_gateways = 1;
	assert_fails(&c, -ENETUNREACH, "gateway 10.1.1.1: Network is unreachable");
	/* DPDK has its own words for this. */
	net_fixture_null(&c);
	strcpy(c.port, "net_nosuchdriver0");
	assert_true(net_open(&c, &n, &e) < 0);
	assert_string_not_equal(e.text, "");
}

/* "%p" in the name of a capture is the process's number, once. */
static void a_capture_has_the_process_in_its_name(void **state)
{
	struct config_error e = {.text = ""};
	char path[64];
	struct net *n = NULL;
	struct config c;

	net_fixture_null(&c);
	strcpy(c.capture, CAPTURE ".%p.x");
	snprintf(path, sizeof path, CAPTURE ".%d.x", (int)getpid());
	unlink(path);
	assert_int_equal(net_open(&c, &n, &e), 0);
	net_close(n);
	assert_int_equal(unlink(path), 0);
}

/* ---- while it is open ----------------------------------------------------------------------- */

static void it_is_what_its_port_is(void **state)
{
	const struct port_caps *caps = port_get_caps(host->port);
	uint8_t mac[6];

	assert_true(host->ops->has_carrier(host));
	assert_false(host->ops->is_gone(host));
	assert_null(host->ops->speed);
	assert_int_equal(host->ops->mtu(host), caps->mtu);
	host->ops->mac(host, mac);
	assert_memory_equal(mac, caps->mac, sizeof mac);
}

static unsigned lines;

static void count_lines(void *ctx, enum log_level level, const char *text)
{
	lines += strstr(text, ctx) != NULL;
}

static void count_lines_of(char *words)
{
	host->log.sink = (struct log_sink){
		.line = count_lines, .ctx = words, .max_level = LOG_LEVEL_WARNING};
	lines = 0;
	host->ops->housekeeping(host);
	assert_int_equal(lines, 0);
}

/** However many of them come. */
static void frames_without_a_checksum_are_told_of_once(void **state)
{
	static char words[] = "ethtool -K DEVICE tx off";

	count_lines_of(words);
	for (unsigned i = 0; i < 3; i++) {
		host->ip->stats.rx_cksum_unfilled++;
		host->ops->housekeeping(host);
		assert_int_equal(lines, 1);
	}
}

static void packets_that_are_cut_off_are_told_of_once(void **state)
{
	static char words[] = "ethtool -K DEVICE gro off";

	count_lines_of(words);
	for (unsigned i = 0; i < 3; i++) {
		host->ip->stats.rx_cut++;
		host->ops->housekeeping(host);
		assert_int_equal(lines, 1);
	}
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void on_closed(void *user, int error)
{
	*(int *)user = error;
}

static const struct llp_user_ops user_ops = {.closed = on_closed};

static struct llp *begin_to_connect(int *error)
{
	struct llp_connect_params p = {.remote = {.port = 7174}};
	struct llp *l = NULL;

	assert_int_equal(ip_addr_parse("10.0.0.2", &p.remote.addr), 0);
	engine_lock(&host->engine);
	assert_int_equal(llp_connect(host->ops->llp(host), &p, &user_ops, error, &l), 0);
	engine_unlock(&host->engine);
	return l;
}

/** Who has been reset is to hear of it before the link goes. */
static void whom_it_resets_it_remembers(void **state)
{
	int error = 0;

	assert_false(host->ops->is_connected(host));
	host->ops->reset_all(host);
	assert_false(host->connected);
	(void)begin_to_connect(&error);
	assert_true(host->ops->is_connected(host));
	engine_lock(&host->engine);
	host->ops->reset_all(host);
	engine_unlock(&host->engine);
	assert_true(host->connected);
}

static bool is_parting(void)
{
	bool parting;

	engine_lock(&host->engine);
	parting = host->ops->is_parting(host);
	engine_unlock(&host->engine);
	return parting;
}

/** What is in flight is waited for, and nothing of a connection that is over. */
static void it_parts_while_something_is_in_flight(void **state)
{
	struct llp *l;
	int error = 0;

	assert_false(is_parting());
	l = begin_to_connect(&error); /* a SYN */
	assert_true(is_parting());
	engine_lock(&host->engine);
	llp_abort(l);
	engine_unlock(&host->engine);
	assert_false(is_parting());
}

#define ON_NULL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_that_fails_is_told),
		cmocka_unit_test(a_capture_has_the_process_in_its_name),
		ON_NULL(it_is_what_its_port_is),
		ON_NULL(frames_without_a_checksum_are_told_of_once),
		ON_NULL(packets_that_are_cut_off_are_told_of_once),
		ON_NULL(whom_it_resets_it_remembers),
		ON_NULL(it_parts_while_something_is_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
