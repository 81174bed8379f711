/* SPDX-License-Identifier: BSD-2-Clause */
/** @file database_case.h A database that files are read into, of a host with two addresses. */
#ifndef TESTS_UNIT_ESP_DATABASE_CASE_H
#define TESTS_UNIT_ESP_DATABASE_CASE_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/database.h"

#define SA(from, to, spi, rest)                                        \
	"ip xfrm state add src " from " dst " to " proto esp spi " spi \
	" aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 128 " rest "\n"
#define OUR   "10.0.0.1"
#define OUR2  "10.0.0.11"
#define PEER  "10.0.0.2"
#define PAIR  SA(OUR, PEER, "0x100", "") SA(PEER, OUR, "0x200", "replay-window 64")
#define HOSTS "ip xfrm policy add src " OUR " dst " PEER " "
#define BACK  "ip xfrm policy add src " PEER " dst " OUR " "
#define BOTH  HOSTS "dir out tmpl proto esp\n" BACK "dir in tmpl proto esp\n"

extern struct esp_database db;
/** When files are read. */
extern uint64_t now;
/** What was wrong with the last one. */
extern char why[600];

struct ip_addr addr(const char *text);

/** @return what esp_database_update() does of a file with @p text. */
int update(const char *text);

int set_up(void **state);
int tear_down(void **state);

/** From a port of 9. */
struct ip_flow flow(const char *src, const char *dst, uint8_t proto, uint16_t port);

/**
 * Of a packet of ours.
 * @return the SPI that it leaves by; 0: in the clear, -1: not at all, -2: there is none
 */
int64_t leaves(const char *dst, uint8_t proto, uint16_t port);

/** What becomes of a packet to us, by the SA of @p spi; 0: in the clear. */
enum esp_arrival arrives(const char *src, uint8_t proto, uint32_t spi);

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
