/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/file.h"

#include "base/secret_file.h"
#include "base/secret_memory.h"

#include <errno.h>
#include <string.h>

#define LINE_MAX_LEN 1024

/** All that a key passes through on its way. */
struct esp_reader {
	char buffer[BUFSIZ], line[LINE_MAX_LEN + 2];
	struct esp_statement statement;
	char why[200];
};

unsigned esp_file_find(const struct esp_file *f, uint32_t spi, const struct ip_addr *dst)
{
	for (unsigned i = 0; i < f->n_states; i++)
		if (f->state[i].spi == spi && ip_addr_equal(&f->state[i].dst, dst))
			return i;
	return ESP_STATES_MAX;
}

/** @return what is wrong, or NULL. */
static const char *esp_file_add_state(struct esp_file *f, const struct esp_state *s)
{
	if (f->n_states == ESP_STATES_MAX)
		return "expected at most 1024 SAs";
	if (esp_file_find(f, s->spi, &s->dst) != ESP_STATES_MAX)
		return "another SA has this \"spi\" and \"dst\" already";
	f->state[f->n_states++] = *s;
	return NULL;
}

static const char *esp_file_add_policy(struct esp_file *f, const struct esp_policy *p)
{
	unsigned at = f->n_policies;

	if (at == ESP_POLICIES_MAX)
		return "expected at most 1024 policies";
	for (; at && f->policy[at - 1].priority > p->priority; at--)
		f->policy[at] = f->policy[at - 1];
	f->policy[at] = *p;
	f->n_policies++;
	return NULL;
}

static const char *esp_file_add(struct esp_file *f, const struct esp_statement *s)
{
	switch (s->kind) {
	case ESP_STATEMENT_STATE:
		return esp_file_add_state(f, &s->state);
	case ESP_STATEMENT_POLICY:
		return esp_file_add_policy(f, &s->policy);
	case ESP_STATEMENT_DEFAULT:
		f->accept_in = s->none.has_in ? s->none.accept_in : f->accept_in;
		f->accept_out = s->none.has_out ? s->none.accept_out : f->accept_out;
		break;
	default:
		break;
	}
	return NULL;
}

/** @return what is wrong in line @p number, or NULL. */
static const char *esp_file_read_lines(
	FILE *in, struct esp_reader *r, struct esp_file *f, unsigned *number)
{
	const char *why = NULL;

	for (*number = 0; !why && fgets(r->line, sizeof r->line, in);) {
		++*number;
		if (!strchr(r->line, '\n') && !feof(in))
			return "the line is longer than 1024 characters";
		if (esp_statement_parse(r->line, &r->statement, r->why, sizeof r->why) != 0)
			return r->why;
		why = esp_file_add(f, &r->statement);
	}
	return why ? why : secret_file_end(in);
}

int esp_file_parse(FILE *in, const char *path, struct esp_file **out, char *why, size_t size)
{
	struct esp_reader *r = secret_memory_map(sizeof *r);
	struct esp_file *f = secret_memory_map(sizeof *f);
	const char *wrong = "no memory";
	unsigned number = 0;
	int rc = -ENOMEM;

	if (r && f) {
		setvbuf(in, r->buffer, _IOFBF, sizeof r->buffer);
		wrong = esp_file_read_lines(in, r, f, &number);
		/* The buffer ends before the file does. */
		setvbuf(in, NULL, _IONBF, 0);
		rc = wrong ? secret_file_error(wrong) : 0;
	}
	if (wrong) {
		snprintf(why, size, "ipsec \"%.300s\" line %u: %s", path, number, wrong);
		esp_file_free(f);
		f = NULL;
	}
	secret_memory_unmap(r, sizeof *r);
	*out = f;
	return rc;
}

int esp_file_read(const char *path, struct esp_file **out, char *why, size_t size)
{
	int rc;
	FILE *in = secret_file_open(path, "ipsec", &rc, why, size);

	*out = NULL;
	if (!in)
		return rc;
	rc = esp_file_parse(in, path, out, why, size);
	fclose(in);
	return rc;
}

void esp_file_free(struct esp_file *f)
{
	secret_memory_unmap(f, sizeof *f);
}
