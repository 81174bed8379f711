/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file standin.h
 * A libibverbs.so.1 of a time to come, with a device of its own. Its verbs work a little: enough
 * to see that two devices live side by side in one program.
 */
#ifndef TESTS_UNIT_PROVIDER_STANDIN_H
#define TESTS_UNIT_PROVIDER_STANDIN_H

#include "../newer.h"

#include <stdbool.h>
#include <stdint.h>

/** Its device. */
#define STANDIN_NAME "other0"

/** verbs_context grows at its front: by that much in this library. */
#define STANDIN_GROWTH 96

/** A completion for @p cq, and an event if it was armed. */
void standin_complete(struct ibv_cq *cq, uint64_t wr_id);

/** An asynchronous event for @p qp. */
void standin_raise(struct ibv_qp *qp, enum ibv_event_type type);

/** Objects that are alive. */
unsigned standin_alive(void);

#endif
