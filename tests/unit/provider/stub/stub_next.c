/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that comes after the preloaded one and asks for what comes after itself. */
#include "unit/provider/stub/stub_next.h"

#include <dlfcn.h>

void *stub_next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	/* No tail call: the owner of the return address decides what is next. */
	__asm__ volatile("" : "+r"(found));
	return found;
}
