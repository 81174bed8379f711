/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture_set.h"

#include "pcap/capture_priv.h"

#include <errno.h>
#include <stdlib.h>

/** Octets of several files together, behind which their pages are given back. */
#define READ_MAX ((size_t)16 << 20)

/* Those without a frame, or whose frames have no time, go with the one named before. */
static void cap_set_place(const struct cap_set *s, struct cap_set_file *f)
{
	bool timed = f->result == CAP_FRAME && f->frame.unit != 0;

	f->follows = !timed && f != s->files;
	f->time = timed ? f->frame.time : f->follows ? f[-1].time : 0;
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

/* Begin with the first frames. @return 0, or -ENOMEM; all is closed then. */
static int cap_set_begin(struct cap_set *s)
{
	cap_set_sort(s);
	s->turns = calloc(s->num_files + 1, sizeof *s->turns);
	if (!s->turns || cap_runs_init(&s->runs, s->num_files) != 0) {
		cap_set_close(s);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < s->num_files; i++)
		if (!s->files[i].follows)
			s->turns[s->num_turns++] = i;
	return 0;
}

static void cap_set_read(struct cap_set_file *c)
{
	c->result = cap_next(c->file, &c->frame, &c->error);
	c->ahead = true;
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
		cap_set_read(f);
		cap_set_place(s, f);
		s->num_files++;
	}
	return cap_set_begin(s);
}

int cap_set_take(struct cap_set *s, const char *path, struct cap_file *file)
{
	*s = (struct cap_set){.files = calloc(1, sizeof *s->files), .num_files = 1};
	if (!s->files) {
		cap_close(file);
		return -ENOMEM;
	}
	s->files[0] = (struct cap_set_file){.path = path, .file = file};
	return cap_set_begin(s);
}

static bool cap_set_is_before(const struct cap_set *s, unsigned a, unsigned b)
{
	uint64_t at = s->files[a].time, bt = s->files[b].time;

	return at < bt || (at == bt && a < b);
}

/* What comes next of the first in turn was read: put it where its time is. */
static void cap_set_queue(struct cap_set *s)
{
	unsigned first = s->turns[0], i = 1;

	for (; i < s->num_turns && cap_set_is_before(s, s->turns[i], first); i++)
		s->turns[i - 1] = s->turns[i];
	s->turns[i - 1] = first;
}

/* The first in turn has ended: another follows it, or none. */
static void cap_set_end_first(struct cap_set *s)
{
	unsigned next = s->turns[0] + 1;

	if (next < s->num_files && s->files[next].follows) {
		s->files[next].time = s->files[next - 1].time;
		s->turns[0] = next;
		return;
	}
	s->num_turns--;
	memmove(s->turns, s->turns + 1, s->num_turns * sizeof *s->turns);
}

/* Each file gives its own back, but many that are read at the same time have much together. */
static void cap_set_give_back(struct cap_set *s, const struct cap_frame *f)
{
	s->read += f->captured;
	if (s->read < READ_MAX)
		return;
	s->read = 0;
	for (unsigned i = 0; i < s->num_turns && s->num_turns > 1; i++)
		if (s->files[s->turns[i]].begun)
			cap_give_back(s->files[s->turns[i]].file);
}

static void cap_set_give(struct cap_set *s, struct cap_set_file *c, struct cap_frame *f)
{
	*f = c->frame;
	f->number = ++s->number;
	f->file = (uint32_t)(c - s->files);
	c->ahead = false;
	c->begun = true;
	cap_runs_add(&s->runs, f->file);
	cap_set_give_back(s, f);
}

enum cap_result cap_set_next(
	struct cap_set *s, struct cap_frame *f, const char **path, struct cap_error *e)
{
	while (s->num_turns != 0) {
		struct cap_set_file *c = &s->files[s->turns[0]];

		/* Only now: of an interface, more may be long in coming. */
		if (!c->ahead) {
			cap_set_read(c);
			if (c->result == CAP_FRAME && c->frame.unit != 0)
				c->time = c->frame.time;
			cap_set_queue(s);
			continue;
		}
		*path = c->path;
		if (c->result == CAP_FRAME) {
			cap_set_give(s, c, f);
			return CAP_FRAME;
		}
		cap_give_back(c->file);
		cap_set_end_first(s);
		if (c->result == CAP_BAD) {
			*e = c->error;
			return CAP_BAD;
		}
	}
	return CAP_END;
}

const char *cap_set_locate(const struct cap_set *s, uint64_t number, uint64_t *there)
{
	unsigned file;

	if (!cap_runs_find(&s->runs, number, &file, there))
		return NULL;
	return s->files[file].path; /* NULL: of no name */
}

void cap_set_close(struct cap_set *s)
{
	for (unsigned i = 0; i < s->num_files; i++)
		cap_close(s->files[i].file);
	free(s->files);
	free(s->turns);
	cap_runs_free(&s->runs);
	*s = (struct cap_set){0};
}
