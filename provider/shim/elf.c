/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dlsym() and dlvsym() are hooked, and a reference from here would find the hook. So the real
 * functions are looked up once in the dynamic linker's own symbol tables.
 *
 * No string functions of libc may be used here: a sanitizer's runtime finds them by dlsym().
 */
#include "provider/shim/shim.h"

#include <elf.h>
#include <link.h>

struct search {
	const char *object, *symbol;
	void *found;
};

static bool shim_begins_with(const char *s, const char *prefix)
{
	while (*prefix != '\0' && *s == *prefix) {
		s++;
		prefix++;
	}
	return *prefix == '\0';
}

static bool shim_is_same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const char *shim_base_name(const char *path)
{
	const char *base = path;

	for (; *path != '\0'; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

static uint32_t shim_gnu_hash(const char *s)
{
	uint32_t h = 5381;

	for (; *s != '\0'; s++)
		h = h * 33 + (unsigned char)*s;
	return h;
}

struct tables {
	const ElfW(Sym) * symtab;
	const char *strtab;
	const uint32_t *hash;
};

/* The tables' addresses are relocated by glibc in most objects, but not in the vdso. */
static const void *shim_table_at(const struct dl_phdr_info *info, ElfW(Addr) p)
{
	return (const void *)(p < info->dlpi_addr ? p + info->dlpi_addr : p);
}

static bool shim_find_tables(const struct dl_phdr_info *info, struct tables *t)
{
	const ElfW(Dyn) *dyn = NULL;

	*t = (struct tables){NULL, NULL, NULL};
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			t->symtab = shim_table_at(info, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_STRTAB)
			t->strtab = shim_table_at(info, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_GNU_HASH)
			t->hash = shim_table_at(info, dyn->d_un.d_ptr);
	}
	return t->symtab && t->strtab && t->hash;
}

/* DT_GNU_HASH: buckets of chains; the last hash of a chain has bit 0 set. The Bloom filter is
 * skipped. */
static const ElfW(Sym) * shim_find_symbol(const struct tables *t, const char *name)
{
	uint32_t num_buckets = t->hash[0];
	uint32_t first = t->hash[1];
	uint32_t bloom_words = t->hash[2];
	const uint32_t *buckets =
		t->hash + 4 + (size_t)bloom_words * (sizeof(ElfW(Addr)) / sizeof *t->hash);
	const uint32_t *chain = buckets + num_buckets;
	uint32_t h = shim_gnu_hash(name);
	uint32_t i;

	if (num_buckets == 0)
		return NULL;
	i = buckets[h % num_buckets];
	if (i < first)
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *s = &t->symtab[i];

		if ((chain[i - first] | 1) == (h | 1) && s->st_shndx != SHN_UNDEF &&
			shim_is_same(t->strtab + s->st_name, name))
			return s;
		if ((chain[i - first] & 1) != 0)
			return NULL;
	}
}

static int shim_look_into(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const ElfW(Sym) * sym;
	struct tables t;

	(void)size;
	if (!shim_begins_with(shim_base_name(info->dlpi_name), s->object) ||
		!shim_find_tables(info, &t))
		return 0;
	sym = shim_find_symbol(&t, s->symbol);
	if (!sym)
		return 0;
	s->found = (void *)(info->dlpi_addr + sym->st_value);
	return 1;
}

void *elf_find(const char *object, const char *symbol)
{
	struct search s = {.object = object, .symbol = symbol};

	dl_iterate_phdr(shim_look_into, &s);
	return s.found;
}
