/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/wan_control.h"

#include "wan/options.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** Skip @p word and the blanks behind it. @return false if the line begins otherwise. */
static bool wan_control_skip_word(const char **line, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*line, word, n) != 0 || (*line)[n] != ' ')
		return false;
	*line += n;
	*line += strspn(*line, " ");
	return true;
}

static void wan_control_obey(struct wan_control *c, const char *line)
{
	struct wan_path_config written[2] = {c->path[0], c->path[1]}, finished[2];
	struct wan_options_error e = {""};
	bool only_a = wan_control_skip_word(&line, "a-to-b");
	bool only_b = !only_a && wan_control_skip_word(&line, "b-to-a");
	int r = 0;

	if (!only_b)
		r = wan_options_parse(&written[0], line, &e);
	if (r == 0 && !only_a)
		r = wan_options_parse(&written[1], line, &e);
	for (unsigned d = 0; d < 2 && r == 0; d++) {
		finished[d] = written[d];
		r = wan_options_finish(&finished[d], &written[1 - d], &e);
	}
	if (r != 0) {
		fprintf(stderr, "uiwarp wan: %s\n", e.text);
		return;
	}
	for (unsigned d = 0; d < 2; d++) {
		c->path[d] = written[d];
		wan_path_configure(wan_bridge_path(c->bridge, d), &finished[d]);
	}
}

static void wan_control_take(struct wan_control *c, char byte)
{
	if (byte == '\n') {
		c->line[c->len] = '\0';
		if (c->len == sizeof c->line - 1)
			fprintf(stderr, "uiwarp wan: a line of more than %zu characters\n",
				sizeof c->line - 2);
		else if (c->len != 0)
			wan_control_obey(c, c->line);
		c->len = 0;
	} else if (c->len < sizeof c->line - 1) {
		c->line[c->len++] = byte;
	}
}

void wan_control_read(struct wan_control *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	char bytes[512];
	ssize_t n;

	if (c->fd < 0 || poll(&p, 1, 0) <= 0)
		return;
	n = read(c->fd, bytes, sizeof bytes);
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		c->fd = -1;
	/* The last line may have no end. */
	if (c->fd < 0)
		wan_control_take(c, '\n');
	for (ssize_t i = 0; i < n; i++)
		wan_control_take(c, bytes[i]);
}
