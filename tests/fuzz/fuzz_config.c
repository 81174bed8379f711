/* SPDX-License-Identifier: BSD-2-Clause */
/* Configuration: single assignments, and the same bytes as a file. */
#include "fuzz.h"
#include "host/config.h"

#include <sys/mman.h>
#include <unistd.h>

static char path[64];
static int file = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	file = memfd_create("fuzz.conf", 0);
	MUST(file >= 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	return 0;
}

/** A sentence is there exactly when something was wrong. */
static void check_error(int err, const struct config_error *e)
{
	MUST(err <= 0);
	MUST(memchr(e->text, '\0', sizeof e->text));
	MUST(!err || e->text[0]);
}

static void check_strings(const struct config *c)
{
	MUST(memchr(c->port, '\0', sizeof c->port) && memchr(c->eal, '\0', sizeof c->eal));
	MUST(memchr(c->name, '\0', sizeof c->name));
	MUST(memchr(c->capture, '\0', sizeof c->capture));
	MUST(memchr(c->log_file, '\0', sizeof c->log_file));
	MUST(memchr(c->congestion_control, '\0', sizeof c->congestion_control));
	MUST(c->num_addresses <= CONFIG_MAX_ADDRESSES && c->num_gateways <= CONFIG_MAX_GATEWAYS);
}

static void set_lines(struct config *c, const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *nl = memchr(data, '\n', size);
		size_t len = nl ? (size_t)(nl - data) : size;
		struct config_error e = {.text = ""};
		char *line = strndup((const char *)data, len); /* so that overruns are seen */

		MUST(line);
		check_error(config_set(c, "--set", line, &e), &e);
		free(line);
		data += len + (nl != NULL);
		size -= len + (nl != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config_error e = {.text = ""};
	struct config c;

	config_init(&c);
	c.slot = 1; /* so that patterns are expanded */
	set_lines(&c, data, size);
	check_strings(&c);
	check_error(config_check(&c, &e), &e);
	config_init(&c);
	MUST(!ftruncate(file, 0) && pwrite(file, data, size, 0) == (ssize_t)size);
	e.text[0] = '\0';
	check_error(config_read_file(&c, path, &e), &e);
	check_strings(&c);
	e.text[0] = '\0';
	check_error(config_check(&c, &e), &e);
	return 0;
}
