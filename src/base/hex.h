/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file hex.h
 * Hexadecimal digits, in either case, as keys are written in files.
 */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** @return its value; -1: it is none. */
int hex_digit(char c);

/**
 * The first 2 * @p n characters of @p hex as @p n octets. What stands behind is not looked at.
 * @return false: there are others than digits, or fewer; some octets may have been written.
 */
bool hex_octets(const char *hex, size_t n, uint8_t *out);

#endif
