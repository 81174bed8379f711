/* SPDX-License-Identifier: BSD-2-Clause */
/** @file answering.h Processes that answer as a script has it, and the client that asks them. */
#ifndef TESTS_UNIT_TOOLS_ANSWERING_H
#define TESTS_UNIT_TOOLS_ANSWERING_H

#include "tools/telemetry_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define GREETING "{\"version\":\"x\",\"pid\":1,\"max_output_len\":65536}"
#define SERVERS  20

/** What one does on each connection: it says the texts, each but the first when it is asked. */
struct script {
	const char *say[12];
	size_t len;        /**< of the one after the greeting, if it is not that of a string */
	bool greets;       /**< false: it only listens */
	const char *grows; /**< these items again and again, each time with a greater "next" */
	int stops_before, spins_before; /**< the text of this number; 0: none */
};

struct server {
	pid_t pid; /**< 0: it has ended */
	char name[TELEMETRY_NAME];
};

extern struct server server[SERVERS];
extern unsigned servers;
extern char directory[64];
extern struct telemetry_clients clients;

/** For each test; they may be given to cmocka. */
int setup(void **state);
int teardown(void **state);

/** Start one. @return its number. */
unsigned begin(struct script s);

void end(unsigned n);

/** Ask for all, which are @p n. */
void open_all(unsigned n);

/** The client of that number. */
struct telemetry_client *of(unsigned n);

/** The same, when it has greeted again. */
struct telemetry_client *renewed(unsigned n);

#endif
