/* SPDX-License-Identifier: BSD-2-Clause */
/** @file fpdu.h The full operation phase, receive side: FPDUs out of a stream of pieces. */
#ifndef MPA_FPDU_H
#define MPA_FPDU_H

#include "mpa/mpa.h"

/**
 * Hand up every complete FPDU from byte @p used on (RFC 5044 section 6). Arguments as for llp's
 * readable(). The user may end the connection meanwhile: check *m->gone through a copy of the
 * pointer before touching @p m.
 * @return bytes that are done with.
 */
size_t mpa_fpdu_input(struct mpa *m, const struct llp_iov *v, unsigned n, size_t total, size_t used,
	size_t *need);

/**
 * Tell the user of an error in the FPDUs that come (RFC 5044 section 8), once: none is handed up
 * any more. A Terminate may go out, also before the first good FPDU.
 */
void mpa_fpdu_fail(struct mpa *m, enum mpa_error code, const char *reason);

#endif
