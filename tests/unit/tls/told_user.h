/* SPDX-License-Identifier: BSD-2-Clause */
/** @file told_user.h A user of the server of tls_memory.h that does as it is told with content. */
#ifndef TESTS_UNIT_TLS_TOLD_USER_H
#define TESTS_UNIT_TLS_TOLD_USER_H

#include "records.h"

#define TOLD_SHOWS 3

/** Once content is shown. */
struct told_show {
	size_t total; /**< 0: it is not */
	size_t used, need;
	bool resume; /**< it wants to see the rest */
};

struct told_user {
	struct tls_conn *c;
	const struct told_show *shows;
	unsigned shown;
	size_t at; /**< of the stream: it has used what is before */
	bool aborts, eof, closed;
	int error;
};

extern struct told_user told_user;

/** records_begin(), with this user. */
void told_user_begin(void);

/** From now on. */
void told_user_tell(const struct told_show shows[TOLD_SHOWS]);

/** It was shown all that it was told of. */
void told_user_expect_all(void);

#endif
