/* SPDX-License-Identifier: BSD-2-Clause */
/** @file route_case.h Routes of a struct host, those that routers advertise included. */
#ifndef TESTS_UNIT_IP_ROUTE_CASE_H
#define TESTS_UNIT_IP_ROUTE_CASE_H

#include "host.h"

/** ip_route_add(). @param gateway NULL: none. */
int route_case_add(struct host *h, const char *prefix, unsigned len, const char *gateway);

/** What goes to @p dst goes by way of @p hop. */
void route_case_expect_hop(struct host *h, const char *dst, const char *hop);

/** The router fe80::@p of says that it is one, for so long. */
void route_case_advertise(struct host *h, unsigned of, unsigned seconds);

#endif
