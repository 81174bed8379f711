/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture_set.h"

#include "pcap/capture_priv.h"

#include <errno.h>
#include <stdlib.h>

/* Those without a frame, or whose frames have no time, go with the one named before. */
static uint64_t cap_set_time(const struct cap_set *s, const struct cap_set_file *f)
{
	if (f->result == CAP_FRAME && f->first.time != 0)
		return f->first.time;
	return f == s->files ? 0 : f[-1].time;
}

static void cap_set_sort(struct cap_set *s)
{
	for (unsigned i = 1; i < s->num_files; i++) {
		struct cap_set_file f = s->files[i];
		unsigned at = i;

		for (; at != 0 && f.time < s->files[at - 1].time; at--)
			s->files[at] = s->files[at - 1];
		s->files[at] = f;
	}
}

int cap_set_open(struct cap_set *s, char *const *paths, unsigned n,
	void (*refused)(const char *path, const char *why))
{
	*s = (struct cap_set){.files = calloc(n, sizeof *s->files)};
	if (!s->files)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		struct cap_set_file *f = &s->files[s->num_files];

		*f = (struct cap_set_file){.path = paths[i]};
		f->file = cap_open(f->path, &f->error);
		if (!f->file) {
			refused(f->path, f->error.text);
			continue;
		}
		f->result = cap_next(f->file, &f->first, &f->error);
		f->time = cap_set_time(s, f);
		s->num_files++;
	}
	cap_set_sort(s);
	return 0;
}

int cap_set_take(struct cap_set *s, const char *path, struct cap_file *file)
{
	*s = (struct cap_set){.files = calloc(1, sizeof *s->files), .num_files = 1};
	if (!s->files) {
		cap_close(file);
		return -ENOMEM;
	}
	s->files[0] = (struct cap_set_file){.path = path, .file = file, .begun = true};
	return 0;
}

enum cap_result cap_set_next(
	struct cap_set *s, struct cap_frame *f, const char **path, struct cap_error *e)
{
	while (s->at < s->num_files) {
		struct cap_set_file *c = &s->files[s->at];
		enum cap_result r;

		*path = c->path;
		if (c->begun) {
			r = cap_next(c->file, f, e);
		} else {
			*f = c->first;
			*e = c->error;
			r = c->result;
			c->begun = true;
		}
		if (r == CAP_FRAME) {
			f->number = ++s->number;
			return CAP_FRAME;
		}
		cap_give_back(c->file);
		if (++s->at < s->num_files)
			s->files[s->at].begin = s->number;
		if (r == CAP_BAD)
			return CAP_BAD;
	}
	return CAP_END;
}

const char *cap_set_locate(const struct cap_set *s, uint64_t number, uint64_t *there)
{
	unsigned low = 0, high = s->at < s->num_files ? s->at + 1 : s->num_files;

	if (number == 0 || number > s->number)
		return NULL;
	/* The last that begins before it. */
	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if (s->files[middle].begin < number)
			low = middle;
		else
			high = middle;
	}
	*there = number - s->files[low].begin;
	return s->files[low].path; /* NULL: of no name */
}

void cap_set_close(struct cap_set *s)
{
	for (unsigned i = 0; i < s->num_files; i++)
		cap_close(s->files[i].file);
	free(s->files);
	*s = (struct cap_set){0};
}
