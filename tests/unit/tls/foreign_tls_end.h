/* SPDX-License-Identifier: BSD-2-Clause */
/** @file foreign_tls_end.h How a foreign end ends, and what it sends for that. */
#ifndef TESTS_UNIT_TLS_FOREIGN_TLS_END_H
#define TESTS_UNIT_TLS_FOREIGN_TLS_END_H

#include "foreign_tls.h"

/** By chance one of all that suit it. */
const struct foreign_tls_end *foreign_tls_draw_end(const struct foreign_tls *p);

void foreign_tls_wrong(struct foreign_tls *p, const char *what);

void foreign_tls_send_raw(struct foreign_tls *p, const void *bytes, size_t len);

/** A record, with padding by chance. @return its length. */
size_t foreign_tls_seal(struct foreign_tls *p, uint8_t type, const void *content, size_t len,
	uint8_t record[FOREIGN_RECORD]);
void foreign_tls_send(struct foreign_tls *p, uint8_t type, const void *content, size_t len);
void foreign_tls_send_message(struct foreign_tls *p, const uint8_t *message, size_t len);
void foreign_tls_renew(struct foreign_tls *p, bool asks);

#endif
