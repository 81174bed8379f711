/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Runs from a mark to the next. */
#define RUNS_OF_MARK 4096
/** Octets of the longest run. */
#define RUN_MAX 10

/* A mark: frames before it, where its first run begins, and the frames of each file before it. */
#define MARK_NUMBER 0
#define MARK_AT     1
#define MARK_COUNTS 2

int cap_runs_init(struct cap_runs *r, unsigned files)
{
	*r = (struct cap_runs){.files = files, .max = CAP_RUNS_MAX};
	r->counts = calloc(files + 1, sizeof *r->counts);
	return r->counts ? 0 : -ENOMEM;
}

void cap_runs_free(struct cap_runs *r)
{
	free(r->bytes);
	free(r->marks);
	free(r->counts);
	*r = (struct cap_runs){0};
}

static uint64_t *cap_runs_mark_at(const struct cap_runs *r, size_t i)
{
	return r->marks + i * (MARK_COUNTS + r->files);
}

static bool cap_runs_mark(struct cap_runs *r)
{
	uint64_t *m;

	if (r->runs % RUNS_OF_MARK != 0)
		return true;
	if (r->num_marks == r->max_marks) {
		size_t max = r->max_marks == 0 ? 1 : 2 * r->max_marks;

		m = realloc(r->marks, max * (MARK_COUNTS + r->files) * sizeof *m);
		if (!m)
			return false;
		r->marks = m;
		r->max_marks = max;
	}
	m = cap_runs_mark_at(r, r->num_marks++);
	m[MARK_NUMBER] = r->kept - r->len;
	m[MARK_AT] = r->used;
	memcpy(m + MARK_COUNTS, r->counts, r->files * sizeof *r->counts);
	return true;
}

static bool cap_runs_make_room(struct cap_runs *r)
{
	size_t size = r->size == 0 ? 64 : 2 * r->size;
	uint8_t *more;

	if (r->size - r->used >= RUN_MAX)
		return true;
	more = size > r->max ? NULL : realloc(r->bytes, size);
	if (!more)
		return false;
	r->bytes = more;
	r->size = size;
	return true;
}

/* Write the run that goes on: another begins. */
static bool cap_runs_end(struct cap_runs *r)
{
	uint64_t v = (r->len - 1) * r->files + r->file;

	if (!cap_runs_make_room(r) || !cap_runs_mark(r))
		return false;
	for (; v >= 0x80; v >>= 7)
		r->bytes[r->used++] = (uint8_t)(v | 0x80);
	r->bytes[r->used++] = (uint8_t)v;
	r->runs++;
	r->counts[r->file] += r->len;
	return true;
}

void cap_runs_add(struct cap_runs *r, unsigned file)
{
	if (r->full)
		return;
	if (file != r->file && r->len != 0) {
		r->full = !cap_runs_end(r);
		if (r->full)
			return;
		r->len = 0;
	}
	r->file = file;
	r->len++;
	r->kept++;
}

/* The last mark before frame @p number. */
static const uint64_t *cap_runs_seek(const struct cap_runs *r, uint64_t number)
{
	size_t low = 0, high = r->num_marks;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (cap_runs_mark_at(r, middle)[MARK_NUMBER] < number)
			low = middle;
		else
			high = middle;
	}
	return cap_runs_mark_at(r, low);
}

static uint64_t cap_runs_read(const struct cap_runs *r, uint64_t *at)
{
	uint64_t v = 0;
	unsigned shift = 0;

	for (; r->bytes[*at] & 0x80; shift += 7)
		v |= (uint64_t)(r->bytes[(*at)++] & 0x7f) << shift;
	return v | (uint64_t)r->bytes[(*at)++] << shift;
}

bool cap_runs_find(const struct cap_runs *r, uint64_t number, unsigned *file, uint64_t *there)
{
	const uint64_t *mark;
	uint64_t at, before, same;

	if (number == 0 || number > r->kept)
		return false;
	*file = r->file;
	*there = r->counts[r->file] + number - (r->kept - r->len);
	if (number > r->kept - r->len)
		return true;
	mark = cap_runs_seek(r, number);
	before = mark[MARK_NUMBER];
	/* Up to the run that has it, */
	for (at = mark[MARK_AT];;) {
		uint64_t v = cap_runs_read(r, &at);

		*file = (unsigned)(v % r->files);
		if (number - before <= v / r->files + 1)
			break;
		before += v / r->files + 1;
	}
	*there = number - before;
	/* and those of its file before. */
	same = mark[MARK_COUNTS + *file];
	for (before = mark[MARK_NUMBER], at = mark[MARK_AT]; before != number - *there;) {
		uint64_t v = cap_runs_read(r, &at);

		before += v / r->files + 1;
		same += v % r->files == *file ? v / r->files + 1 : 0;
	}
	*there += same;
	return true;
}
