/* SPDX-License-Identifier: BSD-2-Clause */
/** @file doctor_said.h What tools/doctor.c would print: its functions, for tests of its parts. */
#ifndef TESTS_UNIT_TOOLS_DOCTOR_SAID_H
#define TESTS_UNIT_TOOLS_DOCTOR_SAID_H

#define DOCTOR_SAID_LEN 4096

/** A line each: "good: TEXT", "wrong: TEXT", "do: TEXT". A test empties it. */
extern char doctor_said[DOCTOR_SAID_LEN];

#endif
