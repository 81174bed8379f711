/* SPDX-License-Identifier: BSD-2-Clause */
/* What a new file leaves in force of the SPD and the SAD. */
#include "database_case.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/** Of which the inbound one may count up to this. */
#define FAR_PAIR SA(OUR, PEER, "0x100", "") SA(PEER, OUR, "0x200", "replay-window 64 flag esn")
#define FAR      ((uint64_t)UINT32_MAX + 1)

static void the_last_sa_is_used_and_the_old_ones_stay(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER);
	struct esp_sa *old, *in;

	assert_int_equal(update(PAIR BOTH), 0);
	old = esp_database_find_outbound(&db, &peer, 0x100);
	in = esp_database_find(&db, &our, 0x200);
	old->sequence = 77;
	assert_int_equal(leaves(PEER, 6, 7), 0x100);
	assert_int_equal(update(BOTH SA(PEER, OUR, "0x201", "replay-window 64")
					 PAIR SA(OUR, PEER, "0x101", "")),
		0);
	assert_int_equal(leaves(PEER, 6, 7), 0x101);
	assert_ptr_equal(esp_database_find_outbound(&db, &peer, 0x100), old);
	assert_int_equal(old->sequence, 77);
	assert_ptr_equal(esp_database_find(&db, &our, 0x200), in);
	assert_int_equal(arrives(PEER, 6, 0x200), ESP_ARRIVED);
	assert_int_equal(arrives(PEER, 6, 0x201), ESP_ARRIVED);
	assert_int_equal(db.inbound, 2);
	assert_int_equal(db.outbound, 2);
	assert_int_equal(update(BOTH SA(PEER, OUR, "0x201", "replay-window 64")), 0);
	assert_null(esp_database_find(&db, &our, 0x200));
	assert_int_equal(leaves(PEER, 6, 7), -2);
}

/** A NAT has new ports, and IKE tells of them under the same SPI and key. */
static void ports_and_limits_change_and_the_rest_stays(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER);
	struct esp_sa *in, *out;

	assert_int_equal(
		update(SA(OUR, PEER, "0x100", "encap espinudp 4500 4501 0.0.0.0") SA(PEER, OUR,
			"0x200", "replay-window 64 encap espinudp 4501 4500 0.0.0.0") BOTH),
		0);
	in = esp_database_find(&db, &our, 0x200);
	out = esp_database_find_outbound(&db, &peer, 0x100);
	esp_window_accept(&in->window, 70);
	out->sequence = 77;
	assert_int_equal(update(SA(OUR, PEER, "0x100",
				 "limit packet-hard 9 limit byte-hard 90 "
				 "encap espinudp 4500 4502 0.0.0.0") SA(PEER, OUR, "0x200",
				 "replay-window 64 encap espinudp 4502 4500 0.0.0.0") BOTH),
		0);
	assert_ptr_equal(esp_database_find(&db, &our, 0x200), in);
	assert_ptr_equal(esp_database_find_outbound(&db, &peer, 0x100), out);
	assert_int_equal(in->window.top, 70);
	assert_int_equal(in->config.udp_src, 4502);
	assert_true(esp_database_has_port(&db, 4500));
	assert_false(esp_database_has_port(&db, 4502));
	assert_int_equal(out->sequence, 77);
	assert_int_equal(out->config.udp_dst, 4502);
	assert_int_equal(out->config.max_packets, 9);
	assert_int_equal(out->config.max_octets, 90);
	/* It is gone, and is back. */
	assert_int_equal(update(PAIR BOTH), 0);
	assert_ptr_equal(esp_database_find(&db, &our, 0x200), in);
	assert_false(in->config.udp || out->config.udp || esp_database_has_port(&db, 4500));
	assert_int_equal(
		update(SA(OUR, PEER, "0x100", "encap espinudp 4500 4503 0.0.0.0") SA(PEER, OUR,
			"0x200", "replay-window 64 encap espinudp 4503 4510 0.0.0.0") BOTH),
		0);
	assert_ptr_equal(esp_database_find_outbound(&db, &peer, 0x100), out);
	assert_true(in->config.udp && out->config.udp && esp_database_has_port(&db, 4510));
	assert_false(esp_database_has_port(&db, 4500));
	assert_int_equal(out->config.udp_dst, 4503);
	assert_int_equal(out->sequence, 77);
}

/** A NAT, or a peer that moves, has another address: the keys and the SPI are the same. */
static void a_peer_moves_with_its_sas(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER), moved = addr("10.0.0.3");
	struct esp_sa *in, *out, *other;

	assert_int_equal(update(PAIR SA(OUR, PEER, "0x101", "")), 0);
	in = esp_database_find(&db, &our, 0x200);
	out = esp_database_find_outbound(&db, &peer, 0x100);
	esp_window_accept(&in->window, 70);
	out->sequence = 77;
	assert_int_equal(
		update(SA(OUR, "10.0.0.3", "0x100", "") SA("10.0.0.3", OUR, "0x200",
			"replay-window 64") SA(OUR, "10.0.0.4", "0x100", "") SA(OUR, PEER, "0x101",
			"") "ip xfrm policy setdefault in accept out accept\n"
			    "ip xfrm policy add src " OUR " dst 10.0.0.3 dir out tmpl proto esp\n"
			    "ip xfrm policy add src 10.0.0.3 dst " OUR " dir in tmpl proto esp\n"),
		0);
	assert_ptr_equal(esp_database_find(&db, &our, 0x200), in);
	assert_ptr_equal(esp_database_find_outbound(&db, &moved, 0x100), out);
	assert_null(esp_database_find_outbound(&db, &peer, 0x100));
	assert_true(ip_addr_equal(&in->config.src, &moved));
	assert_true(ip_addr_equal(&out->config.dst, &moved));
	assert_int_equal(in->window.top, 70);
	assert_int_equal(out->sequence, 77);
	assert_int_equal(leaves("10.0.0.3", 6, 7), 0x100);
	assert_int_equal(arrives("10.0.0.3", 6, 0x200), ESP_ARRIVED);
	/* It goes to one place: the other one is an SA by itself. */
	moved = addr("10.0.0.4");
	other = esp_database_find_outbound(&db, &moved, 0x100);
	assert_ptr_not_equal(other, out);
	assert_int_equal(other->sequence, 0);
	/* And what stays where it is has not moved. */
	assert_int_equal(
		update(SA(OUR, "10.0.0.3", "0x100", "") SA(OUR, "10.0.0.5", "0x100", "")), 0);
	assert_ptr_equal(esp_database_find_outbound(&db, &out->config.dst, 0x100), out);
	moved = addr("10.0.0.5");
	assert_ptr_equal(esp_database_find_outbound(&db, &moved, 0x100), other);
}

/** As strongSwan moves it, whose SAs of transport mode have selectors of their ends. */
static void selectors_move_with_their_sas(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER), moved = addr("10.0.0.3");
	struct esp_sa *in, *out;

	assert_int_equal(
		update(SA(OUR, PEER, "0x100", "reqid 1 sel src " OUR " dst " PEER) SA(
			PEER, OUR, "0x200", "replay-window 64 reqid 1 sel src " PEER " dst " OUR)),
		0);
	in = esp_database_find(&db, &our, 0x200);
	out = esp_database_find_outbound(&db, &peer, 0x100);
	assert_int_equal(
		update(SA(OUR, "10.0.0.3", "0x100", "reqid 2 sel src " OUR " dst 10.0.0.3")
				SA("10.0.0.3", OUR, "0x200",
					"replay-window 64 reqid 2 sel src 10.0.0.3 "
					"dst " OUR) "ip xfrm policy add src " OUR
						    " dst 10.0.0.3 dir out tmpl proto esp "
						    "reqid 2\n"
						    "ip xfrm policy add src 10.0.0.3 "
						    "dst " OUR " dir in tmpl proto esp reqid 2\n"),
		0);
	assert_ptr_equal(esp_database_find(&db, &our, 0x200), in);
	assert_ptr_equal(esp_database_find_outbound(&db, &moved, 0x100), out);
	assert_int_equal(leaves("10.0.0.3", 6, 7), 0x100);
	assert_int_equal(arrives("10.0.0.3", 6, 0x200), ESP_ARRIVED);
}

/** Up to @p top nothing is taken again, and one more is. */
static void expect_arrived(const struct esp_sa *in, uint64_t top)
{
	for (uint64_t n = 1; n <= top; n++)
		assert_int_not_equal(esp_window_check(&in->window, n), ESP_WINDOW_NEW);
	assert_int_equal(esp_window_check(&in->window, top + 1), ESP_WINDOW_NEW);
}

/** RFC 4555, and it is our end. What was recorded can be sent to the new address. */
static void we_move_with_our_sas(void **state)
{
	struct ip_addr our = addr(OUR), our2 = addr(OUR2), peer = addr(PEER);
	struct esp_sa *in, *out;

	assert_int_equal(update(PAIR), 0);
	in = esp_database_find(&db, &our, 0x200);
	out = esp_database_find_outbound(&db, &peer, 0x100);
	esp_window_accept(&in->window, 70);
	out->sequence = 77;
	assert_int_equal(update(SA(OUR2, PEER, "0x100", "") SA(PEER, OUR2, "0x200",
				 "replay-window 64") "ip xfrm policy add src " PEER " dst " OUR2
						     " dir in tmpl proto esp\n"),
		0);
	assert_null(esp_database_find(&db, &our, 0x200));
	assert_ptr_equal(esp_database_find(&db, &our2, 0x200), in);
	assert_true(ip_addr_equal(&in->config.dst, &our2));
	assert_int_equal(in->window.top, 70);
	assert_ptr_equal(esp_database_find_outbound(&db, &peer, 0x100), out);
	assert_int_equal(out->sequence, 77);
	/* As IKE does it, which removes the SA before it adds it. */
	assert_int_equal(update(""), 0);
	assert_int_equal(update(PAIR), 0);
	expect_arrived(esp_database_find(&db, &our, 0x200), 70);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 77);
	/* And with what makes it another SA, but not another key. */
	assert_int_equal(update(SA(PEER, OUR2, "0x200", "replay-window 128 reqid 7")), 0);
	expect_arrived(esp_database_find(&db, &our2, 0x200), 70);
}

/** By one key: no IV is sent again, and nothing that was recorded is taken. */
static void a_changed_sa_goes_on(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER);
	struct esp_sa *in, *out;
	uint64_t iv_base;

	assert_int_equal(update(PAIR), 0);
	out = esp_database_find_outbound(&db, &peer, 0x100);
	out->sequence = 77;
	iv_base = out->config.iv_base;
	esp_window_accept(&esp_database_find(&db, &our, 0x200)->window, 70);
	assert_int_equal(update(SA(OUR, PEER, "0x100", "mode tunnel")
					 SA(PEER, OUR, "0x200", "replay-window 128 flag esn")),
		0);
	/* And once more with what it was. */
	for (unsigned i = 0; i < 2; i++) {
		out = esp_database_find_outbound(&db, &peer, 0x100);
		in = esp_database_find(&db, &our, 0x200);
		assert_int_equal(out->config.tunnel, i == 0);
		assert_int_equal(out->sequence, 77);
		assert_true(out->config.iv_base == iv_base);
		assert_int_equal(in->window.size, i == 0 ? 128 : 64);
		expect_arrived(in, 70);
		assert_int_equal(update(PAIR), 0);
	}
	/* It is known once. */
	esp_database_find_outbound(&db, &peer, 0x100)->sequence = 99;
	assert_int_equal(update(""), 0);
	assert_int_equal(update(PAIR), 0);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 99);
	expect_arrived(esp_database_find(&db, &our, 0x200), 70);
}

/** It has had more numbers than it would have then. */
static void an_sa_that_cannot_go_on_leaves_all_as_it_was(void **state)
{
	struct ip_addr our = addr(OUR);
	struct esp_sa *in;

	assert_int_equal(update(FAR_PAIR BOTH), 0);
	in = esp_database_find(&db, &our, 0x200);
	esp_window_accept(&in->window, FAR);
	assert_int_equal(
		update(SA(OUR, PEER, "0x900", "") SA(PEER, OUR, "0x200", "replay-window 64") BOTH),
		-EINVAL);
	assert_non_null(strstr(why, "0x200 has counted further"));
	assert_ptr_equal(esp_database_find(&db, &our, 0x200), in);
	assert_int_equal(leaves(PEER, 6, 7), 0x100);
}

/** An administrator may give one key to two addresses of ours. */
static void what_came_to_one_address_is_not_taken_at_another(void **state)
{
	struct ip_addr our = addr(OUR), our2 = addr(OUR2);
	const char *both = SA(PEER, OUR, "0x200", "replay-window 64")
		SA(PEER, OUR2, "0x200", "replay-window 64");

	assert_int_equal(update(SA(PEER, OUR, "0x200", "replay-window 64")), 0);
	esp_window_accept(&esp_database_find(&db, &our, 0x200)->window, 70);
	assert_int_equal(update(both), 0);
	expect_arrived(esp_database_find(&db, &our2, 0x200), 70);
	/* Of two that end the one that has come further tells. */
	esp_window_accept(&esp_database_find(&db, &our2, 0x200)->window, 90);
	assert_int_equal(update(""), 0);
	assert_int_equal(update(both), 0);
	expect_arrived(esp_database_find(&db, &our, 0x200), 90);
	expect_arrived(esp_database_find(&db, &our2, 0x200), 90);
}

#define IN         SA(PEER, OUR, "0x300", "replay-window 64 flag esn")
#define SHORT_IN   SA(PEER, OUR, "0x300", "replay-window 64")
#define OUT_TO(to) SA(OUR, to, "0x100", "")

/** One SPI and one key to all: no two go on with the IVs of one. */
static void of_two_that_come_back_each_has_its_own_ivs(void **state)
{
	struct ip_addr a = addr(PEER), b = addr("10.0.0.3"), c = addr("10.0.0.4"), our = addr(OUR);
	struct esp_sa *sa;
	uint64_t iv_base;

	assert_int_equal(update(IN OUT_TO(PEER) OUT_TO("10.0.0.3")), 0);
	esp_window_accept(&esp_database_find(&db, &our, 0x300)->window, FAR);
	esp_database_find_outbound(&db, &a, 0x100)->sequence = 77;
	sa = esp_database_find_outbound(&db, &b, 0x100);
	sa->sequence = 500;
	iv_base = sa->config.iv_base;
	assert_int_equal(update(IN), 0);
	/* A file that is refused has taken neither up. */
	assert_int_equal(update(OUT_TO("10.0.0.4") OUT_TO("10.0.0.5") SHORT_IN), -EINVAL);
	assert_int_equal(update(IN OUT_TO("10.0.0.3") OUT_TO(PEER)), 0);
	assert_int_equal(esp_database_find_outbound(&db, &a, 0x100)->sequence, 77);
	assert_int_equal(esp_database_find_outbound(&db, &b, 0x100)->sequence, 500);
	/* One that was never there goes on in place of one that was. */
	assert_int_equal(update(IN), 0);
	assert_int_equal(update(OUT_TO("10.0.0.4") OUT_TO(PEER) OUT_TO("10.0.0.3")), 0);
	sa = esp_database_find_outbound(&db, &c, 0x100);
	assert_int_equal(sa->sequence, 500);
	assert_true(sa->config.iv_base == iv_base);
	assert_int_equal(esp_database_find_outbound(&db, &a, 0x100)->sequence, 77);
	sa = esp_database_find_outbound(&db, &b, 0x100);
	assert_int_equal(sa->sequence, 0);
	assert_true(sa->config.iv_base != iv_base);
}

/** It would else send an IV again under its key, and take what was recorded. */
static void an_sa_that_comes_back_goes_on(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER);
	struct esp_sa *in, *out;
	uint64_t iv_base;

	assert_int_equal(update(PAIR BOTH), 0);
	out = esp_database_find_outbound(&db, &peer, 0x100);
	iv_base = out->config.iv_base;
	out->sequence = 77;
	out->packets = 76;
	out->octets = 7600;
	esp_window_accept(&esp_database_find(&db, &our, 0x200)->window, 70);
	assert_int_equal(update(BOTH), 0);
	/* Twice: what was taken up is kept again. Limits and the window may be others. */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(update(SA(OUR, PEER, "0x100", "limit packet-hard 90") SA(
					 PEER, OUR, "0x200", "replay-window 4096 reqid 7") BOTH),
			0);
		out = esp_database_find_outbound(&db, &peer, 0x100);
		assert_int_equal(out->sequence, 77);
		assert_int_equal(out->config.iv_base, iv_base);
		assert_int_equal(out->packets, 76);
		assert_int_equal(out->octets, 7600);
		assert_int_equal(out->config.max_packets, 90);
		in = esp_database_find(&db, &our, 0x200);
		assert_int_equal(in->window.top, 70);
		for (unsigned n = 1; n <= 70; n++)
			assert_int_equal(esp_window_check(&in->window, n), ESP_WINDOW_REPLAY);
		assert_int_equal(esp_window_check(&in->window, 71), ESP_WINDOW_NEW);
		assert_int_equal(update(""), 0);
	}
	/* It had more numbers than it would have now. */
	assert_int_equal(update(SA(PEER, OUR, "0x300", "replay-window 64 flag esn")), 0);
	esp_window_accept(&esp_database_find(&db, &our, 0x300)->window, FAR);
	assert_int_equal(update(""), 0);
	assert_int_equal(update(SA(PEER, OUR, "0x300", "replay-window 64")), -EINVAL);
}

#define SECOND UINT64_C(1000000000)

/** An SA has its time once, in whatever files it is, and wherever. */
static void its_time_goes_on(void **state)
{
	struct ip_addr our = addr(OUR), our2 = addr(OUR2);
	struct esp_sa *in;

	now = 100 * SECOND;
	assert_int_equal(update(SA(PEER, OUR, "0x200", "limit time-hard 10")), 0);
	in = esp_database_find(&db, &our, 0x200);
	assert_int_equal(in->config.began, 100 * SECOND);
	assert_int_equal(in->config.max_ns, 10 * SECOND);
	esp_window_accept(&in->window, 70);
	now = 105 * SECOND;
	assert_int_equal(update(SA(PEER, OUR, "0x200", "limit time-hard 20")), 0);
	assert_int_equal(in->config.began, 100 * SECOND);
	assert_int_equal(in->config.max_ns, 20 * SECOND);
	assert_int_equal(update(SA(PEER, OUR2, "0x200", "")), 0);
	assert_ptr_equal(esp_database_find(&db, &our2, 0x200), in);
	assert_int_equal(in->config.began, 100 * SECOND);
	assert_int_equal(in->config.max_ns, 0);
	assert_int_equal(update(""), 0);
	assert_int_equal(update(SA(PEER, OUR, "0x200", "limit time-hard 18446744073709551615")), 0);
	in = esp_database_find(&db, &our, 0x200);
	assert_int_equal(in->config.began, 100 * SECOND);
	assert_int_equal(in->config.max_ns, 0);
}

/** A key that is of a second address, too, has had its time and its packets. */
static void a_second_address_has_no_more_of_a_key(void **state)
{
	struct ip_addr our2 = addr(OUR2), our = addr(OUR);
	struct esp_sa *in;

	now = 100 * SECOND;
	assert_int_equal(update(SA(PEER, OUR, "0x200", "limit time-hard 10")), 0);
	esp_database_find(&db, &our, 0x200)->packets = 1000;
	esp_database_find(&db, &our, 0x200)->octets = 5000;
	now = 109 * SECOND;
	assert_int_equal(update(SA(PEER, OUR, "0x200", "limit time-hard 10")
					 SA(PEER, OUR2, "0x200", "limit time-hard 10")),
		0);
	in = esp_database_find(&db, &our2, 0x200);
	assert_int_equal(in->config.began, 100 * SECOND);
	assert_int_equal(in->packets, 1000);
	assert_int_equal(in->octets, 5000);
}

#define OTHER_KEY(from, to, spi)                                                     \
	"ip xfrm state add src " from " dst " to " proto esp spi " spi               \
	" aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a4 128\n" \
	"ip xfrm state add src " to " dst " from " proto esp spi " spi               \
	" enc 'cbc(aes)' 0x000102030405060708090a0b0c0d0e0f auth-trunc 'hmac(sha1)'" \
	" 0x000102030405060708090a0b0c0d0e0f10111213 96\n"

static void an_sa_with_another_key_begins(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER);

	assert_int_equal(update(PAIR), 0);
	esp_database_find_outbound(&db, &peer, 0x100)->sequence = 77;
	esp_window_accept(&esp_database_find(&db, &our, 0x200)->window, 70);
	assert_int_equal(update(OTHER_KEY(OUR, PEER, "0x100") OTHER_KEY(OUR, PEER, "0x200")), 0);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 0);
	assert_int_equal(esp_database_find(&db, &our, 0x200)->window.top, 0);
	esp_database_find_outbound(&db, &peer, 0x100)->sequence = 5;
	/* Those of before are known still, and so are these. */
	assert_int_equal(update(PAIR), 0);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 77);
	expect_arrived(esp_database_find(&db, &our, 0x200), 70);
	assert_int_equal(update(OTHER_KEY(OUR, PEER, "0x100")), 0);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 5);
}

#define KEY_0 "000102030405060708090a0b0c0d0e0f"
#define KEY_1 "100102030405060708090a0b0c0d0e0f"
#define HMAC(from, to, spi, enc)                                       \
	"ip xfrm state add src " from " dst " to " proto esp spi " spi \
	" replay-window 64 enc " enc                                   \
	" auth-trunc 'hmac(sha1)' 0x000102030405060708090a0b0c0d0e0f10111213 96\n"
#define HMAC_PAIR(enc) HMAC(OUR, PEER, "0x100", enc) HMAC(PEER, OUR, "0x200", enc)

/** By the ICV what was recorded is authentic, and would move the window. */
static void what_an_hmac_has_taken_is_not_taken_with_another_encryption(void **state)
{
	static const char *const files[] = {HMAC_PAIR("'cbc(aes)' 0x" KEY_0),
		HMAC_PAIR("'cbc(aes)' 0x" KEY_1), HMAC_PAIR("'ecb(cipher_null)' ''")};
	struct ip_addr our = addr(OUR), peer = addr(PEER);
	struct esp_sa *in, *was;

	assert_int_equal(update(files[0]), 0);
	esp_database_find_outbound(&db, &peer, 0x100)->sequence = 77;
	was = esp_database_find(&db, &our, 0x200);
	esp_window_accept(&was->window, 70);
	for (unsigned i = 0; i < 6; i++) {
		/* In its place; and when it had ended. */
		if (i >= 3)
			assert_int_equal(update(""), 0);
		assert_int_equal(update(files[(i + 1) % 3]), 0);
		in = esp_database_find(&db, &our, 0x200);
		assert_true(i >= 3 || in != was);
		was = in;
		assert_true(in->config.cipher.encryption == (i % 3 == 1 ? ESP_NULL : ESP_AES_CBC));
		expect_arrived(in, 70);
		assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 77);
	}
}

/** Two hosts have changed their addresses. */
static void an_sa_moves_to_where_another_key_was(void **state)
{
	struct ip_addr peer = addr(PEER), moved = addr("10.0.0.3");
	struct esp_sa *out;

	assert_int_equal(update(SA(OUR, PEER, "0x100", "") OTHER_KEY(OUR, "10.0.0.3", "0x100")), 0);
	out = esp_database_find_outbound(&db, &peer, 0x100);
	out->sequence = 77;
	esp_database_find_outbound(&db, &moved, 0x100)->sequence = 5;
	assert_int_equal(update(SA(OUR, "10.0.0.3", "0x100", "") OTHER_KEY(OUR, PEER, "0x100")), 0);
	assert_ptr_equal(esp_database_find_outbound(&db, &moved, 0x100), out);
	assert_int_equal(out->sequence, 77);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 5);
}

/** A file that is refused has taken nothing up. */
static void what_ended_is_known_until_a_file_is_in_force(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER);

	assert_int_equal(update(PAIR IN), 0);
	esp_database_find_outbound(&db, &peer, 0x100)->sequence = 77;
	esp_window_accept(&esp_database_find(&db, &our, 0x300)->window, FAR);
	assert_int_equal(update(IN), 0);
	assert_int_equal(update(PAIR SHORT_IN), -EINVAL);
	assert_int_equal(update(PAIR), 0);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 77);
}

/** @p n SAs from @p spi on, each of which has sent a packet. */
static void use_many(uint32_t spi, unsigned n)
{
	static char text[200 * ESP_STATES_MAX];
	struct ip_addr peer = addr(PEER);
	size_t len = 0;

	for (unsigned i = 0; i < n; i++)
		len += (size_t)snprintf(
			text + len, sizeof text - len, SA(OUR, PEER, "%u", ""), spi + i);
	if (update(text) != 0)
		fail_msg("%s", why);
	for (unsigned i = 0; i < n; i++)
		esp_database_find_outbound(&db, &peer, spi + i)->sequence = spi + i;
}

static void of_many_that_ended_the_first_do_not_come_back(void **state)
{
	struct ip_addr peer = addr(PEER);

	for (unsigned i = 0; i < ESP_ENDED_MAX; i += ESP_STATES_MAX)
		use_many(0x1000 + i, ESP_STATES_MAX);
	use_many(0x100, 2);
	assert_int_equal(update(""), 0);
	assert_int_equal(update(SA(OUR, PEER, "0x1001", "")), -EKEYEXPIRED);
	assert_non_null(strstr(why, "0x1001 may have had this key before"));
	assert_int_equal(db.outbound, 0);
	assert_int_equal(update(OTHER_KEY(OUR, PEER, "0x1001")), 0);
	assert_int_equal(update(SA(OUR, PEER, "0x1003", "")), 0);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x1003)->sequence, 0x1003);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_sa_is_used_and_the_old_ones_stay),
		TEST(a_changed_sa_goes_on),
		TEST(an_sa_that_cannot_go_on_leaves_all_as_it_was),
		TEST(ports_and_limits_change_and_the_rest_stays),
		TEST(a_peer_moves_with_its_sas),
		TEST(a_second_address_has_no_more_of_a_key),
		TEST(selectors_move_with_their_sas),
		TEST(we_move_with_our_sas),
		TEST(what_came_to_one_address_is_not_taken_at_another),
		TEST(of_two_that_come_back_each_has_its_own_ivs),
		TEST(an_sa_that_comes_back_goes_on),
		TEST(its_time_goes_on),
		TEST(an_sa_with_another_key_begins),
		TEST(what_an_hmac_has_taken_is_not_taken_with_another_encryption),
		TEST(an_sa_moves_to_where_another_key_was),
		TEST(what_ended_is_known_until_a_file_is_in_force),
		TEST(of_many_that_ended_the_first_do_not_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
