/* SPDX-License-Identifier: BSD-2-Clause */
/** @file states.h Each state of RFC 9293 section 3.3.2, and how to get a connection there. */
#ifndef TESTS_TCP_STATES_H
#define TESTS_TCP_STATES_H

#include "script.h"

/** A connection in a state, by the passive open where both would do; its ports are the usual. */
void to_closed(struct script *s);
void to_listen(struct script *s);
void to_syn_sent(struct script *s);
void to_syn_received(struct script *s);
void to_syn_received_active(struct script *s); /**< by a simultaneous open */
void to_established(struct script *s);
void to_fin_wait_1(struct script *s);
void to_fin_wait_2(struct script *s);
void to_close_wait(struct script *s);
void to_closing(struct script *s);
void to_last_ack(struct script *s);
void to_time_wait(struct script *s);
/** With ten bytes of text in flight, before the FIN if there is one. */
void to_fin_wait_1_with_text(struct script *s);
void to_close_wait_with_text(struct script *s);

/** By name; "SYN-RECEIVED" is after the passive open. */
void to_state(struct script *s, const char *name);

/**
 * Write @p text to @p out with these words put in: $R the host's RCV.NXT, $U its SND.UNA, $N its
 * SND.NXT, $W the right edge of the window it has told; all relative, "$R-10" as it should be. And,
 * where SACK is on: $S a block for 11:21, $D and $O duplicates of -4:1 and -9:1. $P: what the
 * peer's SYN offers.
 */
const char *with_numbers(struct script *s, const char *text, char *out, size_t len);

/** The host answers as @p text says; "": with nothing. */
void answers(struct script *s, const char *text);

/** What RECEIVE says: "EAGAIN", "10 bytes", "end", "ECONNRESET", ..., "": there is no socket. */
void user_sees(struct script *s, const char *what);

#endif
