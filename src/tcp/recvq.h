/* SPDX-License-Identifier: BSD-2-Clause */
/** @file recvq.h In-order bytes that the user has not taken yet, shown without being taken. */
#ifndef TCP_RECVQ_H
#define TCP_RECVQ_H

#include "llp/llp.h"
#include "tcp/mbufs.h"

/** Describe the oldest pieces, @p max at most. @param[out] total their bytes. @return how many. */
unsigned tcp_recvq_show(const struct tcp_mbufs *q, struct llp_iov *v, unsigned max, size_t *total);

#endif
