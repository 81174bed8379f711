/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stat_record.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/** In the first line. */
#define STAT_RECORD_FORMAT  "uiwarp stat --record"
#define STAT_RECORD_VERSION 1

/** What any other file is. */
#define STAT_RECORD_NONE "it is no record of \"uiwarp stat --record\""

/* ---- writing ----------------------------------------------------------------------------- */

/** Write the object in @p j as a line, and empty it. @return 0 or a negative errno. */
static int stat_record_line(FILE *out, struct json_text *j)
{
	int rc = 0;

	json_text_object_end(j);
	errno = 0;
	if (j->failed)
		rc = -ENOMEM;
	else if (fwrite(j->text, 1, j->len, out) != j->len || putc('\n', out) == EOF)
		rc = errno ? -errno : -EIO;
	json_text_clear(j);
	return rc;
}

int stat_record_begin(FILE *out, double begun, double interval)
{
	struct json_text j = {.text = NULL};
	int rc;

	json_text_object(&j, NULL);
	json_text_string(&j, "format", STAT_RECORD_FORMAT);
	json_text_number(&j, "version", STAT_RECORD_VERSION);
	json_text_string(&j, "written_by", "uiwarp " UIWARP_VERSION);
	json_text_number(&j, "begun_ns", (uint64_t)(begun * 1e9));
	json_text_number(&j, "interval_ns", (uint64_t)(interval * 1e9));
	rc = stat_record_line(out, &j);
	json_text_fini(&j);
	return rc;
}

int stat_record_write(FILE *out, const struct telemetry_sample *s, uint64_t time_ns)
{
	struct json_text j = {.text = NULL};
	int rc = 0;

	for (size_t i = 0; i < s->n && !rc; i++) {
		json_text_object(&j, NULL);
		json_text_number(&j, "time_ns", time_ns);
		telemetry_row_write(&s->row[i], &j);
		rc = stat_record_line(out, &j);
	}
	json_text_fini(&j);
	return rc ? rc : fflush(out) != 0 ? -errno : 0;
}

/* ---- reading ----------------------------------------------------------------------------- */

static enum stat_record_result stat_record_bad(struct stat_record_reader *r, const char *format,
	...) __attribute__((format(printf, 2, 3)));

static enum stat_record_result stat_record_bad(
	struct stat_record_reader *r, const char *format, ...)
{
	int n = snprintf(r->error, sizeof r->error, "line %lu: ", r->line);
	va_list args;

	va_start(args, format);
	vsnprintf(r->error + n, sizeof r->error - (size_t)n, format, args);
	va_end(args);
	return STAT_RECORD_BAD;
}

/** Read a line. @param[out] len its bytes, with STAT_RECORD_ROW. */
static enum stat_record_result stat_record_line_in(struct stat_record_reader *r, size_t *len)
{
	if (!fgets(r->text, sizeof r->text, r->in)) {
		if (!ferror(r->in))
			return STAT_RECORD_END;
		snprintf(r->error, sizeof r->error, "%s", strerror(errno));
		return STAT_RECORD_BAD;
	}
	r->line++;
	*len = strlen(r->text);
	if (*len == STAT_RECORD_LINE && r->text[*len - 1] != '\n')
		return stat_record_bad(r, "it is longer than %d bytes", STAT_RECORD_LINE);
	return STAT_RECORD_ROW;
}

/** The line is no object of JSON. */
static enum stat_record_result stat_record_no_object(struct stat_record_reader *r, size_t len)
{
	r->cut = r->line > 1 && len > 0 && r->text[len - 1] != '\n' && feof(r->in);
	return r->cut ? STAT_RECORD_END : stat_record_bad(r, "it is not an object of JSON");
}

/** The members of the first line. */
struct stat_record_first {
	char format[32];
	uint64_t version, begun, interval;
	bool has_version, has_begun, has_interval;
};

/** @return it is an object of JSON. */
static bool stat_record_read_members(struct stat_record_first *f, struct json_reader *j)
{
	struct json_reader_key key;

	if (!json_reader_object(j))
		return false;
	while (json_reader_member(j, &key))
		if (json_reader_key_is(&key, "format"))
			json_reader_string(j, f->format, sizeof f->format);
		else if (json_reader_key_is(&key, "version"))
			f->has_version = json_reader_number(j, &f->version);
		else if (json_reader_key_is(&key, "begun_ns"))
			f->has_begun = json_reader_number(j, &f->begun);
		else if (json_reader_key_is(&key, "interval_ns"))
			f->has_interval = json_reader_number(j, &f->interval);
		else
			json_reader_skip(j);
	return json_reader_end(j);
}

static enum stat_record_result stat_record_read_first(struct stat_record_reader *r)
{
	struct stat_record_first f = {.version = 0};
	struct json_reader j;
	size_t len;
	enum stat_record_result found = stat_record_line_in(r, &len);

	if (found == STAT_RECORD_END)
		snprintf(r->error, sizeof r->error, "it is empty");
	if (found == STAT_RECORD_BAD && r->line > 0)
		snprintf(r->error, sizeof r->error, STAT_RECORD_NONE);
	if (found != STAT_RECORD_ROW)
		return STAT_RECORD_BAD;
	json_reader_init(&j, r->text, len);
	if (!stat_record_read_members(&f, &j)) {
		snprintf(r->error, sizeof r->error, STAT_RECORD_NONE);
		return STAT_RECORD_BAD;
	}
	if (strcmp(f.format, STAT_RECORD_FORMAT) != 0 || !f.has_version || !f.has_begun ||
		!f.has_interval)
		return stat_record_bad(r, STAT_RECORD_NONE);
	if (f.version != STAT_RECORD_VERSION)
		return stat_record_bad(r, "its version is %llu, and only %d is known",
			(unsigned long long)f.version, STAT_RECORD_VERSION);
	r->begun = (double)f.begun / 1e9;
	r->interval = (double)f.interval / 1e9;
	return STAT_RECORD_ROW;
}

/** Read the row of a line. @return it is an object of JSON. */
static bool stat_record_read_row(
	struct json_reader *j, struct telemetry_row *row, uint64_t *time_ns, bool *timed)
{
	struct json_reader_key key;
	size_t next = 0;

	*row = (struct telemetry_row){.pid = 0};
	*timed = false;
	if (!json_reader_object(j))
		return false;
	while (json_reader_member(j, &key))
		if (json_reader_key_is(&key, "time_ns"))
			*timed = json_reader_number(j, time_ns);
		else if (!telemetry_row_read_member(row, j, &key, &next))
			json_reader_skip(j);
	telemetry_row_read_end(row);
	return json_reader_end(j);
}

enum stat_record_result stat_record_read(struct stat_record_reader *r, struct telemetry_row *row)
{
	enum stat_record_result found = STAT_RECORD_ROW;
	struct telemetry_row read;
	struct json_reader j;
	uint64_t time_ns;
	size_t len;
	bool timed;

	if (r->line == 0)
		found = stat_record_read_first(r);
	if (found == STAT_RECORD_ROW)
		found = stat_record_line_in(r, &len);
	if (found != STAT_RECORD_ROW)
		return found;
	json_reader_init(&j, r->text, len);
	if (!stat_record_read_row(&j, &read, &time_ns, &timed))
		return stat_record_no_object(r, len);
	if (!timed)
		return stat_record_bad(r, "it has no \"time_ns\"");
	if (time_ns < r->time_ns)
		return stat_record_bad(r, "its time is before that of the line before");
	r->time_ns = time_ns;
	*row = read;
	return STAT_RECORD_ROW;
}
