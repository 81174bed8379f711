/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct wan_path_config c;
static struct wan_options_error e;

static int fresh(void **state)
{
	wan_options_init(&c);
	e.text[0] = '\0';
	return 0;
}

static void set(const char *key, const char *value)
{
	if (wan_options_set(&c, key, value, &e) != 0)
		fail_msg("%s", e.text);
}

static void assert_refused(const char *key, const char *value, const char *sentence)
{
	assert_int_equal(wan_options_set(&c, key, value, &e), -EINVAL);
	assert_string_equal(e.text, sentence);
}

static void rates(void **state)
{
	static const struct {
		const char *text;
		uint64_t rate;
	} good[] = {{"1g", 1000000000}, {"2.5Gbit", 2500000000}, {"100m", 100000000},
		{"56kbit", 56000}, {"1000", 1000}, {"1000g", UINT64_C(1000000000000)}, {"none", 0}};
	static const char *const bad[] = {"", "fast", "1 g", "-1g", "999", "1001g", "1e9", "0x10g",
		"1.2.3g", ".", "1gb", "nan", "inf", "11111111111111111111111111111111111111111g"};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		set("rate", good[i].text);
		assert_int_equal(c.rate, good[i].rate);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(wan_options_set(&c, "rate", bad[i], &e), -EINVAL);
	assert_refused("rate", "50",
		"\"rate\" is \"50\"; expected bits per second from 1k to 1000g, such as 1g or "
		"2.5mbit, or none");
}

static void times(void **state)
{
	static const char *const keys[] = {"delay", "jitter", "reorder-by"};

	for (int i = 0; i < 3; i++) {
		set(keys[i], "50ms");
		assert_refused(keys[i],
			i == 0   ? "50"
			: i == 1 ? "5min"
				 : "3601s",
			i == 0   ? "\"delay\" is \"50\"; expected a time up to 3600s with its "
				   "unit, such as 50ms, 200us or 1.5s"
			: i == 1 ? "\"jitter\" is \"5min\"; expected a time up to 3600s with its "
				   "unit, such as 50ms, 200us or 1.5s"
				 : "\"reorder-by\" is \"3601s\"; expected a time up to 3600s with "
				   "its unit, such as 50ms, 200us or 1.5s");
	}
	assert_int_equal(c.delay, 50 * MS);
	assert_int_equal(c.jitter, 50 * MS);
	assert_int_equal(c.reorder_by, 50 * MS);
	set("delay", "200us");
	assert_int_equal(c.delay, 200000);
	set("delay", "1.5s");
	assert_int_equal(c.delay, 1500 * MS);
	set("delay", "7ns");
	assert_int_equal(c.delay, 7);
	set("delay", "0");
	assert_int_equal(c.delay, 0);
}

static void shares(void **state)
{
	set("reorder", "1%");
	assert_true(c.reorder == 0.01);
	set("duplicate", "0.5");
	assert_true(c.duplicate == 0.5);
	set("corrupt", "100%");
	assert_true(c.corrupt == 1);
	assert_refused("corrupt", "101%",
		"\"corrupt\" is \"101%\"; expected a share of the frames such as 0.1% or 0.001");
	assert_refused("reorder", "x",
		"\"reorder\" is \"x\"; expected a share of the frames such as 0.1% or 0.001");
	assert_refused("duplicate", "2",
		"\"duplicate\" is \"2\"; expected a share of the frames such as 0.1% or 0.001");
}

static void losses(void **state)
{
	set("loss", "0.1%");
	assert_true(c.loss.good == 0.001 && c.loss.enter == 0);
	set("loss", "1%:8");
	assert_true(c.loss.good == 0 && c.loss.bad == 1 && c.loss.leave == 0.125);
	assert_true(wan_loss_share(&c.loss) > 0.009999 && wan_loss_share(&c.loss) < 0.010001);
	set("gilbert-elliott", "0.1%:25%");
	assert_true(c.loss.enter == 0.001 && c.loss.leave == 0.25 && c.loss.bad == 1 &&
		    c.loss.good == 0);
	set("gilbert-elliott", "0.1%:25%:50%:0.01%");
	assert_true(c.loss.bad == 0.5 && c.loss.good == 0.0001);
	assert_refused("loss", "100%:8",
		"\"loss\" is \"100%:8\"; expected a share of the frames such as 0.1% or 0.001, "
		"below 100% with a mean length of bursts behind it: 1%:8");
	/* Between two bursts a frame gets through: so many are not lost in such short ones. */
	assert_refused("loss", "75%:2",
		"\"loss\" is \"75%:2\"; expected bursts of at least 3 frames on average: with "
		"shorter "
		"ones less is lost");
	for (const char *const *s =
			(const char *const[]){"50%:1", "75%:3", "90%:9", "95%:19", NULL};
		*s; s++) {
		set("loss", *s);
		assert_true(wan_loss_share(&c.loss) > strtod(*s, NULL) / 100 - 1e-6 &&
			    wan_loss_share(&c.loss) < strtod(*s, NULL) / 100 + 1e-6);
	}
	for (const char *const *s = (const char *const[]){"1%:", "1%:0", ":8", "1%:8:8", "", NULL};
		*s != NULL; s++)
		assert_int_equal(wan_options_set(&c, "loss", *s, &e), -EINVAL);
	assert_refused("gilbert-elliott", "1%",
		"\"gilbert-elliott\" is \"1%\"; expected ENTER:LEAVE[:BAD[:GOOD]], probabilities "
		"such as 0.1%:25%:100%:0");
	assert_int_equal(wan_options_set(&c, "gilbert-elliott", "1%:2:3%", &e), -EINVAL);
	assert_int_equal(wan_options_set(&c, "gilbert-elliott", "1%:2%:3%:4%:5%", &e), -EINVAL);
}

static void queues(void **state)
{
	static const struct {
		const char *text;
		enum wan_queue_unit unit;
		uint64_t n;
	} good[] = {{"12.5MB", WAN_QUEUE_BYTES, 12500000}, {"64KiB", WAN_QUEUE_BYTES, 65536},
		{"3000B", WAN_QUEUE_BYTES, 3000}, {"1000p", WAN_QUEUE_FRAMES, 1000},
		{"50ms", WAN_QUEUE_TIME, 50 * MS}};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		set("queue", good[i].text);
		assert_int_equal(c.queue_unit, good[i].unit);
		assert_int_equal(c.queue, good[i].n);
	}
	set("queue", "none");
	assert_int_equal(c.queue_unit, WAN_QUEUE_ENDLESS);
	assert_refused("queue", "1000",
		"\"queue\" is \"1000\"; expected bytes, packets or a time, such as 12.5MB, 64KiB, "
		"1000p or 50ms; bdp, or none");
}

static void the_rest(void **state)
{
	set("overhead", "24");
	assert_int_equal(c.overhead, 24);
	assert_refused("overhead", "1001",
		"\"overhead\" is \"1001\"; expected bytes per frame from 0 to 1000");
	set("mtu", "1400");
	assert_int_equal(c.mtu, 1400);
	assert_refused("mtu", "67",
		"\"mtu\" is \"67\"; expected bytes of an IP packet from 68 to 65535, or none");
	set("mtu", "none");
	assert_int_equal(c.mtu, 0);
	set("jitter-reorders", "yes");
	assert_true(c.jitter_reorders);
	set("jitter-reorders", "no");
	assert_false(c.jitter_reorders);
	assert_refused(
		"jitter-reorders", "on", "\"jitter-reorders\" is \"on\"; expected yes or no");
	assert_refused("colour", "blue", "there is no \"colour\" of a path");
}

static void a_list_is_taken_whole_or_not_at_all(void **state)
{
	assert_int_equal(wan_options_parse(&c, "delay=10ms,loss=1%:4,rate=1g", &e), 0);
	assert_int_equal(c.delay, 10 * MS);
	assert_int_equal(c.rate, 1000000000);
	assert_int_equal(wan_options_parse(&c, "delay=20ms,loss=much", &e), -EINVAL);
	assert_non_null(strstr(e.text, "\"loss\" is \"much\""));
	assert_int_equal(c.delay, 10 * MS);
	assert_int_equal(wan_options_parse(&c, "delay", &e), -EINVAL);
	assert_string_equal(
		e.text, "\"delay\" is no key=value; expected a list such as delay=50ms,loss=1%");
	assert_int_equal(wan_options_parse(&c, "delay=1ms,", &e), -EINVAL);
	assert_int_equal(wan_options_parse(&c, "", &e), -EINVAL);
}

static void a_list_that_is_too_long(void **state)
{
	char list[600];

	memset(list, 'x', sizeof list - 1);
	list[sizeof list - 1] = '\0';
	assert_int_equal(wan_options_parse(&c, list, &e), -EINVAL);
	assert_string_equal(e.text, "more than 511 characters");
}

static void the_queue_is_a_bandwidth_delay_product_by_itself(void **state)
{
	struct wan_path_config other;

	wan_options_init(&other);
	set("delay", "50ms");
	assert_int_equal(wan_options_finish(&c, &other, &e), 0);
	assert_int_equal(c.queue_unit, WAN_QUEUE_TIME);
	assert_int_equal(c.queue, 50 * MS);
	fresh(state);
	set("delay", "50ms");
	other.delay = 30 * MS;
	assert_int_equal(wan_options_finish(&c, &other, &e), 0);
	assert_int_equal(c.queue, 80 * MS);
	fresh(state);
	other.delay = 0;
	assert_int_equal(wan_options_finish(&c, &other, &e), 0);
	assert_int_equal(c.queue, 10 * MS);
	set("queue", "5p");
	assert_int_equal(wan_options_finish(&c, &other, &e), 0);
	assert_int_equal(c.queue, 5);
}

static void what_lacks_another_key_is_refused(void **state)
{
	struct wan_path_config other = c;

	set("reorder", "1%");
	assert_int_equal(wan_options_finish(&c, &other, &e), -EINVAL);
	assert_string_equal(
		e.text, "\"reorder\" needs \"reorder-by\", the most that a frame is late");
	set("reorder-by", "1ms");
	assert_int_equal(wan_options_finish(&c, &other, &e), 0);
	set("reorder", "0");
	assert_int_equal(wan_options_finish(&c, &other, &e), -EINVAL);
	set("reorder-by", "0");
	set("jitter-reorders", "yes");
	assert_int_equal(wan_options_finish(&c, &other, &e), -EINVAL);
	assert_string_equal(e.text, "\"jitter-reorders\" needs \"jitter\"");
}

/* What memory is made ready for: 1 Gb/s over 50 ms, and a queue of as much. */
static void bytes_that_can_be_on_the_way(void **state)
{
	set("rate", "1g");
	set("delay", "50ms");
	set("queue", "6.25MB");
	assert_int_equal(wan_options_bytes(&c), 12500000);
	set("queue", "50ms");
	assert_int_equal(wan_options_bytes(&c), 12500000);
	set("jitter", "10ms");
	assert_int_equal(wan_options_bytes(&c), 13750000);
	set("rate", "none");
	assert_int_equal(wan_options_bytes(&c), 75000000);
	set("queue", "1000p");
	set("rate", "8m");
	assert_int_equal(wan_options_bytes(&c), 60000 + 1514000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rates, fresh),
		cmocka_unit_test_setup(times, fresh),
		cmocka_unit_test_setup(shares, fresh),
		cmocka_unit_test_setup(losses, fresh),
		cmocka_unit_test_setup(queues, fresh),
		cmocka_unit_test_setup(the_rest, fresh),
		cmocka_unit_test_setup(a_list_is_taken_whole_or_not_at_all, fresh),
		cmocka_unit_test_setup(a_list_that_is_too_long, fresh),
		cmocka_unit_test_setup(the_queue_is_a_bandwidth_delay_product_by_itself, fresh),
		cmocka_unit_test_setup(what_lacks_another_key_is_refused, fresh),
		cmocka_unit_test_setup(bytes_that_can_be_on_the_way, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
