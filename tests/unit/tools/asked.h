/* SPDX-License-Identifier: BSD-2-Clause */
/** @file asked.h This test as a busy process that the command asks: it has 300 QPs, connected. */
#ifndef TESTS_UNIT_TOOLS_ASKED_H
#define TESTS_UNIT_TOOLS_ASKED_H

#include "host/telemetry.h"
#include "host/telemetry_socket.h"
#include "support/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <pthread.h>

#define QPS 300

extern struct child c;
/** Of the sockets, and this process's number. */
extern char directory[64], pid[16];
extern struct telemetry *telemetry;

/** When it was started, as it says; it says so once, and is another one behind that. */
extern atomic_uint started;

/** Its engine is not released. */
extern atomic_bool stuck;

/** It has so many QPs more, and each has 30,000 octets to tell. */
extern atomic_uint more_qps;

/** What it was told to change: to be read under `changing`. */
extern char log_level[512], capture[512];
extern pthread_mutex_t changing;

/** Run the command, for what this process tells. */
#define RUN(...) \
	child_run(&c, (const char *const[]){UIWARP, __VA_ARGS__, "-d", directory, NULL}, NULL)

/** For a group of tests. */
int setup(void **state);
int teardown(void **state);

/** Another one with the same number, as of another PID namespace. It tells the same. */
struct telemetry *another_process(void);
void end_process(struct telemetry *other);

#endif
