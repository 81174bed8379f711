/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "ip/arp.h"

#define REQUEST_FROM_2                                                      \
	"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01"
#define REPLY_TO_2                                                          \
	"02 00 00 00 00 02 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 02" \
	"02 00 00 00 00 01 0a 00 00 01 02 00 00 00 00 02 0a 00 00 02"

static const char *state_of(struct host *h, const char *addr)
{
	struct ip_addr a = host_addr(addr);
	const struct ip_neighbour *n = neighbour_find(h->ip, &a);

	if (!n)
		return "none";
	return n->state == NEIGHBOUR_STALE       ? "STALE"
	       : n->state == NEIGHBOUR_REACHABLE ? "REACHABLE"
						 : "other";
}

static void request_for_us_is_answered_and_remembered(void **state)
{
	struct host *h = host_new_v4();

	host_input_hex(h, REQUEST_FROM_2);
	host_expect(h, REPLY_TO_2);
	host_expect_nothing(h);
	assert_string_equal(state_of(h, "10.0.0.2"), "STALE");
	host_free(h);
}

static void padding_and_pieces_do_not_matter(void **state)
{
	struct host *h = host_new_v4();
	struct bytes b = bytes(REQUEST_FROM_2);

	bytes_add(&b, "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
	for (unsigned piece = 1; piece < 24; piece++) {
		host_input(h, &b, piece);
		host_expect(h, REPLY_TO_2);
	}
	host_free(h);
}

static void others_requests_make_no_entry(void **state)
{
	struct host *h = host_new_v4();

	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
			  "02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 03");
	/* Gratuitous, by reply. */
	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 02"
			  "02 00 00 00 00 02 0a 00 00 02 ff ff ff ff ff ff 0a 00 00 02");
	host_expect_nothing(h);
	assert_string_equal(state_of(h, "10.0.0.2"), "none");
	host_free(h);
}

static void gratuitous_updates_an_entry(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr a = host_addr("10.0.0.2");

	host_input_hex(h, REQUEST_FROM_2);
	host_forget(h);
	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 07 08 06 00 01 08 00 06 04 00 01"
			  "02 00 00 00 00 07 0a 00 00 02 00 00 00 00 00 00 0a 00 00 02");
	assert_int_equal(neighbour_find(h->ip, &a)->eth[5], 7);
	host_expect_nothing(h);
	host_free(h);
}

static void probe_is_answered_without_an_entry(void **state)
{
	struct host *h = host_new_v4();

	/* RFC 5227: the sender's protocol address is zero. */
	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
			  "02 00 00 00 00 02 00 00 00 00 00 00 00 00 00 00 0a 00 00 01");
	host_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 02"
		       "02 00 00 00 00 01 0a 00 00 01 02 00 00 00 00 02 00 00 00 00");
	assert_string_equal(state_of(h, "0.0.0.0"), "none");
	host_free(h);
}

static void nonsense_is_dropped(void **state)
{
	static const char *const bad[] = {
		/* short */
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
		"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00",
		/* hardware type, protocol type, lengths, operation */
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 06 08 00 06 04 00 01"
		"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01",
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 86 dd 06 04 00 01"
		"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01",
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 08 04 00 01"
		"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01",
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 10 00 01"
		"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01",
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 03"
		"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01",
		/* sender's hardware address: a group, nobody, us */
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
		"03 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01",
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
		"00 00 00 00 00 00 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01",
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
		"02 00 00 00 00 01 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01",
	};
	struct host *h = host_new_v4();

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		host_input_hex(h, bad[i]);
	host_expect_nothing(h);
	assert_string_equal(state_of(h, "10.0.0.2"), "none");
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, sizeof bad / sizeof *bad - 1);
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 1);
	host_free(h);
}

static void impossible_senders_make_no_entry(void **state)
{
	struct host *h = host_new_v4();

	/* 10.0.0.255, 224.0.0.1, 192.0.2.9 ask for us. */
	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
			  "02 00 00 00 00 02 0a 00 00 ff 00 00 00 00 00 00 0a 00 00 01");
	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
			  "02 00 00 00 00 02 e0 00 00 01 00 00 00 00 00 00 0a 00 00 01");
	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01"
			  "02 00 00 00 00 02 c0 00 02 09 00 00 00 00 00 00 0a 00 00 01");
	assert_string_equal(state_of(h, "10.0.0.255"), "none");
	assert_string_equal(state_of(h, "224.0.0.1"), "none");
	assert_string_equal(state_of(h, "192.0.2.9"), "none");
	host_free(h);
}

static void conflict_is_told_and_defended_once_in_ten_seconds(void **state)
{
	static const char claim[] =
		"ff ff ff ff ff ff 02 00 00 00 00 09 08 06 00 01 08 00 06 04 00 01"
		"02 00 00 00 00 09 0a 00 00 01 00 00 00 00 00 00 0a 00 00 01";
	static const char defence[] =
		"ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01"
		"02 00 00 00 00 01 0a 00 00 01 00 00 00 00 00 00 0a 00 00 01";
	struct host *h = host_new_v4();

	host_input_hex(h, claim);
	host_expect(h, defence);
	assert_int_equal(ip_stack_stats(h->ip)->arp_conflicts, 1);
	assert_int_equal(h->log_lines, 1);
	assert_non_null(strstr(h->log_text, "10.0.0.1"));
	assert_non_null(strstr(h->log_text, "02:00:00:00:00:09"));
	host_input_hex(h, claim);
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->arp_conflicts, 2);
	assert_int_equal(h->log_lines, 1);
	host_run(h, 10 * SECOND);
	host_input_hex(h, claim);
	host_expect(h, defence);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_for_us_is_answered_and_remembered),
		cmocka_unit_test(padding_and_pieces_do_not_matter),
		cmocka_unit_test(others_requests_make_no_entry),
		cmocka_unit_test(gratuitous_updates_an_entry),
		cmocka_unit_test(probe_is_answered_without_an_entry),
		cmocka_unit_test(nonsense_is_dropped),
		cmocka_unit_test(impossible_senders_make_no_entry),
		cmocka_unit_test(conflict_is_told_and_defended_once_in_ten_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
