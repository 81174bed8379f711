/* SPDX-License-Identifier: BSD-2-Clause */
/** @file world.h One port mapper on a virtual clock: what it sends and tells is kept for a look. */
#ifndef TESTS_UNIT_IWPM_WORLD_H
#define TESTS_UNIT_IWPM_WORLD_H

#include "iwpm/mapper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define WORLD_KEEP   64
#define WORLD_MS     UINT64_C(1000000)
#define WORLD_CLIENT 50000

struct world_sent {
	struct ip_endpoint from, to;
	struct iwpm_message msg;
	uint8_t data[IWPM_MESSAGE_MAX];
	size_t len;
	uint64_t at;
};

struct world {
	struct iwpm *mapper;
	struct timer_wheel wheel;
	uint64_t now, random;
	struct world_sent sent[WORLD_KEEP];
	unsigned n_sent;
	bool serving, port_taken;
	unsigned refused; /**< times that the port was taken */
	enum iwpm_outcome outcome[WORLD_KEEP];
	unsigned n_outcomes;
};

/** @param accept_all of struct iwpm_config. */
void world_init(struct world *w, bool accept_all);

/** Ends it; no timer may be left. */
void world_fini(struct world *w);

void world_run(struct world *w, uint64_t ns);

struct ip_endpoint world_at(const char *addr, uint16_t port);
bool world_same(const struct ip_endpoint *a, const struct ip_endpoint *b);

/** Have the mapper receive @p msg. */
void world_receive(struct world *w, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const struct iwpm_message *msg);

/** A query; what it tells is in the world's outcomes. */
struct world_query {
	struct iwpm_query q;
	struct world *world;
};

void world_on_outcome(struct iwpm_query *q, enum iwpm_outcome outcome);
uint64_t world_ask(struct world *w, struct world_query *q, const char *local, const char *remote);

#endif
