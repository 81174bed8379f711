/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/shim/shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *dlsym_fn(void *, const char *);
typedef void *dlvsym_fn(void *, const char *, const char *);

/* Also called by the tail jump in dl.c. */
void *shim_real_dlsym(void);
void *shim_real_dlvsym(void);

/* libc has them since glibc 2.34, libdl before. */
static void *shim_find_dl(shim_slot *slot, const char *name)
{
	void *p = atomic_load_explicit(slot, memory_order_relaxed);

	if (p)
		return p;
	p = elf_find("libc.so", name);
	if (!p)
		p = elf_find("libdl.so", name);
	if (!p) {
		fprintf(stderr, "uiwarp: the C library has no %s\n", name);
		abort();
	}
	atomic_store_explicit(slot, p, memory_order_relaxed);
	return p;
}

void *shim_real_dlsym(void)
{
	static shim_slot slot;

	return shim_find_dl(&slot, "dlsym");
}

void *shim_real_dlvsym(void)
{
	static shim_slot slot;

	return shim_find_dl(&slot, "dlvsym");
}

void *shim_dlsym(void *handle, const char *name)
{
	return ((dlsym_fn *)shim_real_dlsym())(handle, name);
}

void *shim_dlvsym(void *handle, const char *name, const char *version)
{
	return ((dlvsym_fn *)shim_real_dlvsym())(handle, name, version);
}

void *shim_real_libc(shim_slot *slot, const char *name)
{
	void *p = atomic_load_explicit(slot, memory_order_relaxed);

	if (!p) {
		/* RTLD_NEXT: other preloaded libraries behind us keep working. */
		p = shim_dlsym(RTLD_NEXT, name);
		atomic_store_explicit(slot, p, memory_order_relaxed);
	}
	return p;
}

/*
 * RTLD_NEXT would not do: a program may have loaded libibverbs with RTLD_LOCAL. The handle is kept
 * for the life of the process.
 */
static void *shim_libibverbs(void)
{
	static shim_slot handle;
	void *h = atomic_load_explicit(&handle, memory_order_acquire);

	if (h)
		return h;
	h = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!h)
		h = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (h)
		atomic_store_explicit(&handle, h, memory_order_release);
	return h;
}

void *shim_find_verbs(const char *name)
{
	void *h = shim_libibverbs();
	void *p = NULL;

	if (h)
		p = shim_dlsym(h, name);
	/* The private ones have no default version in newer libraries: the handle still finds them.
	 */
	return p;
}

void *shim_real_verbs(shim_slot *slot, const char *name)
{
	void *p = atomic_load_explicit(slot, memory_order_relaxed);

	if (!p) {
		p = shim_find_verbs(name);
		atomic_store_explicit(slot, p, memory_order_relaxed);
	}
	return p;
}

bool shim_in_libibverbs(const void *address)
{
	Dl_info theirs, its;
	void *known = shim_find_verbs("ibv_get_device_list");

	return known && dladdr(known, &theirs) != 0 && dladdr(address, &its) != 0 &&
	       theirs.dli_fbase == its.dli_fbase;
}

bool shim_is_below(const void *address)
{
	const char *name;
	Dl_info info;

	if (dladdr(address, &info) == 0 || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	name = !name ? info.dli_fname : name + 1;
	return strncmp(name, "librte_", 7) == 0 || strncmp(name, "libuiwarp.", 10) == 0;
}
