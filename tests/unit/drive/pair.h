/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pair.h Two hosts of the library, each sending what the other one gets. */
#ifndef TESTS_UNIT_DRIVE_PAIR_H
#define TESTS_UNIT_DRIVE_PAIR_H

#include "drive/uiwarp_tcp.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS   UINT64_C(1000000)
#define PORT 5000

struct pair {
	struct uiwarp_tcp *a, *b;
	unsigned carried; /**< packets */
	bool lose;        /**< every packet, from now on */
};

/** 192.0.2.1 and 2001:db8::1 are @p p->a, those ending in 2 are @p p->b. @p cfg may be NULL. */
void pair_init(struct pair *p, const struct uiwarp_tcp_config *cfg);

/** Ends both; fails if a packet is missing. Sockets must be closed. */
void pair_end(struct pair *p);

/** Carry packets until nobody sends any; no time passes. */
void pair_carry(struct pair *p);

/** Let @p ns pass, with packets carried at once. */
void pair_run(struct pair *p, uint64_t ns);

struct sockaddr_storage endpoint(const char *addr, uint16_t port);

/** B listens at @p addr, A connects to it: sockets of both ends. Returns B's listener. */
int pair_connect(struct pair *p, int family, const char *addr, int *at_a, int *at_b);

#endif
