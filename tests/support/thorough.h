/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file thorough.h
 * For loops that go through all of something. A build with AddressSanitizer or
 * ThreadSanitizer, ten times as slow, takes each @p n th; each is taken by a build without.
 */
#ifndef SUPPORT_THOROUGH_H
#define SUPPORT_THOROUGH_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define THOROUGH_STEP(n) (n)
#endif
#endif
#if (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)) && !defined(THOROUGH_STEP)
#define THOROUGH_STEP(n) (n)
#endif
/** @p n is prime to each number of choices, so that all of them are taken with some others. */
#ifndef THOROUGH_STEP
#define THOROUGH_STEP(n) 1
#endif

#endif
