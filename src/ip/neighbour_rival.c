/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/neighbour_priv.h"
#include "ip/stack.h"

#define SECOND UINT64_C(1000000000)

#define VERIFY_INTERVAL_NS SECOND        /* claims and doubts do not make us ask more often */
#define DOUBT_LIFE_NS      (30 * SECOND) /* a doubt, or a claim, that nothing followed */

void neighbour_prove(struct ip_neighbour *n, uint64_t now)
{
	n->answered = true;
	route_keep_prefixes(n->stack, &n->addr, now);
	route_return_to_gateway(n->stack, &n->addr, now);
}

static void neighbour_take_mac(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	memcpy(n->eth, mac, ETH_ADDR_LEN);
	n->taken = n->since = now;
	n->answered = false;
}

static void neighbour_log_move(const struct ip_neighbour *n, const uint8_t *from, const uint8_t *to)
{
	char text[IP_ADDR_STRLEN];

	log_printf(n->stack->cfg.log, LOG_LEVEL_INFO,
		"ip: %s is no longer at " ETH_ADDR_FORMAT " but at " ETH_ADDR_FORMAT,
		ip_addr_format(&n->addr, text), ETH_ADDR_ARGS(from), ETH_ADDR_ARGS(to));
}

void neighbour_move(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	uint8_t from[ETH_ADDR_LEN], to[ETH_ADDR_LEN];

	memcpy(from, n->eth, ETH_ADDR_LEN);
	memcpy(to, mac, ETH_ADDR_LEN);
	neighbour_log_move(n, from, to);
	n->stack->stats.neighbour_moved++;
	n->moved = true;
	neighbour_take_mac(n, to, now);
	memcpy(n->rival, from, ETH_ADDR_LEN);
	n->claimed = now;
}

/* Once for each neighbour: it may go on for long. */
static void neighbour_log_rival(struct ip_neighbour *n)
{
	char text[IP_ADDR_STRLEN];

	n->stack->stats.neighbour_refused++;
	if (n->told)
		return;
	n->told = true;
	log_printf(n->stack->cfg.log, LOG_LEVEL_WARNING,
		"ip: " ETH_ADDR_FORMAT " claims to be %s, but " ETH_ADDR_FORMAT
		" answered when it was asked, and is believed",
		ETH_ADDR_ARGS(n->rival), ip_addr_format(&n->addr, text), ETH_ADDR_ARGS(n->eth));
}

/* May a claim or a doubt make us ask now? RFC 1122 section 2.3.2.1: no ARP floods. */
static bool neighbour_may_ask(uint64_t *last, uint64_t now)
{
	if (*last && now - *last < VERIFY_INTERVAL_NS)
		return false;
	*last = now;
	return true;
}

/* Somebody else says that a neighbour in use has moved to it. */
static void neighbour_contest(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	bool asking = n->state == NEIGHBOUR_PROBE;

	/* The station that is being asked must not be put off by a third. */
	if (asking && n->asked == NEIGHBOUR_ASK_RIVAL)
		return;
	memcpy(n->rival, mac, ETH_ADDR_LEN);
	n->has_rival = true;
	n->claimed = now;
	if (asking ? n->asked != NEIGHBOUR_ASK_ALL : !neighbour_may_ask(&n->contested, now))
		return;
	n->since = now;
	neighbour_start_probe(n, NEIGHBOUR_ASK_CURRENT, now);
}

/** An answer to our question, of @p mac. */
static void neighbour_answered(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	bool asking = n->state == NEIGHBOUR_PROBE;
	const uint8_t *asked = asking ? neighbour_asked_mac(n) : n->eth;

	if (!eth_addr_equal(mac, asked ? asked : n->eth))
		return;
	/* Nobody asked. The timer is left alone: who says it again and again would put off for ever
	 * what neighbour_stay_reachable() does. */
	if (n->state == NEIGHBOUR_REACHABLE) {
		n->confirmed = now;
		return;
	}
	if (asked == n->eth && asking && n->has_rival)
		neighbour_log_rival(n);
	if (asked == n->proven || asked == n->rival) {
		neighbour_move(n, asked, now);
		n->has_rival = true;
	}
	neighbour_become_reachable(n, now);
	if (asking)
		neighbour_prove(n, now);
}

/* RFC 4861 section 7.2.5, for an address that nothing is known of. */
static void neighbour_learn_first(
	struct ip_neighbour *n, const struct neighbour_news *news, uint64_t now)
{
	bool asking = n->state == NEIGHBOUR_INCOMPLETE;

	if (!news->mac)
		return;
	if (n->since && !eth_addr_equal(n->eth, news->mac))
		neighbour_move(n, news->mac, now);
	neighbour_take_mac(n, news->mac, now);
	if (news->solicited)
		neighbour_become_reachable(n, now);
	else
		neighbour_become_stale(n, now);
	if (news->solicited && asking)
		neighbour_prove(n, now);
	neighbour_flush_queue(n, now);
}

/* RFC 4861 section 7.2.5, for what differs from what is known. */
static void neighbour_learn_other(
	struct ip_neighbour *n, const struct neighbour_news *news, uint64_t now)
{
	if (!news->override) {
		if (n->state == NEIGHBOUR_REACHABLE)
			neighbour_become_stale(n, now);
		return;
	}
	/* A router that waits for its turn is as good as one in use. */
	if (n->used || route_is_gateway(n->stack, &n->addr)) {
		neighbour_contest(n, news->mac, now);
		return;
	}
	neighbour_take_mac(n, news->mac, now);
	if (news->solicited)
		neighbour_become_reachable(n, now);
	else
		neighbour_become_stale(n, now);
}

bool neighbour_learn(
	struct ip_stack *s, struct ip_neighbour *n, const struct neighbour_news *news, uint64_t now)
{
	const uint8_t *mac = news->mac ? news->mac : news->src ? news->src : n->eth;

	if (!neighbour_is_known(n)) {
		neighbour_learn_first(n, news, now);
	} else {
		if (news->solicited)
			neighbour_answered(n, mac, now);
		if (news->mac && !eth_addr_equal(n->eth, news->mac))
			neighbour_learn_other(n, news, now);
	}
	return neighbour_is_known(n) && eth_addr_equal(n->eth, mac);
}

void neighbour_confirm(struct ip_stack *s, struct ip_neighbour *n, uint64_t sent_at, uint64_t now)
{
	/* What went out before may have gone to another, or be what a claim came after. */
	if (!neighbour_is_known(n) || sent_at < n->since)
		return;
	memcpy(n->proven, n->eth, ETH_ADDR_LEN);
	n->has_proven = true;
	n->moved = false;
	n->doubts = 0;
	if (now - n->claimed > DOUBT_LIFE_NS)
		n->has_rival = false;
	n->confirmed = now;
	if (n->state == NEIGHBOUR_REACHABLE && n->answered)
		return;
	if (n->state != NEIGHBOUR_REACHABLE)
		neighbour_become_reachable(n, now);
	neighbour_prove(n, now);
}

/* Which station to ask, as what goes to the known one brings no progress. */
static enum neighbour_asked neighbour_whom_to_ask(const struct ip_neighbour *n)
{
	bool proven = n->has_proven && eth_addr_equal(n->proven, n->eth);

	if (n->has_proven && !proven)
		return NEIGHBOUR_ASK_PROVEN;
	/* The path behind a neighbour may fail as well, while a forger claims to be the neighbour.
	 * But where nothing that was sent ever had an effect, the rival is as good: a SYN has few
	 * tries. */
	if (n->has_rival && n->doubts >= (proven ? 2 : 0))
		return NEIGHBOUR_ASK_RIVAL;
	return n->doubts ? NEIGHBOUR_ASK_ALL : NEIGHBOUR_ASK_CURRENT;
}

/* A neighbour without an address yet is asking; so is one between two addresses. */
static bool neighbour_is_asking(const struct ip_neighbour *n)
{
	return !neighbour_is_known(n) ||
	       (n->state == NEIGHBOUR_PROBE && (n->has_rival || n->asked != NEIGHBOUR_ASK_CURRENT));
}

static bool neighbour_is_settled(const struct ip_neighbour *n)
{
	return neighbour_is_known(n) && !n->moved &&
	       (n->state != NEIGHBOUR_PROBE ||
		       (n->probes <= 1 && n->asked == NEIGHBOUR_ASK_CURRENT));
}

bool neighbour_doubt(struct ip_neighbour *n, uint64_t now)
{
	if (now - n->doubted > DOUBT_LIFE_NS)
		n->doubts = 0;
	/* Of an address that nothing was sent to yet there is nothing to doubt. */
	if (neighbour_is_asking(n) || n->used < n->taken || !neighbour_may_ask(&n->doubted, now))
		return !neighbour_is_settled(n);
	neighbour_start_probe(n, neighbour_whom_to_ask(n), now);
	if (n->doubts < UINT8_MAX)
		n->doubts++;
	return !neighbour_is_settled(n);
}
