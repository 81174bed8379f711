/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/doctor.h"

#include "base/wait_limit.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static void doctor_say(const char *mark, const char *fmt, va_list ap)
{
	printf("%-6s ", mark);
	vprintf(fmt, ap);
	putchar('\n');
	fflush(stdout);
}

void doctor_good(struct doctor *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doctor_say("good", fmt, ap);
	va_end(ap);
}

void doctor_note(struct doctor *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doctor_say("note", fmt, ap);
	va_end(ap);
}

void doctor_wrong(struct doctor *d, const char *fmt, ...)
{
	va_list ap;

	d->wrong++;
	va_start(ap, fmt);
	doctor_say("WRONG", fmt, ap);
	va_end(ap);
}

void doctor_advise(struct doctor *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doctor_say("  do:", fmt, ap);
	va_end(ap);
}

bool doctor_wait(struct doctor *d, unsigned ms, bool (*done)(void *ctx), void *ctx)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	struct wait_limit limit;

	wait_limit_start(&limit, ms * UINT64_C(1000000), net_now(d->net));
	for (;;) {
		struct engine *e = net_engine(d->net);
		bool is;

		engine_lock(e);
		is = done(ctx);
		engine_unlock(e);
		if (is || wait_limit_over(&limit, net_now(d->net)))
			return is;
		nanosleep(&nap, NULL);
	}
}
