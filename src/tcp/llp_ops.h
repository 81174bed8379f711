/* SPDX-License-Identifier: BSD-2-Clause */
/** @file llp_ops.h TCP as an LLP: the functions behind llp/llp.h. */
#ifndef TCP_LLP_OPS_H
#define TCP_LLP_OPS_H

#include "tcp/conn.h"

extern const struct llp_ops tcp_llp_ops;
extern const struct llp_stack_ops tcp_llp_stack_ops;

/** writable() is owed and there is room: tell. */
void tcp_consider_writable(struct tcp_conn *c);

/** Before text is shown, and at the end of a round: tell acked() to a user that wants it. */
void tcp_tell_acked(struct tcp_conn *c);

#endif
