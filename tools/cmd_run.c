/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uiwarp run: check the configuration, put it and the preloaded library into the environment, and
 * become the program.
 */
#include "provider/config.h"
#include "tools/commands.h"

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
	const char *config;
	char *set;      /* the --set options, one a line; malloc()ed */
	char **program; /* with its arguments */
};

static void *checked(void *p)
{
	if (p == NULL) {
		perror("uiwarp run");
		exit(EXIT_FAILURE);
	}
	return p;
}

/* @p a and @p b with @p separator between them; either may be NULL. */
static char *join(const char *a, const char *separator, const char *b)
{
	char *s;

	if (a == NULL || *a == '\0')
		return checked(strdup(b == NULL ? "" : b));
	if (b == NULL || *b == '\0')
		return checked(strdup(a));
	if (asprintf(&s, "%s%s%s", a, separator, b) < 0)
		s = NULL;
	return checked(s);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char *joined;

	switch (key) {
	case 'c':
		if (o->config != NULL)
			argp_error(state, "--config is given twice; expected it once");
		o->config = arg;
		return 0;
	case 's':
		/* A line end is what separates them in the environment. */
		if (strchr(arg, '\n') != NULL)
			argp_error(state, "--set has a line end in its value; expected key=value");
		joined = join(o->set, "\n", arg);
		free(o->set);
		o->set = joined;
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

static const struct argp_option argp_options[] = {
	{"config", 'c', "FILE", 0, "Read the configuration from FILE", 0},
	{"set", 's', "KEY=VALUE", 0, "Set one key; wins over the file", 0},
	{0},
};

static const struct argp argp = {argp_options, parse_option, "[--] PROGRAM [ARGUMENT...]",
	"Start PROGRAM with an iWARP device of its own, which it finds through libibverbs and "
	"librdmacm.\v"
	"The environment's UIWARP_CONFIG (a file) and UIWARP_SET (lines of KEY=VALUE) are read "
	"too; the command line wins.\n\n"
	"Exit status: the program's own; 2 if the configuration is wrong, 127 if there is no such "
	"program, 126 if it cannot be started.",
	NULL, NULL, NULL};

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "uiwarp run: %s: %s\n", what, why);
	return EXIT_USAGE;
}

/* Put the configuration into the environment, and read it back as the program will. */
static int set_configuration(const struct options *o)
{
	struct config_error e;
	struct config c;
	char *set;
	int rc;

	if (o->config != NULL) {
		/* The program may change its directory before it comes to verbs. */
		char *path = realpath(o->config, NULL);

		if (path == NULL)
			return complain(o->config, strerror(errno));
		setenv("UIWARP_CONFIG", path, 1);
		free(path);
	}
	set = join(getenv("UIWARP_SET"), "\n", o->set);
	if (*set != '\0')
		setenv("UIWARP_SET", set, 1);
	free(set);
	rc = config_from_environment(&c, &e);
	if (rc == 0)
		return complain("no configuration", "expected --config FILE or --set KEY=VALUE");
	if (rc < 0) {
		fprintf(stderr, "uiwarp run: %s\n", e.text);
		return EXIT_USAGE;
	}
	return 0;
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
	all = join(path, ":", getenv("LD_PRELOAD"));
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
	copy = next = checked(strdup(all));
	while (next != NULL) {
		char *path = join(strsep(&next, ":"), "/", program);
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
	int rc;

	argv[0] = name;
	/* In order: what follows the program's name is the program's. */
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	rc = set_configuration(&o);
	free(o.set);
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
