/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file unwinding.h
 * UNWINDING_TRIPS_THE_SANITIZER for tests that cancel a thread: AddressSanitizer does not unpoison
 * the frames that it leaves.
 */
#ifndef SUPPORT_UNWINDING_H
#define SUPPORT_UNWINDING_H

#if defined(__SANITIZE_ADDRESS__)
#define UNWINDING_TRIPS_THE_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNWINDING_TRIPS_THE_SANITIZER 1
#endif
#endif

#endif
