/* SPDX-License-Identifier: BSD-2-Clause */
/** @file rdmap_wire.h RDMAP on the wire: RFC 5040 section 4. */
#ifndef RDMAP_RDMAP_WIRE_H
#define RDMAP_RDMAP_WIRE_H
#endif
