/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tls_memory.h A client and a server that has no memory, or no share of it, for a while. */
#ifndef TESTS_UNIT_TLS_TLS_MEMORY_H
#define TESTS_UNIT_TLS_TLS_MEMORY_H

#include "tls/conn.h"
#include "tls_user.h"

#define PORT  4791
#define STEPS 10000000

extern struct llp_mem *mem;
extern struct tls_user client, server;

/** It is others' share that is missing, and not memory. */
extern bool rationed;

int set_up(void **state);
int tear_down(void **state);

/** @param records_max of the client, until it renews its keys. */
void begin(uint64_t records_max);

void have_memory(bool have);

/** Bytes of the stream from @p at on, which arrive. */
void bring(size_t at, size_t len, uint32_t record);

/** The server's user takes again what comes. */
void go_on(void);

#endif
