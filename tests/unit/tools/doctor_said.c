/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor_said.h"

#include "tools/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char doctor_said[DOCTOR_SAID_LEN];

static void doctor_say(const char *mark, const char *fmt, va_list ap)
{
	size_t n = strlen(doctor_said);

	n += (size_t)snprintf(doctor_said + n, sizeof doctor_said - n, "%s: ", mark);
	n += (size_t)vsnprintf(doctor_said + n, sizeof doctor_said - n, fmt, ap);
	snprintf(doctor_said + n, sizeof doctor_said - n, "\n");
}

void doctor_good(struct doctor *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doctor_say("good", fmt, ap);
	va_end(ap);
}

void doctor_wrong(struct doctor *d, const char *fmt, ...)
{
	va_list ap;

	d->wrong++;
	va_start(ap, fmt);
	doctor_say("wrong", fmt, ap);
	va_end(ap);
}

void doctor_advise(struct doctor *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doctor_say("do", fmt, ap);
	va_end(ap);
}
