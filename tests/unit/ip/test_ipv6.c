/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"

#include <rte_mbuf.h>

#define ETH     "02 00 00 00 00 01 02 00 00 00 00 02 86 dd "
#define FROM    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define TO      "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define SEGMENT "00 01 00 02 00 00 00 03 00 00 00 04 50 02 10 00 00 00 00 00 "

/* fd00::2 is at 02:..:02: an unsolicited but overriding NA cannot make an entry, an NS can. */
static struct host *start(void)
{
	struct host *h = host_new_v6();
	struct bytes ns =
		bytes("02 00 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 20 3a ff" FROM TO
		      "87 00 00 00 00 00 00 00" TO "01 01 02 00 00 00 00 02");

	fix_v6(&ns);
	host_input(h, &ns, 0);
	assert_int_equal(h->n_tx, 1);
	host_forget(h);
	return h;
}

static void expect_up(struct host *h, const char *hex)
{
	struct bytes b = bytes(hex);

	for (unsigned piece = 0; piece < 50; piece += 7) {
		host_input(h, &b, piece);
		assert_int_equal(h->n_rx, 1);
		assert_int_equal(h->rx[0]->pkt_len, 20);
		assert_int_equal(h->rx[0]->data_len, 20);
		assert_int_equal(rte_pktmbuf_mtod(h->rx[0], uint8_t *)[3], 2);
		host_expect_nothing(h);
		host_forget(h);
	}
}

static void expect_dropped(struct host *h, const char *hex)
{
	host_input_hex(h, hex);
	assert_int_equal(h->n_rx, 0);
	host_expect_nothing(h);
}

static void expect_parameter_problem(
	struct host *h, const char *hex, uint8_t code, uint32_t pointer)
{
	const uint8_t *p;

	host_input_hex(h, hex);
	assert_int_equal(h->n_rx, 0);
	assert_int_equal(h->n_tx, 1);
	p = rte_pktmbuf_mtod_offset(h->tx[0], const uint8_t *, 14);
	assert_int_equal(p[6], 58);
	assert_int_equal(p[40], 4);
	assert_int_equal(p[41], code);
	assert_int_equal(load_be32(p + 44), pointer);
	host_forget(h);
}

static void segment_goes_up(void **state)
{
	struct host *h = start();

	expect_up(h, ETH "6a b0 00 00 00 14 06 07" FROM TO SEGMENT);
	host_input_hex(h, ETH "6a b0 00 00 00 14 06 07" FROM TO SEGMENT);
	assert_int_equal(h->rx_info[0].tos, 0xab);
	assert_int_equal(h->rx_info[0].ttl, 7);
	/* Padding of the link is cut off. */
	host_input_hex(h, ETH "60 00 00 00 00 14 06 40" FROM TO SEGMENT "ee ee ee");
	assert_int_equal(h->rx[1]->pkt_len, 20);
	host_free(h);
}

/** A frame with an IP packet of @p len bytes to @p dst, whose header says 1501. */
static void input_cut(struct host *h, const char *dst, unsigned len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);
	struct bytes b = bytes(ETH "60 00 00 00 05 b5 06 40" FROM);
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(14 + len));

	bytes_add(&b, dst);
	assert_non_null(p);
	memset(p, 0, 14 + len);
	memcpy(p, b.b, b.len);
	(void)ip_input(h->ip, &m, 1, h->now);
}

/* Linux has put segments together, and the port's frames are not as long. */
static void what_the_port_cuts_off_is_counted(void **state)
{
	struct host *h = start();

	for (unsigned len = 1499; len <= 1500; len++) {
		input_cut(h, TO, len);
		assert_int_equal(ip_stack_stats(h->ip)->rx_cut, len - 1499);
	}
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 2);
	host_free(h);
}

/* The kernel has another address on the same interface: what it gets in one piece is not lost. */
static void what_is_cut_off_for_others_is_not_ours(void **state)
{
	struct host *h = start();

	input_cut(h, "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 07", 1500);
	input_cut(h, "ff 02 00 00 00 00 00 00 00 00 00 00 00 01 00 03", 1500);
	assert_int_equal(ip_stack_stats(h->ip)->rx_cut, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 2);
	host_free(h);
}

static void bad_headers(void **state)
{
	struct host *h = start();

	expect_dropped(h, ETH "60 00 00 00 00 15 06 40" FROM TO SEGMENT);
	expect_dropped(h, ETH "50 00 00 00 00 14 06 40" FROM TO SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 00 06 40" FROM "fd 00");
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 3);
	host_free(h);
}

static void addresses_that_cannot_be(void **state)
{
	struct host *h = start();

	/* From ourselves, a group, ::1, our form of IPv4; to our form of IPv4. */
	expect_dropped(h, ETH "60 00 00 00 00 14 06 40" TO TO SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 14 06 40"
			      "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01" TO SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 14 06 40"
			      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01" TO SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 14 06 40"
			      "00 00 00 00 00 00 00 00 00 00 ff ff 0a 00 00 02" TO SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 14 06 40" FROM
			      "00 00 00 00 00 00 00 00 00 00 ff ff 0a 00 00 01" SEGMENT);
	assert_int_equal(ip_stack_stats(h->ip)->rx_martian, 5);
	/* Not ours; a group that is not ours; ours in a link-layer group. */
	expect_dropped(h, ETH "60 00 00 00 00 14 06 40" FROM FROM SEGMENT);
	expect_dropped(h, "33 33 00 00 00 02 02 00 00 00 00 02 86 dd 60 00 00 00 00 14 06 40" FROM
			  "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 02" SEGMENT);
	expect_dropped(h,
		"33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 14 06 40" FROM TO
			SEGMENT);
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 3);
	/* TCP to all nodes: a group, but no TCP there. */
	expect_dropped(h, "33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 14 06 40" FROM
			  "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01" SEGMENT);
	host_free(h);
}

static void extension_headers_are_walked(void **state)
{
	struct host *h = start();

	/* Hop-by-hop with PadN; destination options with Pad1s and a skippable option; routing
	 * without segments left; an atomic fragment. */
	expect_up(h, ETH "60 00 00 00 00 1c 00 40" FROM TO "06 00 01 04 00 00 00 00" SEGMENT);
	expect_up(h, ETH "60 00 00 00 00 1c 3c 40" FROM TO "06 00 00 00 1e 02 00 00" SEGMENT);
	expect_up(h, ETH "60 00 00 00 00 1c 2b 40" FROM TO "06 00 00 00 00 00 00 00" SEGMENT);
	expect_up(h, ETH "60 00 00 00 00 1c 2c 40" FROM TO "06 00 00 00 12 34 56 78" SEGMENT);
	expect_up(h, ETH
		"60 00 00 00 00 34 00 40" FROM TO "2b 00 01 04 00 00 00 00"
		"3c 00 00 00 00 00 00 00 2c 00 01 04 00 00 00 00 06 00 00 00 12 34 56 78" SEGMENT);
	host_free(h);
}

static void unknown_options_act_as_their_type_says(void **state)
{
	struct host *h = start();

	expect_dropped(h, ETH "60 00 00 00 00 1c 3c 40" FROM TO "06 00 5e 02 00 00 00 00" SEGMENT);
	expect_parameter_problem(
		h, ETH "60 00 00 00 00 1c 3c 40" FROM TO "06 00 01 00 9e 02 00 00" SEGMENT, 2, 44);
	expect_parameter_problem(
		h, ETH "60 00 00 00 00 1c 00 40" FROM TO "06 00 de 04 00 00 00 00" SEGMENT, 2, 42);
	/* To a group: 10 is reported, 11 is not. */
	expect_parameter_problem(h,
		"33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 1c 3c 40" FROM
		"ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 06 00 9e 04 00 00 00 00" SEGMENT,
		2, 42);
	expect_dropped(h,
		"33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 1c 3c 40" FROM
		"ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 06 00 de 04 00 00 00 00" SEGMENT);
	/* Longer than its header; cut off; the header longer than the packet. */
	expect_dropped(h, ETH "60 00 00 00 00 1c 3c 40" FROM TO "06 00 01 05 00 00 00 00" SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 1c 3c 40" FROM TO "06 00 00 00 00 00 00 01" SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 1c 3c 40" FROM TO "06 09 01 04 00 00 00 00" SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 04 3c 40" FROM TO "06 00 01 04");
	host_free(h);
}

/** Sixteen empty options in destination options of 40 bytes, and one more in their place. */
static void too_many_options_are_not_looked_at(void **state)
{
	struct host *h = start();

	expect_up(h,
		ETH "60 00 00 00 00 3c 3c 40" FROM TO "06 04"
		    "1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00"
		    "1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 06 00 00 00 00 00 00" SEGMENT);
	expect_dropped(h, ETH "60 00 00 00 00 3c 3c 40" FROM TO "06 04"
			      "1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00"
			      "1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00 1e 00"
			      "1e 04 00 00 00 00" SEGMENT);
	host_free(h);
}

static void parameter_problems(void **state)
{
	struct host *h = start();

	/* A routing header that wants to go on (type 0: RFC 5095). */
	expect_parameter_problem(h,
		ETH "60 00 00 00 00 2c 2b 40" FROM TO "06 02 00 01 00 00 00 00" FROM SEGMENT, 0,
		42);
	/* Hop-by-hop not first. */
	expect_parameter_problem(h,
		ETH "60 00 00 00 00 24 3c 40" FROM TO
		    "00 00 01 04 00 00 00 00 06 00 01 04 00 00 00 00" SEGMENT,
		1, 40);
	/* Nobody speaks SCTP here. */
	expect_parameter_problem(h, ETH "60 00 00 00 00 14 84 40" FROM TO SEGMENT, 1, 6);
	expect_parameter_problem(
		h, ETH "60 00 00 00 00 1c 3c 40" FROM TO "84 00 01 04 00 00 00 00" SEGMENT, 1, 40);
	/* "No next header" is nothing to complain about. */
	expect_dropped(h, ETH "60 00 00 00 00 14 3b 40" FROM TO SEGMENT);
	host_free(h);
}

static void udp_without_listener(void **state)
{
	struct host *h = start();

	host_input_hex(h, ETH "60 00 00 00 00 08 11 40" FROM TO "00 35 00 35 00 08 00 00");
	assert_int_equal(h->n_tx, 1);
	assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 54), "\x01\x04", 2);
	host_free(h);
}

static void walking_has_limits(void **state)
{
	struct host *h = start();
	struct bytes b = bytes(ETH "60 00 00 00 00 00 3c 40" FROM TO);

	for (unsigned i = 0; i < 9; i++)
		bytes_add(&b, i < 8 ? "3c 00 01 04 00 00 00 00" : "06 00 01 04 00 00 00 00");
	bytes_add(&b, SEGMENT);
	store_be16(b.b + 14 + 4, (uint16_t)(b.len - 54));
	host_input(h, &b, 0);
	assert_int_equal(h->n_rx, 0);
	/* One header of 520 bytes. */
	b = bytes(ETH "60 00 00 00 00 00 3c 40" FROM TO "06 40 01 ff");
	while (b.len < 54 + 520)
		bytes_add(&b, "00");
	bytes_add(&b, SEGMENT);
	store_be16(b.b + 14 + 4, (uint16_t)(b.len - 54));
	host_input(h, &b, 0);
	assert_int_equal(h->n_rx, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 2);
	host_expect_nothing(h);
	host_free(h);
}

static void send_writes_the_header(void **state)
{
	struct host *h = start();
	struct ip_addr src = host_addr("fd00::1"), dst = host_addr("fd00::2");
	struct ip_path p = {.ttl = 9};

	assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
	p.tos = 0xb9;
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	host_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 86 dd 6b 90 00 00 00 14 06 09" TO FROM
		       "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 b5 e0 00 00");
	host_free(h);
}

#define DEST_OPTIONS(next) next " 00 01 04 00 00 00 00 "
#define BAD_OPTION(next)   next " 00 9e 04 00 00 00 00 " /* which asks for an error */
#define MORE               DEST_OPTIONS("3c")
#define DEST_OPTIONS_7     MORE MORE MORE MORE MORE MORE MORE
#define ECHO               "80 00 00 00 00 01 00 01 "
#define UNREACHABLE        "01 00 00 00 00 00 00 00 "

/** RFC 4443 section 2.4(e.1): nothing is said about errors, however many headers hide them. */
static void errors_behind_headers_are_not_answered(void **state)
{
	static const struct {
		const char *hex;
		bool answered;
	} packets[] = {
		{BAD_OPTION("3a") ECHO, true},
		{BAD_OPTION("3a") UNREACHABLE, false},
		{BAD_OPTION("2b") "3a 00 00 00 00 00 00 00" ECHO, true},
		{BAD_OPTION("2b") "3a 00 00 00 00 00 00 00" UNREACHABLE, false},
		/* The first fragment, whole or not; and others, which have no header. */
		{BAD_OPTION("2c") "3a 00 00 00 00 00 00 07" ECHO, true},
		{BAD_OPTION("2c") "3a 00 00 01 00 00 00 07" ECHO, true},
		{BAD_OPTION("2c") "3a 00 00 01 00 00 00 07" UNREACHABLE, false},
		{BAD_OPTION("2c") "3a 00 00 08 00 00 00 07" ECHO, false},
		/* As many headers as are looked at, and one more. */
		{BAD_OPTION("3c") DEST_OPTIONS_7 DEST_OPTIONS("3a") ECHO, false},
		{BAD_OPTION("3c") DEST_OPTIONS_7 "3a", false},
		{BAD_OPTION("3c") DEST_OPTIONS("3c") DEST_OPTIONS("3c") DEST_OPTIONS("3c")
				DEST_OPTIONS("3c") DEST_OPTIONS("3c") DEST_OPTIONS("3a") ECHO,
			true},
		{BAD_OPTION("3c") DEST_OPTIONS("3c") DEST_OPTIONS("3c") DEST_OPTIONS(
			 "3c") DEST_OPTIONS("3c") DEST_OPTIONS("3c") DEST_OPTIONS("3a") UNREACHABLE,
			false},
		/* Headers that are cut off, that claim more than there is, and that end it. */
		{BAD_OPTION("3c") "3a 00 01 04 00 00 00", false},
		{BAD_OPTION("3c") "3a ff 01 04 00 00 00 00" ECHO, false},
		{BAD_OPTION("3a"), false},
		{BAD_OPTION("84"), true},
	};

	for (unsigned i = 0; i < sizeof packets / sizeof packets[0]; i++) {
		struct host *h = start();
		struct bytes b = bytes(ETH "60 00 00 00 00 00 3c 40" FROM TO);

		bytes_add(&b, packets[i].hex);
		store_be16(b.b + 14 + 4, (uint16_t)(b.len - 54));
		host_input(h, &b, 0);
		assert_int_equal(h->n_tx, packets[i].answered);
		if (packets[i].answered)
			assert_memory_equal(
				rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 54), "\x04\x02", 2);
		host_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segment_goes_up),
		cmocka_unit_test(bad_headers),
		cmocka_unit_test(what_the_port_cuts_off_is_counted),
		cmocka_unit_test(what_is_cut_off_for_others_is_not_ours),
		cmocka_unit_test(addresses_that_cannot_be),
		cmocka_unit_test(extension_headers_are_walked),
		cmocka_unit_test(unknown_options_act_as_their_type_says),
		cmocka_unit_test(too_many_options_are_not_looked_at),
		cmocka_unit_test(parameter_problems),
		cmocka_unit_test(udp_without_listener),
		cmocka_unit_test(walking_has_limits),
		cmocka_unit_test(send_writes_the_header),
		cmocka_unit_test(errors_behind_headers_are_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
