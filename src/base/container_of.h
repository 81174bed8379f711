/* SPDX-License-Identifier: BSD-2-Clause */
/** @file container_of.h Finds the struct that embeds a member. */
#ifndef BASE_CONTAINER_OF_H
#define BASE_CONTAINER_OF_H

#include <stddef.h>

#ifndef container_of
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#endif

#endif
