/* SPDX-License-Identifier: BSD-2-Clause */
/* The SPD and the SAD: what is chosen for a flow, and what a new file leaves in force. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/database.h"

#include <errno.h>
#include <string.h>

#define SA(from, to, spi, rest)                                        \
	"ip xfrm state add src " from " dst " to " proto esp spi " spi \
	" aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 128 " rest "\n"
#define OUR   "10.0.0.1"
#define OUR2  "10.0.0.11"
#define PEER  "10.0.0.2"
#define PAIR  SA(OUR, PEER, "0x100", "") SA(PEER, OUR, "0x200", "replay-window 64")
#define HOSTS "ip xfrm policy add src " OUR " dst " PEER " "
#define BACK  "ip xfrm policy add src " PEER " dst " OUR " "
#define BOTH  HOSTS "dir out tmpl proto esp\n" BACK "dir in tmpl proto esp\n"

static struct esp_database db;
static uint64_t now;
static char why[600];

/** Others each time. */
static void fill(void *ctx, void *to, size_t len)
{
	static uint8_t n;

	memset(to, ++n, len);
}

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static bool host_has(void *ctx, const struct ip_addr *a)
{
	struct ip_addr our = addr(OUR), our2 = addr(OUR2), our6 = addr("fd00::1");

	return ip_addr_equal(a, &our) || ip_addr_equal(a, &our2) || ip_addr_equal(a, &our6);
}

static int update(const char *text)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	const struct esp_host host = {host_has, NULL};
	struct esp_file *f;
	int rc;

	assert_non_null(in);
	if (esp_file_parse(in, "path", &host, &f, why, sizeof why) != 0)
		fail_msg("%s", why);
	fclose(in);
	rc = esp_database_update(&db, f, now, why, sizeof why);
	if (rc)
		esp_file_free(f);
	return rc;
}

static int set_up(void **state)
{
	now = 0;
	esp_database_init(&db, &(struct random_source){.fill = fill});
	return 0;
}

static int tear_down(void **state)
{
	esp_database_fini(&db);
	return 0;
}

static struct ip_flow flow(const char *src, const char *dst, uint8_t proto, uint16_t port)
{
	return (struct ip_flow){.src = addr(src),
		.dst = addr(dst),
		.proto = proto,
		.src_port = 9,
		.dst_port = port};
}

/** @return the SPI that the packet leaves by; 0: in the clear, -1: not at all, -2: there is none */
static int64_t leaves(const char *dst, uint8_t proto, uint16_t port)
{
	struct ip_flow f = flow(strchr(dst, ':') ? "fd00::1" : OUR, dst, proto, port);
	struct esp_sa *sa;

	/* Twice: the second answer is a remembered one. */
	(void)esp_database_output(&db, &f, &sa);
	switch (esp_database_output(&db, &f, &sa)) {
	case ESP_PROTECT:
		return sa ? (int64_t)sa->config.spi : -2;
	case ESP_BYPASS:
		return 0;
	default:
		return -1;
	}
}

static enum esp_arrival arrives(const char *src, uint8_t proto, uint32_t spi)
{
	struct ip_addr our = addr(OUR);
	struct ip_flow f = flow(src, OUR, proto, 7);

	return esp_database_input(&db, &f, spi ? esp_database_find(&db, &our, spi) : NULL);
}

static void without_a_policy_nothing_passes(void **state)
{
	assert_int_equal(leaves(PEER, 6, 7), -1);
	assert_int_equal(arrives(PEER, 6, 0), ESP_REFUSED);
	assert_int_equal(update(PAIR), 0);
	assert_int_equal(leaves(PEER, 6, 7), -1);
	assert_int_equal(arrives(PEER, 6, 0), ESP_REFUSED);
	assert_int_equal(update("ip xfrm policy setdefault in accept out accept"), 0);
	assert_int_equal(leaves(PEER, 6, 7), 0);
	assert_int_equal(arrives(PEER, 6, 0), ESP_ARRIVED);
}

static void the_first_policy_that_fits_decides(void **state)
{
	assert_int_equal(update(PAIR BOTH HOSTS "proto icmp dir out priority 0\n" HOSTS
						"proto tcp dport 22 dir out action block\n"),
		0);
	/* All have priority 0: the first of the file is for everything. */
	assert_int_equal(leaves(PEER, 1, 0), 0x100);
	assert_int_equal(update(HOSTS "proto icmp dir out\n" HOSTS
				      "proto tcp dport 22 dir out action block\n" PAIR BOTH),
		0);
	assert_int_equal(leaves(PEER, 1, 0), 0);
	assert_int_equal(leaves(PEER, 6, 22), -1);
	assert_int_equal(leaves(PEER, 6, 23), 0x100);
	assert_int_equal(leaves("10.0.0.3", 6, 23), -1);
}

static void what_must_be_protected_comes_by_its_sa_alone(void **state)
{
	assert_int_equal(update(PAIR BOTH SA("10.0.0.3", OUR, "0x300", "") BACK
				 "proto icmp dir in priority 1\n"),
		0);
	assert_int_equal(arrives(PEER, 6, 0), ESP_CLEAR);
	assert_int_equal(arrives(PEER, 6, 0x200), ESP_ARRIVED);
	/* The key of another peer, and again of the right one, which is remembered. */
	assert_int_equal(arrives(PEER, 6, 0x300), ESP_MISMATCH);
	assert_int_equal(arrives(PEER, 6, 0x200), ESP_ARRIVED);
	assert_int_equal(arrives(PEER, 6, 0x300), ESP_MISMATCH);
	assert_int_equal(arrives(PEER, 6, 0), ESP_CLEAR);
	assert_int_equal(arrives("10.0.0.3", 6, 0x300), ESP_REFUSED);
	assert_int_equal(update(PAIR BACK "dir in\n"), 0);
	assert_int_equal(arrives(PEER, 6, 0), ESP_ARRIVED);
	/* What may come in the clear is not what the SA is for. */
	assert_int_equal(arrives(PEER, 6, 0x200), ESP_MISMATCH);
}

static void templates_choose_among_sas(void **state)
{
	assert_int_equal(update(SA(OUR, PEER, "0x100", "reqid 1") SA(OUR, PEER, "0x101",
				 "reqid 2 sel src " OUR " dst " PEER " proto tcp") HOSTS
				 "proto tcp dport 1 dir out tmpl proto esp reqid 1\n" HOSTS
				 "proto tcp dport 2 dir out tmpl proto esp reqid 3\n" HOSTS
				 "proto tcp dport 3 dir out tmpl proto esp spi 0x100\n" HOSTS
				 "dir out tmpl proto esp\n"),
		0);
	assert_int_equal(leaves(PEER, 6, 1), 0x100);
	assert_int_equal(leaves(PEER, 6, 2), -2);
	assert_int_equal(leaves(PEER, 6, 3), 0x100);
	assert_int_equal(leaves(PEER, 6, 4), 0x101); /* the last that fits */
	assert_int_equal(leaves(PEER, 17, 4), 0x100);
}

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

static void a_changed_sa_leaves_all_as_it_was(void **state)
{
	struct ip_addr our = addr(OUR);
	struct esp_sa *in;

	assert_int_equal(update(PAIR BOTH), 0);
	in = esp_database_find(&db, &our, 0x200);
	assert_int_equal(
		update(SA(OUR, PEER, "0x900", "") SA(PEER, OUR, "0x200", "replay-window 128") BOTH),
		-EINVAL);
	assert_non_null(strstr(why, "0x200 is not what it was"));
	assert_ptr_equal(esp_database_find(&db, &our, 0x200), in);
	assert_int_equal(leaves(PEER, 6, 7), 0x100);
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

#define IN(rest)   SA(PEER, OUR, "0x300", rest)
#define OUT_TO(to) SA(OUR, to, "0x100", "")

/** One SPI and one key to all: no two go on with the IVs of one. */
static void of_two_that_come_back_each_has_its_own_ivs(void **state)
{
	struct ip_addr a = addr(PEER), b = addr("10.0.0.3"), c = addr("10.0.0.4");
	struct esp_sa *sa;
	uint64_t iv_base;

	assert_int_equal(update(IN("") OUT_TO(PEER) OUT_TO("10.0.0.3")), 0);
	esp_database_find_outbound(&db, &a, 0x100)->sequence = 77;
	sa = esp_database_find_outbound(&db, &b, 0x100);
	sa->sequence = 500;
	iv_base = sa->config.iv_base;
	assert_int_equal(update(IN("")), 0);
	/* A file that is refused has taken neither up. */
	assert_int_equal(
		update(OUT_TO("10.0.0.4") OUT_TO("10.0.0.5") IN("replay-window 64")), -EINVAL);
	assert_int_equal(update(IN("") OUT_TO("10.0.0.3") OUT_TO(PEER)), 0);
	assert_int_equal(esp_database_find_outbound(&db, &a, 0x100)->sequence, 77);
	assert_int_equal(esp_database_find_outbound(&db, &b, 0x100)->sequence, 500);
	/* One that was never there goes on in place of one that was. */
	assert_int_equal(update(IN("")), 0);
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
	esp_window_accept(&esp_database_find(&db, &our, 0x300)->window, (uint64_t)UINT32_MAX + 1);
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
	assert_int_equal(update(""), 0);
	assert_int_equal(update(OTHER_KEY(OUR, PEER, "0x100") OTHER_KEY(OUR, PEER, "0x200")), 0);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 0);
	assert_int_equal(esp_database_find(&db, &our, 0x200)->window.top, 0);
	assert_int_equal(update(PAIR), -EINVAL);
	assert_int_equal(update(""), 0);
	/* Those of before are known still. */
	assert_int_equal(update(PAIR), 0);
	assert_int_equal(esp_database_find_outbound(&db, &peer, 0x100)->sequence, 77);
	assert_int_equal(esp_database_find(&db, &our, 0x200)->window.top, 70);
}

/** A file that is refused has taken nothing up. */
static void what_ended_is_known_until_a_file_is_in_force(void **state)
{
	struct ip_addr peer = addr(PEER);

	assert_int_equal(update(PAIR SA(OUR, PEER, "0x101", "")), 0);
	esp_database_find_outbound(&db, &peer, 0x100)->sequence = 77;
	assert_int_equal(update(SA(OUR, PEER, "0x101", "")), 0);
	assert_int_equal(update(PAIR SA(OUR, PEER, "0x101", "flag esn replay-window 64")), -EINVAL);
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

static void sas_of_other_hosts_are_nobodys(void **state)
{
	struct ip_addr peer = addr(PEER);

	assert_int_equal(update(SA(PEER, "10.0.0.3", "0x400", "") SA(OUR, OUR, "0x401", "")), 0);
	assert_int_equal(db.inbound + db.outbound, 0);
	assert_null(esp_database_find_outbound(&db, &peer, 0x400));
}

#define PEERS 1000

/** One file for a mesh, in which each host sends with one SPI to all; other hosts have their part.
 * Policies are for pairs of hosts, and for the subnet. */
static void each_of_many_peers_has_its_own_sas(void **state)
{
	static char text[PEERS * 800];
	char peer[16];
	size_t len = 0;

	for (unsigned i = 0; i < PEERS; i++) {
		snprintf(peer, sizeof peer, "10.0.%u.%u", 1 + i / 250, 1 + i % 250);
		len += (size_t)snprintf(text + len, sizeof text - len,
			SA(OUR, "%s", "0x100", "") SA("%s", OUR, "%u", "")
				SA("%s", "10.0.9.9", "%u", "") "%s",
			peer, peer, 0x200 + i, peer, 0x200 + i,
			i % 2 ? "" : "ip xfrm policy add src 10.0.0.1 dst ");
		if (i % 2 == 0)
			len += (size_t)snprintf(
				text + len, sizeof text - len, "%s dir out tmpl proto esp\n", peer);
	}
	snprintf(text + len, sizeof text - len,
		"ip xfrm policy add src " OUR " dst 10.0.0.0/16 proto tcp dir out priority 1 "
		"tmpl proto esp\n"
		"ip xfrm policy add src 10.0.0.0/16 dst " OUR " dir in tmpl proto esp\n"
		"ip xfrm policy add src " OUR " dst 10.0.4.250 proto tcp dport 9 dir out "
		"priority 2 action block\n");
	if (update(text) != 0)
		fail_msg("%s", why);
	assert_int_equal(db.outbound, PEERS);
	assert_int_equal(db.inbound, PEERS);
	for (unsigned i = 0; i < PEERS; i++) {
		struct ip_addr to;
		struct ip_flow f;
		struct esp_sa *sa;

		snprintf(peer, sizeof peer, "10.0.%u.%u", 1 + i / 250, 1 + i % 250);
		to = addr(peer);
		f = flow(OUR, peer, 6, 9);
		assert_int_equal(esp_database_output(&db, &f, &sa), ESP_PROTECT);
		assert_ptr_equal(sa, esp_database_find_outbound(&db, &to, 0x100));
		assert_true(ip_addr_equal(&sa->config.dst, &to));
		assert_int_equal(leaves(peer, 17, 7), i % 2 ? -1 : 0x100);
		assert_int_equal(arrives(peer, 6, 0x200 + i), ESP_ARRIVED);
		assert_int_equal(arrives(peer, 6, 0x200 + (i + 1) % PEERS), ESP_MISMATCH);
	}
}

static void room_is_that_of_the_worst_policy(void **state)
{
	struct ip_addr our = addr(OUR), peer = addr(PEER), far = addr("10.9.0.1"), to;
	struct ip_addr our6 = addr("fd00::1"), peer6 = addr("fd00::2");

	assert_int_equal(
		update(PAIR BOTH "ip xfrm policy add src " OUR
				 " dst 10.9.0.0/16 dir out tmpl src " OUR
				 " dst 10.0.0.9 proto esp mode tunnel\n"
				 "ip xfrm policy add src fd00::1 dst fd00::2 proto tcp dir out\n"),
		0);
	/* 1500 - 20 - 16 - 16 = 1448, of which 2 are the trailer. */
	assert_int_equal(esp_database_room(&db, &our, &peer, 1500, &to), 1466);
	assert_true(ip_addr_equal(&to, &peer));
	assert_int_equal(esp_database_room(&db, &our, &far, 1500, &to), 1446);
	peer = addr("10.0.0.9");
	assert_true(ip_addr_equal(&to, &peer));
	assert_int_equal(esp_database_room(&db, &our6, &peer6, 1500, &to), 1500);
	assert_true(ip_addr_equal(&to, &peer6));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(without_a_policy_nothing_passes),
		TEST(the_first_policy_that_fits_decides),
		TEST(what_must_be_protected_comes_by_its_sa_alone),
		TEST(templates_choose_among_sas),
		TEST(the_last_sa_is_used_and_the_old_ones_stay),
		TEST(a_changed_sa_leaves_all_as_it_was),
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
		TEST(what_ended_is_known_until_a_file_is_in_force),
		TEST(of_many_that_ended_the_first_do_not_come_back),
		TEST(sas_of_other_hosts_are_nobodys),
		TEST(each_of_many_peers_has_its_own_sas),
		TEST(room_is_that_of_the_worst_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
