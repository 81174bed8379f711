/* SPDX-License-Identifier: BSD-2-Clause */
/** @file local_case.h Addresses of a struct host, and what it says about them. */
#ifndef TESTS_UNIT_IP_LOCAL_CASE_H
#define TESTS_UNIT_IP_LOCAL_CASE_H

#include "host.h"

/** ip_addr_add(), now. */
int local_case_add(struct host *h, const char *text, unsigned len);

/** What goes to @p remote comes from the address @p want. */
void local_case_expect_source(struct host *h, const char *remote, const char *want);

/** Frames of each kind. */
struct local_case_said {
	unsigned arp, ns, na, rs, igmp, mld, other;
};

/** What was sent about ourselves; it is forgotten. */
struct local_case_said local_case_said(struct host *h);

#endif
