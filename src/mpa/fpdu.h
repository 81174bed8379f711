/* SPDX-License-Identifier: BSD-2-Clause */
/** @file fpdu.h The receive side in full operation: from the LLP's bytes to ULPDUs. */
#ifndef MPA_FPDU_H
#define MPA_FPDU_H

#include "mpa/mpa.h"

/**
 * Hand up every complete FPDU from byte @p used on (RFC 5044 section 6). The arguments are those of
 * llp's readable(). The user may end the connection in an upcall. So copy the pointer m->gone
 * before, and check *gone before using @p m afterwards.
 * @return how many bytes are done with.
 */
size_t mpa_fpdu_input(struct mpa *m, const struct llp_iov *v, unsigned n, size_t total, size_t used,
	size_t *need);

/**
 * Report an error in received FPDUs to the user (RFC 5044 section 8), once. No FPDU is handed up
 * any more. A Terminate may go out, even before the first good FPDU.
 */
void mpa_fpdu_fail(struct mpa *m, enum mpa_error code, const char *reason);

#endif
