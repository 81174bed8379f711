/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file x86intrin.h
 * In the place of the compiler's where DPDK's headers are included. Those ask for all intrinsics
 * there are and use SSE's; to read AVX-512's takes longer than to compile most of our files.
 */
#ifndef DPDK_PORT_SIMD_X86INTRIN_H
#define DPDK_PORT_SIMD_X86INTRIN_H

#ifdef __AVX__ /* with -march=native, DPDK uses more */
#include_next <x86intrin.h>
#else
#include <nmmintrin.h>
#endif

#endif
