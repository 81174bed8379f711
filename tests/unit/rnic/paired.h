/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file paired.h
 * Two QPs that their programs told of each other (pairing.h), over pair.h: what a program does.
 */
#ifndef TESTS_UNIT_RNIC_PAIRED_H
#define TESTS_UNIT_RNIC_PAIRED_H

#include "mpa/startup.h"
#include "pair.h"

#define PAIRED_PORT  61525
#define PAIRED_PSN_A 0x111111u
#define PAIRED_PSN_B 0x222222u

/** pair_init(), with a port for pairings. */
void paired_init(struct pair *p);
/** The same before a test of which a pair is the initial state, and pair_fini() behind it. */
int paired_setup(void **state);
int paired_teardown(void **state);
/** The pair that @p s is a side of. */
struct pair *paired_of(const struct side *s);
struct side *paired_other(const struct side *s);
enum rnic_qp_state paired_state(const struct side *s);

/** What goes with RTR. */
struct rnic_qp_attr paired_rtr_attr(const struct side *s);
int paired_rtr_as(const struct side *s, const struct rnic_qp_attr *attr);
void paired_rtr(const struct side *s);
void paired_rts_with(const struct side *s, uint32_t psn);
/** With a patience of 500 ms. */
void paired_rts(const struct side *s);
/** Both to RTS, and their stream. */
void paired_connect(struct pair *p);
/** Both to RTS, until B has answered and no further. @return B's pairing. */
const struct pairing *paired_answer(struct pair *p);

/** A start-up frame of a host without an RNIC, all right but perhaps for its data. @return its
 * length. */
size_t paired_frame(
	enum mpa_frame kind, const void *private_data, uint16_t len, uint8_t frame[MPA_FRAME_MAX]);

/** Send one byte. */
void paired_send(struct side *s, uint64_t wr_id, uint8_t byte);
void paired_recv(struct side *s, uint64_t wr_id);
/** A message from the other side arrives at @p s, in the receive element posted as @p wr_id. */
void paired_expect_message(struct side *s, uint64_t wr_id, uint8_t byte);
/** What was sent has not got through; but that is not known before the retries are over. */
void paired_expect_retries(struct side *s);

#endif
