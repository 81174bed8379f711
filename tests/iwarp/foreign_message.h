/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_message.h
 * What a foreign RNIC sends of its own and in answer, in segments that others may come between.
 * Those that have begun are in foreign_rnic.write, .send and .response.
 */
#ifndef TESTS_IWARP_FOREIGN_MESSAGE_H
#define TESTS_IWARP_FOREIGN_MESSAGE_H

#include "foreign_rnic.h"

/** Begin a Write; none may be open. */
void foreign_write_begin(struct foreign_rnic *p);
/** The next segment of the one that is open. */
void foreign_write_part(struct foreign_rnic *p);

/**
 * May a Send begin?
 * @param[out] len octets of the receive that it will have.
 */
bool foreign_send_has_room(const struct foreign_rnic *p, uint32_t *len);
/** Begin one of at most @p room octets. */
void foreign_send_begin(struct foreign_rnic *p, uint32_t room);
void foreign_send_part(struct foreign_rnic *p);
/** Immediate Data (RFC 7306 section 6), a whole message; it needs a receive as well. */
void foreign_immediate_send(struct foreign_rnic *p);

/** Note a request of its own. @return it, with a new id. */
struct foreign_outbound *foreign_outbound_add(struct foreign_rnic *p);
/** The header of a Read Request, of FOREIGN_READ_LEN octets. */
void foreign_read_put(uint8_t *h, const struct foreign_outbound *o, uint32_t stag, uint64_t to);
/** Ask for a Read, or for an Atomic. */
void foreign_read_ask(struct foreign_rnic *p);
void foreign_atomic_ask(struct foreign_rnic *p);

/** Begin the answer to the host's oldest request. */
void foreign_response_begin(struct foreign_rnic *p);
void foreign_response_part(struct foreign_rnic *p);

#endif
