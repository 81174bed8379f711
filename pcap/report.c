/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/report.h"

#include <stdarg.h>
#include <string.h>

/** Bytes of evidence in a line. */
#define BYTES_MAX 64

/* What shows the connection in Wireshark, and no other. */
static void report_add_filter(struct line *l, const struct connection *c)
{
	for (unsigned i = 0; i < 2; i++) {
		char text[IP_ADDR_STRLEN];

		line_add(l, "%s%s == %s && tcp.port == %u", i == 0 ? "" : " && ",
			ip_addr_is_v4(&c->end[i].addr) ? "ip.addr" : "ipv6.addr",
			ip_addr_format(&c->end[i].addr, text), c->end[i].port);
	}
}

/** Octets of a path, of its end. */
#define REPORT_PATH_MAX 48

struct report_frame report_frame(const struct report *r, uint64_t frame)
{
	const char *path = NULL, *dots = "";
	struct report_frame f;
	uint64_t there;
	size_t len;

	if (r->files && r->files->num_files > 1)
		path = cap_set_locate(r->files, frame, &there);
	if (!path) {
		snprintf(f.text, sizeof f.text, "%llu", (unsigned long long)frame);
		return f;
	}
	len = strlen(path);
	if (len > REPORT_PATH_MAX) {
		path += len - REPORT_PATH_MAX;
		dots = "...";
	}
	snprintf(f.text, sizeof f.text, "%llu (%s%s:%llu)", (unsigned long long)frame, dots, path,
		(unsigned long long)there);
	return f;
}

/** @return the file of the frame, its number there and what shows the connection; or NULL. */
static const char *report_locate(
	const struct report *r, const struct report_place *at, uint64_t *there, struct line *filter)
{
	const char *path = r->files ? cap_set_locate(r->files, at->frame, there) : NULL;

	if (path)
		report_add_filter(filter, at->s->c);
	return path;
}

/* The command that shows the frame in its file and the connection around it. */
static void report_print_link(const struct report *r, const struct report_place *at)
{
	struct line filter = {0};
	uint64_t there;
	const char *path = report_locate(r, at, &there, &filter);

	if (!path)
		return;
	fputs("    wireshark -r '", r->out);
	for (const char *p = path; *p != '\0'; p++)
		if (*p == '\'')
			fputs("'\\''", r->out);
		else
			putc(*p, r->out);
	fprintf(r->out, "' -g %llu -Y '%s'\n", (unsigned long long)there, filter.text);
}

static void report_print(const struct report *r, const char *kind, const struct report_place *at,
	const struct requirement *q, const char *text)
{
	const struct stream *s = at->s;
	FILE *out = r->out;
	struct line l = {0};

	line_add(&l, "%s: frame %s, ", kind, report_frame(r, at->frame).text);
	line_add_seconds(&l, stream_time(s, at->time));
	line_add(&l, " s, #%llu %s ", (unsigned long long)s->c->id, stream_arrow(s));
	line_add_endpoint(&l, stream_from(s));
	line_add(&l, " > ");
	line_add_endpoint(&l, stream_to(s));
	fprintf(out, "%s: %s\n", l.text, text);
	if (q)
		fprintf(out, "    %s (RFC %u section %s, %s): %s\n", q->id, q->rfc, q->section,
			q->level, q->text);
	if (q && at->bytes && at->len != 0) {
		struct line hex = {0};

		line_add_hex(&hex, at->bytes, at->len, BYTES_MAX);
		fprintf(out, "    bytes %s\n", hex.text);
	}
}

static void report_locate_json(const struct report *r, const struct report_place *at, json_t *o)
{
	struct line filter = {0};
	uint64_t there;
	const char *path = report_locate(r, at, &there, &filter);

	if (!path)
		return;
	/* NULL for a name that is no UTF-8: then there is none. */
	json_object_set_new(o, "file", json_string(path));
	json_object_set_new(o, "file_frame", json_integer((json_int_t)there));
	json_object_set_new(o, "display_filter", json_string(filter.text));
}

static void report_print_json(const struct report *r, const char *kind,
	const struct report_place *at, const struct requirement *q, const char *text)
{
	const struct stream *s = at->s;
	struct line from = {0}, to = {0}, hex = {0};
	FILE *out = r->out;
	json_t *o;

	line_add_endpoint(&from, stream_from(s));
	line_add_endpoint(&to, stream_to(s));
	o = json_pack("{ss sI sI sI ss ss ss}", "event", kind, "connection", (json_int_t)s->c->id,
		"frame", (json_int_t)at->frame, "time_ns", (json_int_t)at->time, "from", from.text,
		"to", to.text, "text", text);
	if (q) {
		json_object_set_new(o, "id", json_string(q->id));
		json_object_set_new(o, "rfc", json_integer(q->rfc));
		json_object_set_new(o, "section", json_string(q->section));
		json_object_set_new(o, "level", json_string(q->level));
		json_object_set_new(o, "requirement", json_string(q->text));
	}
	report_locate_json(r, at, o);
	if (at->bytes && at->len != 0) {
		line_add_hex(&hex, at->bytes, at->len, BYTES_MAX);
		json_object_set_new(o, "bytes", json_string(hex.text));
	}
	json_dumpf(o, out, JSON_COMPACT);
	putc('\n', out);
	json_decref(o);
}

static void report_tell(const struct report *r, enum severity severity,
	const struct report_place *at, const struct requirement *q, const char *text)
{
	if (!r->out || (r->least_set && severity > r->least))
		return;
	if (r->json) {
		report_print_json(r, severity_name(severity), at, q, text);
	} else {
		report_print(r, severity_name(severity), at, q, text);
		report_print_link(r, at);
	}
}

static bool report_is_wanted(const struct report *r, const struct report_place *at)
{
	return select_holds(&r->span, at->s->c->shared->origin, at->time);
}

static void report_count(struct report *r, enum requirement_id id, enum severity severity)
{
	r->count[id]++;
	if (severity == SEVERITY_VIOLATION)
		r->violations++;
	else if (severity == SEVERITY_ADVICE)
		r->advice++;
	else
		r->notes++;
}

void report_violation(struct report *r, const struct report_place *at, enum requirement_id id,
	uint16_t *told, const char *format, ...)
{
	const struct requirement *q = requirement(id);
	enum severity severity = severities_find(r->severities, q, &stream_from(at->s)->addr);
	char text[256];
	va_list args;

	if (!report_is_wanted(r, at))
		return;
	if (severity == SEVERITY_IGNORE) {
		r->ignored++;
		return;
	}
	report_count(r, id, severity);
	if (r->found)
		r->found(r->user, at, q);
	if (*told < UINT16_MAX)
		++*told;
	if (*told > REPORT_TOLD_MAX && !r->all)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	report_tell(r, severity, at, q, text);
}

void report_note(struct report *r, const struct report_place *at, const char *format, ...)
{
	char text[256];
	va_list args;

	if (!report_is_wanted(r, at))
		return;
	r->notes++;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	report_tell(r, SEVERITY_NOTE, at, NULL, text);
}

/* ---- summary -------------------------------------------------------------------------------- */

static void report_summary_json(
	const struct report *r, const char *file, uint64_t connections, uint64_t frames)
{
	json_t *ids = json_object();
	json_t *o = json_pack("{ss sI sI sI sI sI sI sI}", "event", "summary", "frames",
		(json_int_t)frames, "connections", (json_int_t)connections, "violations",
		(json_int_t)r->violations, "advice", (json_int_t)r->advice, "notes",
		(json_int_t)r->notes, "ignored", (json_int_t)r->ignored, "evicted",
		(json_int_t)r->evicted);

	/* NULL for a name that is no UTF-8: then there is none. */
	json_object_set_new(o, "file", json_string(file));
	for (unsigned i = 0; i < REQUIREMENTS; i++)
		if (r->count[i] != 0)
			json_object_set_new(ids, requirement((enum requirement_id)i)->id,
				json_integer((json_int_t)r->count[i]));
	json_object_set_new(o, "requirements", ids);
	json_dumpf(o, r->out, JSON_COMPACT);
	putc('\n', r->out);
	json_decref(o);
}

void report_summary(const struct report *r, const char *file, uint64_t connections, uint64_t frames)
{
	if (!r->out)
		return;
	if (r->json) {
		report_summary_json(r, file, connections, frames);
		return;
	}
	fprintf(r->out,
		"%s: %llu frames, %llu iWARP connections, %llu violations, %llu advice, "
		"%llu notes\n",
		file, (unsigned long long)frames, (unsigned long long)connections,
		(unsigned long long)r->violations, (unsigned long long)r->advice,
		(unsigned long long)r->notes);
	if (r->ignored != 0)
		fprintf(r->out, "    %6llu findings are ignored\n", (unsigned long long)r->ignored);
	if (r->evicted != 0)
		fprintf(r->out, "    %6llu connections were not followed to their end\n",
			(unsigned long long)r->evicted);
	for (unsigned i = 0; i < REQUIREMENTS; i++) {
		const struct requirement *q = requirement((enum requirement_id)i);

		if (r->count[i] != 0)
			fprintf(r->out, "    %6llu x %s %s\n", (unsigned long long)r->count[i],
				q->id, q->text);
	}
}
