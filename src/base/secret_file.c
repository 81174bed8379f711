/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/secret_file.h"

#include "base/regular_file.h"

#include <errno.h>
#include <string.h>

void secret_file_stamp_take(struct secret_file_stamp *t, const char *path)
{
	struct stat st;

	memset(t, 0, sizeof *t);
	if (*path == '\0' || stat(path, &st) != 0)
		return;
	t->changed = st.st_mtim;
	t->mode = st.st_mode;
	t->owner = st.st_uid;
	t->group = st.st_gid;
	t->device = st.st_dev;
	t->inode = st.st_ino;
	t->size = st.st_size;
}

bool secret_file_stamp_differs(const struct secret_file_stamp *a, const struct secret_file_stamp *b)
{
	return a->changed.tv_sec != b->changed.tv_sec || a->changed.tv_nsec != b->changed.tv_nsec ||
	       a->device != b->device || a->inode != b->inode || a->size != b->size ||
	       a->mode != b->mode || a->owner != b->owner || a->group != b->group;
}

bool secret_file_is_news(char *last, size_t size, const char *is)
{
	if (strcmp(last, is) == 0)
		return false;
	snprintf(last, size, "%s", is);
	return *is;
}

static const char secret_file_unreadable[] = "what follows cannot be read";

const char *secret_file_end(FILE *f)
{
	return ferror(f) ? secret_file_unreadable : NULL;
}

int secret_file_error(const char *wrong)
{
	return wrong == secret_file_unreadable ? -EIO : -EINVAL;
}

const char *secret_file_exposed(const struct stat *st)
{
	return (st->st_mode & (S_IRWXO | S_IWGRP)) == 0
		       ? NULL
		       : "others may read or change it; run \"chmod 600\" on it";
}

FILE *secret_file_open(const char *path, const char *what, int *rc, char *text, size_t size)
{
	const char *why;
	struct stat st;
	FILE *f = regular_file_open(path, &st, rc, &why);

	if (f) {
		why = secret_file_exposed(&st);
		if (!why)
			return f;
		*rc = -EACCES;
		fclose(f);
	}
	snprintf(text, size, "%s \"%.300s\": %s", what, path, why);
	return NULL;
}
