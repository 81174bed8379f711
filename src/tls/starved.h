/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file starved.h
 * Connections whose records stay below: for their content, which the user has left, there is no
 * memory, or no share of it (kept.h), or none to open them in. Room comes when some other user
 * takes what is kept for it, or its connection ends, or from anywhere else in the process. So they
 * are tried again with whatever comes next for any connection of the stack, and by a timer.
 */
#ifndef TLS_STARVED_H
#define TLS_STARVED_H

#include "tls/conn.h"

void tls_starved_init(struct tls_stack *s, struct timer_wheel *wheel);
void tls_starved_fini(struct tls_stack *s);

/**
 * Have room for @p want octets of content, or for as many as the user needs.
 * @return false: there is no memory, or no share of it.
 */
bool tls_starved_have_room(struct tls_conn *c, size_t want);

/**
 * There is no room for what the user has left, and those records stay below.
 * @param whole the longest FPDU would have been shown whole: its end, or the user, brings it on.
 * @param nested there was no memory to open them in, or little: inside of another connection's.
 */
void tls_starved_begin(struct tls_conn *c, bool whole, bool nested);

/** It does not wait for room, or does not any more. */
void tls_starved_end(struct tls_conn *c);

/** It waits for room, and there is none now, either; unless the user wants what is below. */
bool tls_starved_is_in_vain(struct tls_conn *c);

/**
 * Try them again: open the records of those that had no memory for that, and of one for whose
 * content there is room. Not those of @p but, or NULL.
 */
void tls_starved_try(struct tls_stack *s, const struct tls_conn *but);

#endif
