/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uiwarp run: check the configuration, put it and the preloaded library into the environment, and
 * become the program.
 */
#include "tools/commands.h"
#include "tools/configuration.h"

#include <argp.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "libuiwarp-preload.so"

struct options {
	struct configuration configuration;
	char **program; /* with its arguments */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->configuration;
		return 0;
	case ARGP_KEY_ARGS:
		o->program = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "expected a program to start");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child argp_children[] = {{&configuration_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {NULL, parse_option, "[--] PROGRAM [ARGUMENT...]",
	"Start PROGRAM with an iWARP device of its own, which it finds through libibverbs and "
	"librdmacm.\v"
	"The environment's UIWARP_CONFIG (a file) and UIWARP_SET (lines of KEY=VALUE) are read "
	"too; the command line wins.\n\n"
	"Exit status: the program's own; 2 if the configuration is wrong, 127 if there is no such "
	"program, 126 if it cannot be started.",
	argp_children, NULL, NULL};

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "uiwarp run: %s: %s\n", what, why);
	return EXIT_USAGE;
}

/* Beside this program in the build tree, or where it was installed. */
static char *find_preload(void)
{
	/* Relative ones are so to this program's directory. */
	static const char *const places[] = {
		"../provider/shim/" PRELOAD,
		PRELOAD,
		"../" UIWARP_LIBDIR "/" PRELOAD, /* also when the whole was moved elsewhere */
		UIWARP_PREFIX "/" UIWARP_LIBDIR "/" PRELOAD,
	};
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	char *found = NULL;

	exe[n < 0 ? 0 : n] = '\0';
	if (strrchr(exe, '/') != NULL)
		*strrchr(exe, '/') = '\0';
	for (size_t i = 0; found == NULL && i < sizeof places / sizeof places[0]; i++) {
		char path[2 * PATH_MAX];

		snprintf(path, sizeof path, "%s%s%s", places[i][0] == '/' ? "" : exe,
			places[i][0] == '/' ? "" : "/", places[i]);
		found = realpath(path, NULL);
	}
	return found;
}

static int set_preload(void)
{
	char *path = find_preload();
	char *all;

	if (path == NULL)
		return complain(PRELOAD,
			"not found beside this program, nor in " UIWARP_PREFIX "/" UIWARP_LIBDIR);
	/* ld.so(8): blanks and colons separate the elements and cannot be escaped. */
	if (strpbrk(path, " :") != NULL) {
		complain(path, "the dynamic linker takes no path with a blank or a colon");
		free(path);
		return EXIT_USAGE;
	}
	all = configuration_join(path, ":", getenv("LD_PRELOAD"));
	setenv("LD_PRELOAD", all, 1);
	free(all);
	free(path);
	return 0;
}

/* ---- programs that the preloaded library cannot reach ------------------------------------------
 */

/* True for an ELF program without an interpreter: the dynamic linker never sees it. */
static bool is_static(const char *path)
{
	bool dynamic = false;
	bool is_program = false;
	Elf64_Ehdr h;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (pread(fd, &h, sizeof h, 0) == sizeof h && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 &&
		h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_phentsize == sizeof(Elf64_Phdr)) {
		is_program = true;
		for (unsigned i = 0; i < h.e_phnum; i++) {
			Elf64_Phdr p;
			off_t at = (off_t)(h.e_phoff + (uint64_t)i * sizeof p);

			if (pread(fd, &p, sizeof p, at) == sizeof p && p.p_type == PT_INTERP)
				dynamic = true;
		}
	}
	close(fd);
	return is_program && !dynamic;
}

/* As execvp() will: the path itself, or the first in PATH. */
static void warn_if_static(const char *program)
{
	const char *all = getenv("PATH");
	char *copy, *next;

	if (strchr(program, '/') != NULL || all == NULL) {
		if (is_static(program))
			complain(program, "is statically linked, so it will not see the device");
		return;
	}
	copy = next = configuration_join(all, "", NULL);
	while (next != NULL) {
		char *path = configuration_join(strsep(&next, ":"), "/", program);
		bool there = access(path, X_OK) == 0;

		if (there && is_static(path))
			complain(path, "is statically linked, so it will not see the device");
		free(path);
		if (there)
			break;
	}
	free(copy);
}

int cmd_run(int argc, char **argv)
{
	static char name[] = "uiwarp run";
	struct options o = {0};
	struct config config;
	int rc;

	argv[0] = name;
	/* In order: what follows the program's name is the program's. */
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	rc = configuration_apply(&o.configuration, name, &config);
	if (rc == 0)
		rc = set_preload();
	if (rc != 0)
		return rc;
	warn_if_static(o.program[0]);
	execvp(o.program[0], o.program);
	rc = errno;
	complain(o.program[0], strerror(rc));
	return rc == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
