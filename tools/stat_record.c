/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stat_record.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/** In the first line. */
#define STAT_RECORD_FORMAT  "uiwarp stat --record"
#define STAT_RECORD_VERSION 1

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

/**
 * Read a line. @param[out] line its object, which the caller owns, with STAT_RECORD_ROW.
 */
static enum stat_record_result stat_record_object(struct stat_record_reader *r, json_t **line)
{
	size_t len;

	if (!fgets(r->text, sizeof r->text, r->in)) {
		if (!ferror(r->in))
			return STAT_RECORD_END;
		snprintf(r->error, sizeof r->error, "%s", strerror(errno));
		return STAT_RECORD_BAD;
	}
	r->line++;
	len = strlen(r->text);
	if (len == STAT_RECORD_LINE && r->text[len - 1] != '\n')
		return stat_record_bad(r, "it is longer than %d bytes", STAT_RECORD_LINE);
	*line = json_loadb(r->text, len, 0, NULL);
	if (json_is_object(*line))
		return STAT_RECORD_ROW;
	json_decref(*line);
	r->cut = r->line > 1 && len > 0 && r->text[len - 1] != '\n' && feof(r->in);
	return r->cut ? STAT_RECORD_END : stat_record_bad(r, "it is not an object of JSON");
}

/** A number that is not negative. */
static bool stat_record_number(const json_t *o, const char *key, uint64_t *n)
{
	const json_t *value = json_object_get(o, key);

	*n = (uint64_t)json_integer_value(value);
	return json_is_integer(value) && json_integer_value(value) >= 0;
}

static enum stat_record_result stat_record_read_first(struct stat_record_reader *r)
{
	uint64_t version, begun = 0, interval = 0;
	json_t *o;
	enum stat_record_result found = stat_record_object(r, &o);
	const char *format;

	if (found == STAT_RECORD_END)
		snprintf(r->error, sizeof r->error, "it is empty");
	else if (found == STAT_RECORD_BAD && r->line > 0)
		snprintf(r->error, sizeof r->error, "it is no record of \"uiwarp stat --record\"");
	if (found != STAT_RECORD_ROW)
		return STAT_RECORD_BAD;
	format = json_string_value(json_object_get(o, "format"));
	if (!format || strcmp(format, STAT_RECORD_FORMAT) != 0 ||
		!stat_record_number(o, "version", &version) ||
		!stat_record_number(o, "begun_ns", &begun) ||
		!stat_record_number(o, "interval_ns", &interval))
		found = stat_record_bad(r, "it is no record of \"uiwarp stat --record\"");
	else if (version != STAT_RECORD_VERSION)
		found = stat_record_bad(r, "its version is %llu, and only %d is known",
			(unsigned long long)version, STAT_RECORD_VERSION);
	json_decref(o);
	if (found == STAT_RECORD_ROW) {
		r->begun = (double)begun / 1e9;
		r->interval = (double)interval / 1e9;
	}
	return found;
}

enum stat_record_result stat_record_read(struct stat_record_reader *r, struct telemetry_row *row)
{
	enum stat_record_result found;
	uint64_t time_ns;
	json_t *o;

	if (r->line == 0) {
		found = stat_record_read_first(r);
		if (found != STAT_RECORD_ROW)
			return found;
	}
	found = stat_record_object(r, &o);
	if (found != STAT_RECORD_ROW)
		return found;
	if (!stat_record_number(o, "time_ns", &time_ns))
		found = stat_record_bad(r, "it has no \"time_ns\"");
	else if (time_ns < r->time_ns)
		found = stat_record_bad(r, "its time is before that of the line before");
	*row = (struct telemetry_row){.pid = 0};
	telemetry_row_read_process(row, o);
	telemetry_row_read_qp(row, o);
	if (json_object_get(o, "remote"))
		telemetry_row_read_connection(row, o);
	json_decref(o);
	if (found == STAT_RECORD_ROW)
		r->time_ns = time_ns;
	return found;
}
