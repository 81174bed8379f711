/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file membership.h
 * What the host side of IGMPv3 (RFC 3376) and of MLDv2 (RFC 3810) have in common, which is all but
 * the headers: groups by reference count, reports of changes that are repeated, answers to queries
 * after a random time, and the older versions while a querier speaks one of those.
 *
 * Each group is joined for all sources: its filter is EXCLUDE of nothing.
 */
#ifndef IP_MEMBERSHIP_H
#define IP_MEMBERSHIP_H

#include "ip/ip.h"

/** Groups of one family at a time. */
#define MEMBERSHIP_GROUPS 256
/** Sources of a query that are kept for its answer; if there are more it tells of all. */
#define MEMBERSHIP_SOURCES 8
/** Versions older than the newest one: IGMP has two. */
#define MEMBERSHIP_OLDER 2

/** What differs between both protocols. */
struct membership_wire {
	uint8_t addr_len; /**< of an address in a message: 4 or 16 */
	uint8_t head;     /**< octets of a frame before the message */
	uint8_t newest;   /**< version: 3 or 2 */
	uint8_t report_type;
	struct ip_addr report_to;
	/** Of version 1 + i: types of its messages, 0 for one that it does not have. */
	uint8_t older_report[MEMBERSHIP_OLDER], older_leave[MEMBERSHIP_OLDER];
	/** Version whose querier is there only by a general query (RFC 3376 section 7.2.1); or 0.
	 */
	uint8_t older_general;
	uint8_t older_len;     /**< octets of such a message; the group is its end */
	uint64_t older_repeat; /**< the most until a report of a join is repeated, ns */
	struct ip_addr leave_to;
	/** Is this group ever reported? */
	bool (*is_reported)(const struct ip_addr *group);
	/** Send the message behind the first `head` octets of @p m, which are blank. Owns @p m. */
	void (*send)(struct ip_stack *s, struct rte_mbuf *m, const struct ip_addr *to);
};

struct membership_group {
	struct ip_addr addr;
	uint32_t users;     /**< 0: left, which is being reported */
	uint8_t changes;    /**< reports of the last change that are still to be sent */
	bool reported_last; /**< of all members, as far as we have heard (older versions) */
	uint8_t num_sources;
	bool sources_only;  /**< the answer is for these sources */
	uint64_t change_at; /**< the next such report; TIMER_NEVER */
	uint64_t answer_at; /**< to a query for this group; TIMER_NEVER */
	struct ip_addr source[MEMBERSHIP_SOURCES];
};

struct membership {
	struct ip_stack *stack;
	const struct membership_wire *wire;
	struct membership_group group[MEMBERSHIP_GROUPS];
	unsigned n;
	uint8_t version;                        /**< that is spoken */
	uint8_t robustness;                     /**< the querier's (RFC 3376 section 8.1) */
	uint64_t interval;                      /**< the querier's, ns */
	uint64_t older_until[MEMBERSHIP_OLDER]; /**< a querier of version 1 + i is there */
	uint64_t general_at;                    /**< answer to a general query; TIMER_NEVER */
	struct timer timer;
};

/** A query that came, checked as to its form. */
struct membership_query {
	uint8_t version;
	struct ip_addr group;  /**< any address: a general one */
	uint64_t max_response; /**< ns */
	uint8_t robustness;    /**< newest version only, as below; 0: not told */
	uint64_t interval;     /**< ns */
	const uint8_t *sources;
	unsigned num_sources;
};

void membership_init(struct membership *ms, struct ip_stack *s, const struct membership_wire *wire);
void membership_fini(struct membership *ms);

/** @return 0 or -ENOSPC. */
int membership_join(struct membership *ms, const struct ip_addr *group, uint64_t now);
void membership_leave(struct membership *ms, const struct ip_addr *group, uint64_t now);
bool membership_has(const struct membership *ms, const struct ip_addr *group);

/** Report all groups again, as if they had just been joined (RFC 3590 section 4). */
void membership_repeat(struct membership *ms, uint64_t now);

void membership_query(struct membership *ms, const struct membership_query *q, uint64_t now);

/** Another member has reported @p group by an older version: that is enough (RFC 2236 section 3).
 */
void membership_heard(struct membership *ms, const struct ip_addr *group, uint64_t now);

/**
 * A code that is a floating-point number if its highest bit is set (RFC 3376 section 4.1.1, RFC
 * 3810 section 5.1.3). @param bits of its mantissa: 4 or 12.
 */
static inline uint32_t membership_code(uint32_t code, unsigned bits)
{
	uint32_t mant = code & ((1u << bits) - 1), exp = code >> bits & 7;

	return code >> (bits + 3) ? (mant | 1u << bits) << (exp + 3) : code;
}

#endif
