/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tls_pair.h Two of our ends, over the LLP in memory, with certificates of one CA. */
#ifndef TESTS_UNIT_TLS_TLS_PAIR_H
#define TESTS_UNIT_TLS_TLS_PAIR_H

#include "tls_user.h"

#define PORT  4791
#define STEPS 10000000

extern struct tls_files files;
extern struct llp_mem *mem;
extern struct tls_user client, server;
extern struct tls_config client_config, server_config;

int set_up(void **state);
int tear_down(void **state);

/** The client begins to connect. @param records_max of both, until they renew their keys. */
void open_both(uint64_t records_max);

/** The same, and it is connected. */
void connect_both(uint64_t records_max);
void close_both(void);

#endif
