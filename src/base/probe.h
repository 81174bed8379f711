/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file probe.h
 * Statically defined trace points (USDT, the format of SystemTap's sys/sdt.h). bpftrace, perf and
 * gdb find them in the library as usdt:uiwarp:NAME; docs/telemetry.md lists them with their
 * arguments.
 *
 * A point is one instruction that does nothing, until somebody traces it. Its arguments are values
 * that are at hand: nothing is computed for it. Each name is used at one place.
 */
#ifndef BASE_PROBE_H
#define BASE_PROBE_H

#if BASE_PROBES

#include <sys/sdt.h>

#define PROBE2(name, a, b)       DTRACE_PROBE2(uiwarp, name, a, b)
#define PROBE4(name, a, b, c, d) DTRACE_PROBE4(uiwarp, name, a, b, c, d)

#else

#define PROBE2(name, a, b)       ((void)(a), (void)(b))
#define PROBE4(name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))

#endif
#endif
