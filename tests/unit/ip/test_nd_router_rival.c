/* SPDX-License-Identifier: BSD-2-Clause */
/* Routers, and stations that say they are: who is believed, and which router is used. */
#include "nd_frame.h"

#include "ip/nd.h"
#include "ip/stack.h"

#include <rte_mbuf.h>
#include <stdio.h>

/* RFC 4861 section 7.2.5: an advertisement that does not change the entry. */
static void rival_does_not_speak_for_the_router(void **state)
{
	struct host *h = nd_frame_host_with_router();
	struct ip_path p = {.tos = 0};

	/* Without the override flag, of another address. */
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 00 00 00 00" LL2 RIVAL, 0);
	assert_true(host_neighbour(h, "fe80::2")->router);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	/* With it, while packets go to the known address. */
	nd_frame_send_beyond(h, &p);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 20 00 00 00" LL2 RIVAL, 0);
	assert_true(host_neighbour(h, "fe80::2")->router);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	/* The same without an address, from the other station. */
	nd_frame_input(h,
		"02 00 00 00 00 01 02 00 00 00 00 66 86 dd" HEAD LL2 LL_US
		"88 00 00 00 40 00 00 00" LL2,
		0);
	assert_true(host_neighbour(h, "fe80::2")->router);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	/* Nor is a host a router by that. */
	nd_frame_input(h, ETH HEAD FD2 FD1 NS FD1 SLLA, 0);
	host_forget(h);
	nd_frame_input(h,
		"33 33 00 00 00 01 02 00 00 00 00 66 86 dd" HEAD FD2 ALL
		"88 00 00 00 80 00 00 00" FD2,
		0);
	assert_false(host_neighbour(h, "fd00::2")->router);
	/* The router's own word counts, also without an address. */
	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 40 00 00 00" LL2, 0);
	assert_false(host_neighbour(h, "fe80::2")->router);
	assert_false(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

#define ETH66       "33 33 00 00 00 01 02 00 00 00 00 66 86 dd "
#define SLLA66      "01 01 02 00 00 00 00 66 "
#define RA_SHORT    "86 00 00 00 40 00 00 01 00 00 00 00 00 00 00 00 "
#define RA_LOW      "86 00 00 00 40 18 07 08 00 00 00 00 00 00 00 00 "
#define RA_HIGH     "86 00 00 00 40 08 07 08 00 00 00 00 00 00 00 00 "
#define RA_LOW_LONG "86 00 00 00 40 18 0e 10 00 00 00 00 00 00 00 00 "
#define NA_HOST     "88 00 00 00 20 00 00 00 " /* not a router's; override */

static bool is_router(struct host *h, const char *addr)
{
	struct ip_addr a = host_addr(addr);

	return route_of_router(h->ip, &a) != NULL;
}

static int preference(struct host *h, const char *addr)
{
	struct ip_addr a = host_addr(addr);

	return route_of_router(h->ip, &a)->preference;
}

/* All that another station may say of the router @p addr, whose text is @p ll. */
static void forge(struct host *h, const char *addr, const char *ll)
{
	static const char *const ra[] = {RA_END, RA_SHORT, RA_LOW, RA_HIGH};
	char hex[512];

	for (unsigned i = 0; i < 10; i++) {
		const char *text = i < 8 ? ra[i / 2] : NA_HOST;

		snprintf(hex, sizeof hex, ETH66 HEAD "%s" ALL "%s%s%s", ll, text, i < 8 ? "" : ll,
			!(i & 1) ? ""
			: i < 8  ? SLLA66
				 : RIVAL);
		nd_frame_input(h, hex, 0);
		host_run(h, SECOND / 100);
		assert_true(is_router(h, addr));
		assert_int_equal(preference(h, addr), 0);
	}
	host_run(h, SECOND / 2);
	assert_true(is_router(h, addr));
}

/* Nor by an RA that ends it, ends it sooner, or makes another router better. */
static void rival_does_not_retire_the_router(void **state)
{
	struct host *h = nd_frame_host_with_router();
	struct ip_path p = {.tos = 0};

	nd_frame_input(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	nd_frame_send_beyond(h, &p);
	forge(h, "fe80::2", LL2);
	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 c0 00 00 00" LL2 TLLA, 0);
	forge(h, "fe80::2", LL2);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	/* Its own word counts. */
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_LOW, 0);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::3"));
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	assert_false(is_router(h, "fe80::2"));
	/* What is new takes nothing from it. */
	nd_frame_input(h, ETH66 HEAD LL2 ALL RA, 0);
	assert_true(is_router(h, "fe80::2"));
	host_free(h);
}

/* Nothing was sent to it yet; nor is its address known, but who advertised it. */
static void nor_a_router_that_waits(void **state)
{
	struct host *h = nd_frame_host_with_router();

	nd_frame_input(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	forge(h, "fe80::3", LL3);
	assert_int_equal(host_neighbour(h, "fe80::3")->eth[5], 3);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	nd_frame_input(h, ETH3 HEAD LL3 ALL RA_END SLLA3, 0);
	assert_false(is_router(h, "fe80::3"));
	host_free(h);

	h = host_new_v6();
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA, 0);
	forge(h, "fe80::2", LL2);
	forge(h, "fe80::2", LL2);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	assert_false(is_router(h, "fe80::2"));
	host_free(h);
}

/* RFC 4861 section 6.2.3: a router of several stations need not say whose it is. */
static void another_station_of_a_router_prolongs_it(void **state)
{
	struct host *h = nd_frame_host_with_router();

	nd_frame_input(h, ETH66 HEAD LL2 ALL RA_LOW_LONG, 0);
	assert_int_equal(preference(h, "fe80::2"), 0);
	host_run(h, 3599 * SECOND);
	assert_true(is_router(h, "fe80::2"));
	host_run(h, 2 * SECOND);
	assert_false(is_router(h, "fe80::2"));
	host_free(h);
}

/* A router may get another station: what does not answer any more does not speak for it. */
static void router_that_moved_speaks_for_itself(void **state)
{
	struct host *h = nd_frame_host_with_router();
	struct ip_path p = {.tos = 0};

	nd_frame_send_beyond(h, &p);
	nd_frame_input(h, ETH66 HEAD LL2 ALL RA SLLA66, 0);
	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_true(host_neighbour(h, "fe80::2")->answered);
	host_run(h, 2 * SECOND);
	nd_frame_input(h, ETH66 HEAD LL2 ALL RA SLLA66, 0);
	host_run(h, SECOND - SECOND / 10);
	assert_int_equal(host_neighbour(h, "fe80::2")->eth[5], 0x66);
	nd_frame_input(h, ETH66 HEAD LL2 ALL RA_LOW SLLA66, 0);
	assert_int_equal(preference(h, "fe80::2"), 0); /* it is being asked */
	nd_frame_input(h,
		"02 00 00 00 00 01 02 00 00 00 00 66 86 dd" HEAD LL2 LL_US
		"88 00 00 00 e0 00 00 00" LL2 RIVAL,
		0);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_LOW SLLA, 0);
	assert_int_equal(preference(h, "fe80::2"), 0);
	nd_frame_input(h, ETH66 HEAD LL2 ALL RA, 0);
	/* That is remembered when the neighbour is forgotten. */
	host_run(h, 700 * SECOND);
	assert_null(host_neighbour(h, "fe80::2"));
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	assert_true(is_router(h, "fe80::2"));
	nd_frame_input(h, ETH66 HEAD LL2 ALL RA_END, 0);
	assert_false(is_router(h, "fe80::2"));
	host_free(h);
}

/* The last octet of the station that the last packet of TCP went to; 0: none was sent. */
static unsigned last_station(const struct host *h)
{
	for (unsigned i = h->n_tx; i-- > 0;) {
		const uint8_t *f = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

		if (f[20] == IP_PROTO_TCP)
			return f[5];
	}
	return 0;
}

/* What is said unasked, as if it had been, proves nothing; what is answered does, and progress. */
static void router_that_answers_was_reached(void **state)
{
	struct host *h = nd_frame_host_with_router();
	struct ip_addr ll2 = host_addr("fe80::2");
	struct ip_path p = {.tos = 0};

	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_int_equal(host_neighbour(h, "fe80::2")->state, NEIGHBOUR_REACHABLE);
	assert_false(route_of_router(h->ip, &ll2)->reached);
	nd_frame_send_beyond(h, &p);
	host_run(h, 31 * SECOND);
	nd_frame_send_beyond(h, &p);
	host_run(h, 5 * SECOND + SECOND / 10);
	assert_int_equal(host_neighbour(h, "fe80::2")->state, NEIGHBOUR_PROBE);
	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_true(route_of_router(h->ip, &ll2)->reached);
	/* It stays so when the preference changes, and when it comes back. */
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_LOW SLLA, 0);
	assert_true(route_of_router(h->ip, &ll2)->reached);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END SLLA, 0);
	assert_false(is_router(h, "fe80::2"));
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	assert_true(route_of_router(h->ip, &ll2)->reached);
	/* But not when it does not answer any more. */
	host_run(h, 31 * SECOND);
	nd_frame_send_beyond(h, &p);
	host_run(h, 8 * SECOND + SECOND / 10);
	assert_int_equal(host_neighbour(h, "fe80::2")->state, NEIGHBOUR_INCOMPLETE);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA, 0);
	assert_false(route_of_router(h->ip, &ll2)->reached);
	host_free(h);

	/* What comes for another reason while it is being asked is no answer. */
	h = host_new_v6();
	p.generation = 0;
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA, 0);
	nd_frame_send_beyond(h, &p);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 a0 00 00 00" LL2 TLLA, 0);
	assert_int_equal(last_station(h), 2);
	assert_false(route_of_router(h->ip, &ll2)->reached);
	host_free(h);

	h = nd_frame_host_with_router();
	p.generation = 0;
	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	nd_frame_send_beyond(h, &p);
	neighbour_confirm(h->ip, host_neighbour(h, "fe80::2"), h->now, h->now);
	assert_true(route_of_router(h->ip, &ll2)->reached);
	host_free(h);
}

/* RFC 4861 section 7.2.5: what does not tell the address that is asked for is dropped. */
static void router_without_an_address_stays_unknown(void **state)
{
	struct host *h = host_new_v6();
	struct ip_path p = {.tos = 0};

	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA, 0);
	nd_frame_send_beyond(h, &p);
	assert_int_equal(host_neighbour(h, "fe80::2")->state, NEIGHBOUR_INCOMPLETE);
	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2, 0);
	assert_int_equal(host_neighbour(h, "fe80::2")->state, NEIGHBOUR_INCOMPLETE);
	assert_false(host_neighbour(h, "fe80::2")->router);
	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_true(host_neighbour(h, "fe80::2")->router);
	host_free(h);
}

/* RFC 4861 sections 6.3.6 and 7.3.3: a router that went away, then one that never was there. */
static void another_router_is_used_when_one_does_not_answer(void **state)
{
	struct host *h = nd_frame_host_with_router();
	struct ip_path p = {.tos = 0};

	nd_frame_input(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	nd_frame_send_beyond(h, &p);
	assert_int_equal(last_station(h), 2);
	host_run(h, 8 * SECOND + SECOND / 10);
	host_forget(h);
	nd_frame_send_beyond(h, &p);
	assert_int_equal(last_station(h), 3);
	host_free(h);

	h = host_new_v6();
	p.generation = 0;
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA, 0);
	nd_frame_input(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	nd_frame_send_beyond(h, &p);
	assert_int_equal(last_station(h), 0);
	host_run(h, 3 * SECOND + SECOND / 10);
	assert_int_equal(last_station(h), 3); /* it waited for the other one */
	assert_int_equal(h->n_errors, 0);
	/* Nobody is there: each is asked in turn, and what waits is told of. */
	host_run(h, 8 * SECOND);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	nd_frame_send_beyond(h, &p);
	host_run(h, 3 * SECOND + SECOND / 10);
	assert_int_equal(h->n_errors, 1);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::3"));
	host_free(h);
}

/** Was fe80::@p of asked for in what was sent? It is forgotten. */
static bool was_asked(struct host *h, unsigned of)
{
	bool asked = false;

	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *f = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

		asked |= f[20] == 58 && f[54] == 0x87 && f[62] == 0xfe && f[77] == of;
	}
	host_forget(h);
	return asked;
}

/* Whoever speaks for a router that was left, as if it had been asked, does not keep it so. */
static void router_that_was_left_is_asked_whatever_is_said(void **state)
{
	struct host *h = nd_frame_host_with_router();
	struct ip_path p = {.tos = 0};
	bool asked = false;

	nd_frame_input(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	nd_frame_send_beyond(h, &p);
	host_run(h, 14 * SECOND);
	assert_null(host_neighbour(h, "fe80::2"));
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::3"));
	host_forget(h);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	for (unsigned i = 0; i < 61 && !asked; i++) {
		nd_frame_send_beyond(h, &p);
		nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
		neighbour_confirm(h->ip, host_neighbour(h, "fe80::3"), h->now, h->now);
		host_run(h, SECOND);
		asked = was_asked(h, 2);
	}
	assert_true(asked);
	nd_frame_input(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rival_does_not_speak_for_the_router),
		cmocka_unit_test(rival_does_not_retire_the_router),
		cmocka_unit_test(nor_a_router_that_waits),
		cmocka_unit_test(another_station_of_a_router_prolongs_it),
		cmocka_unit_test(router_that_moved_speaks_for_itself),
		cmocka_unit_test(router_that_answers_was_reached),
		cmocka_unit_test(router_without_an_address_stays_unknown),
		cmocka_unit_test(another_router_is_used_when_one_does_not_answer),
		cmocka_unit_test(router_that_was_left_is_asked_whatever_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
