/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/reach.h"

#include "tools/configuration.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/** The device's library is of the same build as this program. */
#if defined(__aarch64__)
#define REACH_MACHINE EM_AARCH64
#elif defined(__x86_64__)
#define REACH_MACHINE EM_X86_64
#else
#error "which processor does the device's library want?"
#endif

/* exec(3): where PATH is not set. */
#define REACH_PATH "/bin:/usr/bin"

/* What may be executed, and no directory, which may be "executed" too. */
static bool reach_is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp() finds it: the name itself, or the first in PATH. */
static char *reach_find(const char *program)
{
	const char *all = getenv("PATH");
	char *copy, *next, *path = NULL;

	if (strchr(program, '/'))
		return strdup(program);
	copy = next = configuration_join(all ? all : REACH_PATH, "", NULL);
	while (!path && next) {
		path = configuration_join(strsep(&next, ":"), "/", program);
		if (!reach_is_program(path)) {
			free(path);
			path = NULL;
		}
	}
	free(copy);
	return path;
}

/* The dynamic linker itself, started by name, has no interpreter but is one. */
static bool reach_is_linker(const char *path)
{
	const char *name = strrchr(path, '/');

	name = !name ? path : name + 1;
	return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld.so", 5) == 0;
}

static bool reach_has_interpreter(int fd, const Elf64_Ehdr *h)
{
	for (unsigned i = 0; i < h->e_phnum; i++) {
		Elf64_Phdr p;
		off_t at = (off_t)(h->e_phoff + (uint64_t)i * sizeof p);

		if (pread(fd, &p, sizeof p, at) == sizeof p && p.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *reach_look_at_elf(int fd, const char *path)
{
	Elf64_Ehdr h = {0};
	ssize_t n = pread(fd, &h, sizeof h, 0);

	if (n < EI_NIDENT || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (h.e_ident[EI_CLASS] == ELFCLASS32)
		return "is a 32-bit program, and the device's library has 64 bits";
	if (n != sizeof h || h.e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	if (h.e_machine != REACH_MACHINE)
		return "is a program for another processor than the device's library";
	if (!reach_has_interpreter(fd, &h) && !reach_is_linker(path))
		return "is statically linked, and a preloaded library does not reach it";
	return NULL;
}

/* ld.so(8), "Secure-execution mode": LD_PRELOAD counts for nothing. */
static const char *reach_look_at_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	if (((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid()) ||
		((st.st_mode & S_ISGID) != 0 && st.st_gid != getgid()))
		return "is setuid or setgid, and the dynamic linker preloads nothing into it; a "
		       "copy that is not can have ambient capabilities (setpriv)";
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has file capabilities, and the dynamic linker preloads nothing into it; a "
		       "copy without them can have ambient ones (setpriv)";
	return NULL;
}

const char *reach_obstacle(const char *program, char **path)
{
	const char *why;
	int fd;

	*path = reach_find(program);
	fd = !*path || !reach_is_program(*path) ? -1 : open(*path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	why = reach_look_at_elf(fd, *path);
	if (!why)
		why = reach_look_at_rights(fd);
	close(fd);
	return why;
}
