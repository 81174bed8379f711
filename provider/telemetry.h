/* SPDX-License-Identifier: BSD-2-Clause */
/** @file telemetry.h What the RNIC tells of itself (host/telemetry.h). */
#ifndef PROVIDER_TELEMETRY_H
#define PROVIDER_TELEMETRY_H

#include "rnic/rnic.h"

struct telemetry;

/** Add the RNIC's commands. @p t may be NULL: it is off. */
void provider_telemetry_add(struct telemetry *t, struct rnic *r);

#endif
