/* SPDX-License-Identifier: BSD-2-Clause */
/* Which station has a neighbour's address, when two claim it: ARP and ND alike. */
#include "host.h"
#include "ip/arp_wire.h"
#include "ip/icmp_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

#define OWNER  2
#define FORGER 9
#define THIRD  7

struct net {
	struct host *h;
	struct ip_path path;
	bool v6;
};

static struct ip_addr peer(const struct net *n)
{
	return host_addr(n->v6 ? "fd00::2" : "10.0.0.2");
}

static struct ip_neighbour *entry(struct net *n)
{
	struct ip_addr a = peer(n);

	return neighbour_find(n->h->ip, &a);
}

/* ---- what goes over the wire --------------------------------------------------------------- */

/* The peer is at @who, says a reply to us or an announcement to all. */
static void say_arp(struct net *n, uint8_t who, bool reply)
{
	struct bytes b = bytes(reply ? "02 00 00 00 00 01" : "ff ff ff ff ff ff");

	bytes_add(&b, "02 00 00 00 00 00 08 06 00 01 08 00 06 04 00 00"
		      "02 00 00 00 00 00 0a 00 00 02 02 00 00 00 00 00 0a 00 00 00");
	b.b[ETH_SRC + 5] = b.b[ETH_LEN + ARP_SHA + 5] = who;
	store_be16(b.b + ETH_LEN + ARP_OP, reply ? ARP_OP_REPLY : ARP_OP_REQUEST);
	b.b[ETH_LEN + ARP_TPA + 3] = reply ? 1 : 2;
	host_input(n->h, &b, 0);
}

static void say_na(struct net *n, uint8_t who, bool reply)
{
	struct bytes b = bytes("02 00 00 00 00 01 02 00 00 00 00 00 86 dd 60 00 00 00 00 20 3a ff"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
			       "88 00 00 00 20 00 00 00"
			       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
			       "02 01 02 00 00 00 00 00");

	b.b[ETH_SRC + 5] = b.b[b.len - 1] = who;
	if (reply)
		b.b[ETH_LEN + IPV6_LEN + ND_FLAGS] |= 0x40;
	fix_v6(&b);
	host_input(n->h, &b, 0);
}

static void claim(struct net *n, uint8_t who)
{
	(n->v6 ? say_na : say_arp)(n, who, false);
}

static void answer(struct net *n, uint8_t who)
{
	(n->v6 ? say_na : say_arp)(n, who, true);
}

/* The one frame that was sent must be a question to @who; 0: to all. */
static void expect_question(struct net *n, uint8_t who)
{
	const uint8_t *f;

	assert_int_equal(n->h->n_tx, 1);
	f = rte_pktmbuf_mtod(n->h->tx[0], const uint8_t *);
	if (n->v6)
		assert_int_equal(f[ETH_LEN + IPV6_LEN + ICMP_TYPE], ICMPV6_NS);
	else
		assert_int_equal(load_be16(f + ETH_TYPE), ETH_TYPE_ARP);
	assert_int_equal(eth_addr_is_group(f), who == 0);
	if (who)
		assert_int_equal(f[5], who);
	host_forget(n->h);
}

/* What is sent now must go to @who. */
static void expect_data_to(struct net *n, uint8_t who)
{
	struct host *h = n->h;

	host_forget(h);
	assert_int_equal(ip_send(h->ip, &n->path, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(rte_pktmbuf_mtod(h->tx[0], const uint8_t *)[5], who);
	host_forget(h);
}

static void progress(struct net *n)
{
	ip_path_confirm(n->h->ip, &n->path, n->h->now, n->h->now);
}

static void doubt(struct net *n)
{
	ip_doubt(n->h->ip, &n->path.dst, n->h->now);
}

/* A neighbour that is being sent to, at @who. */
static struct net net_new(void **state, uint8_t who)
{
	struct net n = {.v6 = *state != NULL};
	struct ip_addr src = host_addr(n.v6 ? "fd00::1" : "10.0.0.1"), dst = peer(&n);

	n.h = n.v6 ? host_new_v6() : host_new_v4();
	assert_int_equal(ip_path_init(n.h->ip, &n.path, &src, &dst, n.h->now), 0);
	assert_int_equal(
		ip_send(n.h->ip, &n.path, IP_PROTO_TCP, host_segment(n.h, 20), n.h->now), 0);
	expect_question(&n, 0);
	answer(&n, who);
	expect_data_to(&n, who);
	assert_int_equal(entry(&n)->state, NEIGHBOUR_REACHABLE);
	return n;
}

/* ---- claims -------------------------------------------------------------------------------- */

static void claim_is_verified_and_refused(void **state)
{
	struct net n = net_new(state, OWNER);

	claim(&n, FORGER);
	expect_question(&n, OWNER);
	expect_data_to(&n, OWNER);
	assert_int_equal(n.h->log_lines, 0);
	answer(&n, FORGER); /* faster than the owner, the only one that we asked */
	expect_data_to(&n, OWNER);
	answer(&n, OWNER);
	assert_int_equal(entry(&n)->state, NEIGHBOUR_REACHABLE);
	assert_int_equal(n.h->log_lines, 1);
	assert_non_null(strstr(n.h->log_text, "02:00:00:00:00:09 claims to be"));
	assert_non_null(strstr(n.h->log_text, "02:00:00:00:00:02 answered when it was asked"));
	expect_data_to(&n, OWNER);
	assert_int_equal(ip_stack_stats(n.h->ip)->neighbour_refused, 1);
	assert_int_equal(ip_stack_stats(n.h->ip)->neighbour_moved, 0);
	host_free(n.h);
}

/* Five seconds of it, ten a second: one question a second, and the log has had its line. */
static void flood_of_claims(void **state)
{
	struct net n = net_new(state, OWNER);
	unsigned questions = 0;

	for (unsigned i = 0; i < 50; i++) {
		claim(&n, FORGER);
		answer(&n, FORGER);
		if (n.h->n_tx) {
			questions++;
			expect_question(&n, OWNER);
			answer(&n, FORGER);
			answer(&n, OWNER);
		}
		expect_data_to(&n, OWNER);
		host_run(n.h, SECOND / 10);
	}
	assert_in_range(questions, 4, 6);
	assert_int_equal(n.h->log_lines, 1);
	host_free(n.h);
}

/* A router takes over from one that is dead: its word is believed within a second. */
static void takeover(void **state)
{
	struct net n = net_new(state, OWNER);

	progress(&n);
	claim(&n, THIRD);
	expect_question(&n, OWNER);
	host_run(n.h, SECOND / 4 + SECOND / 100);
	expect_question(&n, OWNER);
	expect_data_to(&n, OWNER);
	host_run(n.h, SECOND / 4);
	expect_question(&n, OWNER);
	host_run(n.h, SECOND / 4);
	expect_question(&n, THIRD);
	expect_data_to(&n, THIRD);
	answer(&n, THIRD);
	assert_int_equal(entry(&n)->state, NEIGHBOUR_REACHABLE);
	assert_int_equal(ip_stack_stats(n.h->ip)->neighbour_moved, 1);
	host_run(n.h, 20 * SECOND);
	host_expect_nothing(n.h);
	expect_data_to(&n, THIRD);
	host_free(n.h);
}

/* We believe a forger, as the owner was slow, and the forger is silent then: all are asked. */
static void believed_and_silent(void **state)
{
	struct net n = net_new(state, OWNER);

	claim(&n, FORGER);
	host_run(n.h, SECOND * 3 / 4 + SECOND / 100);
	expect_data_to(&n, FORGER);
	host_run(n.h, 2 * SECOND + SECOND / 10);
	host_forget(n.h);
	host_run(n.h, SECOND);
	expect_question(&n, 0);
	answer(&n, OWNER);
	expect_data_to(&n, OWNER);
	host_free(n.h);
}

/* Nobody sends there: then nothing is lost by believing it (RFC 4861 section 7.2.5). */
static void unused_entry_is_changed_at_once(void **state)
{
	struct net n = net_new(state, OWNER);

	entry(&n)->used = 0;
	claim(&n, THIRD);
	host_expect_nothing(n.h);
	expect_data_to(&n, THIRD);
	host_free(n.h);
}

/* ---- doubts -------------------------------------------------------------------------------- */

static void doubt_asks_at_once_and_not_too_often(void **state)
{
	struct net n = net_new(state, OWNER);

	doubt(&n);
	expect_question(&n, OWNER);
	expect_data_to(&n, OWNER);
	answer(&n, OWNER);
	assert_int_equal(entry(&n)->state, NEIGHBOUR_REACHABLE);
	for (unsigned i = 0; i < 9; i++) {
		host_run(n.h, SECOND / 10);
		doubt(&n);
		host_expect_nothing(n.h);
	}
	host_run(n.h, SECOND / 10);
	doubt(&n); /* no progress all the same: any other owner may say so */
	expect_question(&n, 0);
	answer(&n, OWNER);
	expect_data_to(&n, OWNER);
	host_free(n.h);
}

/* The address moved without a word. */
static void doubt_finds_who_has_moved(void **state)
{
	struct net n = net_new(state, OWNER);

	doubt(&n);
	host_run(n.h, 3 * SECOND - SECOND / 10);
	host_forget(n.h);
	host_run(n.h, SECOND / 5);
	expect_question(&n, 0);
	answer(&n, THIRD);
	expect_data_to(&n, THIRD);
	host_free(n.h);
}

/* The forger was faster than the owner when we asked all, and answers whatever we ask. */
static void first_answer_was_a_lie(void **state)
{
	struct net n = net_new(state, FORGER);

	claim(&n, OWNER); /* the owner's answer, which came second */
	expect_question(&n, FORGER);
	answer(&n, FORGER);
	expect_data_to(&n, FORGER);
	host_run(n.h, SECOND);
	doubt(&n);
	expect_question(&n, OWNER);
	expect_data_to(&n, FORGER);
	answer(&n, OWNER);
	expect_data_to(&n, OWNER);
	/* From now on the forger has to convince us. */
	progress(&n);
	host_run(n.h, SECOND);
	claim(&n, FORGER);
	expect_question(&n, OWNER);
	answer(&n, OWNER);
	expect_data_to(&n, OWNER);
	host_free(n.h);
}

/* A rival that says no more is forgotten while there is progress: the owner may be silent then. */
static void rivals_age(void **state)
{
	struct net n = net_new(state, OWNER);

	claim(&n, FORGER);
	expect_question(&n, OWNER);
	answer(&n, OWNER);
	for (unsigned i = 0; i < 29; i++) {
		host_run(n.h, SECOND);
		expect_data_to(&n, OWNER);
		progress(&n);
	}
	assert_true(entry(&n)->has_rival);
	host_run(n.h, 2 * SECOND);
	expect_data_to(&n, OWNER);
	progress(&n);
	assert_false(entry(&n)->has_rival);
	/* So it is not believed when nobody answers. */
	doubt(&n);
	expect_question(&n, OWNER);
	host_run(n.h, 2 * SECOND);
	expect_data_to(&n, OWNER);
	assert_int_equal(ip_stack_stats(n.h->ip)->neighbour_moved, 0);
	host_free(n.h);
}

/* A rival that goes on is not forgotten. */
static void loud_rivals_do_not_age(void **state)
{
	struct net n = net_new(state, OWNER);

	for (unsigned i = 0; i < 600; i++) {
		claim(&n, FORGER);
		if (n.h->n_tx) {
			expect_question(&n, OWNER);
			answer(&n, OWNER);
		}
		expect_data_to(&n, OWNER);
		progress(&n);
		host_run(n.h, SECOND / 10);
	}
	assert_true(entry(&n)->has_rival);
	host_free(n.h);
}

/* The owner was too busy to answer three times, the forger was not: progress decides. */
static void back_to_who_brought_progress(void **state)
{
	struct net n = net_new(state, OWNER);

	progress(&n);
	claim(&n, FORGER);
	host_run(n.h, SECOND * 3 / 4 + SECOND / 100);
	host_forget(n.h);
	answer(&n, FORGER);
	expect_data_to(&n, FORGER);
	/* An ACK of what went to the owner before says nothing for the forger. */
	ip_path_confirm(n.h->ip, &n.path, n.h->now - SECOND, n.h->now);
	host_run(n.h, SECOND / 2);
	doubt(&n);
	expect_question(&n, OWNER);
	claim(&n, FORGER);
	answer(&n, FORGER);
	expect_data_to(&n, FORGER);
	answer(&n, OWNER);
	expect_data_to(&n, OWNER);
	assert_int_equal(ip_stack_stats(n.h->ip)->neighbour_moved, 2);
	host_free(n.h);
}

/* The one that is asked beside the known one is not there. */
static void lost_candidates_are_forgotten(void **state)
{
	struct net n = net_new(state, OWNER);

	progress(&n);
	claim(&n, THIRD);
	host_run(n.h, SECOND);
	host_forget(n.h);
	answer(&n, THIRD);
	doubt(&n); /* as nothing was sent to it, this is not about THIRD */
	host_expect_nothing(n.h);
	expect_data_to(&n, THIRD);
	host_run(n.h, SECOND);
	doubt(&n); /* THIRD had no progress yet, OWNER had */
	expect_question(&n, OWNER);
	host_run(n.h, SECOND * 3 / 4 + SECOND / 100);
	host_forget(n.h);
	assert_false(entry(&n)->has_proven);
	answer(&n, THIRD);
	expect_data_to(&n, THIRD);
	assert_int_equal(entry(&n)->state, NEIGHBOUR_REACHABLE);
	host_free(n.h);
}

#define BOTH(test)                                           \
	{#test ", ARP", test, NULL, NULL, NULL},             \
	{                                                    \
#test ", ND", test, NULL, NULL, (void *)"ND" \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(claim_is_verified_and_refused),
		BOTH(flood_of_claims),
		BOTH(takeover),
		BOTH(believed_and_silent),
		BOTH(unused_entry_is_changed_at_once),
		BOTH(doubt_asks_at_once_and_not_too_often),
		BOTH(doubt_finds_who_has_moved),
		BOTH(first_answer_was_a_lie),
		BOTH(rivals_age),
		BOTH(loud_rivals_do_not_age),
		BOTH(back_to_who_brought_progress),
		BOTH(lost_candidates_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
