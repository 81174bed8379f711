/* SPDX-License-Identifier: BSD-2-Clause */
/** @file statement_case.h Lines in the terms of ip-xfrm(8), right and wrong. */
#ifndef TESTS_UNIT_ESP_STATEMENT_CASE_H
#define TESTS_UNIT_ESP_STATEMENT_CASE_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/statement.h"

#define KEY16 "0x000102030405060708090a0b0c0d0e0fA0a1a2a3"
#define KEY32 "0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fa0a1a2a3"
#define CBC16 "0x000102030405060708090a0b0c0d0e0f"
#define CBC32 "0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define SHA1  "auth-trunc hmac(sha1) " KEY16 " 96"
#define AEAD  "aead 'rfc4106(gcm(aes))' " KEY16 " 128"
#define HOSTS "src 10.0.0.1 dst 10.0.0.2 "
#define STATE "ip xfrm state add " HOSTS "proto esp spi 0x1000 "

/** What @p text says; fails the test with the reason if it is wrong. */
struct esp_statement statement_good(const char *text);

/** @p text is wrong, and @p reason is in the sentence about it, but no digit of a key. */
void statement_bad(const char *text, const char *reason);

#endif
