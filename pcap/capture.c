/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/** Pages this far behind the frame in hand are given back, in portions of this size. */
#define BEHIND ((size_t)8 << 20)

enum cap_result cap_bad(struct cap_error *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
	return CAP_BAD;
}

struct cap_file *cap_start(struct cap_file *c, struct cap_error *e)
{
	int rc = cap_pcap_start(c, e);

	if (rc == 0)
		rc = cap_pcapng_start(c, e);
	if (rc == 1)
		return c;
	if (rc == 0)
		cap_bad(e, "%s", c->len == 0 ? "the file is empty" : "neither pcap nor pcapng");
	cap_close(c);
	return NULL;
}

static struct cap_file *cap_open_mapped(int fd, struct cap_error *e)
{
	struct cap_file *c = calloc(1, sizeof *c);
	struct stat st;
	void *map;

	if (!c || fstat(fd, &st) != 0) {
		cap_bad(e, "%s", strerror(errno));
		free(c);
		return NULL;
	}
	if (st.st_size == 0)
		return cap_start(c, e);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		cap_bad(e, "cannot be mapped: %s", strerror(errno));
		free(c);
		return NULL;
	}
	madvise(map, (size_t)st.st_size, MADV_SEQUENTIAL);
	c->bytes = map;
	c->len = (size_t)st.st_size;
	c->mapped = true;
	return cap_start(c, e);
}

/** A file in another form in place of @p fd, which is closed then. */
static int cap_replace(int fd,
	int (*how)(int fd, uint64_t room, struct cap_error *damage, struct cap_error *e),
	uint64_t room, struct cap_error *damage, struct cap_error *e)
{
	int to = fd < 0 ? -1 : how(fd, room, damage, e);

	if (fd >= 0 && to != fd)
		close(fd);
	return to;
}

struct cap_file *cap_open_within(const char *path, uint64_t room, struct cap_error *e)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct cap_error damage = {""};
	struct cap_file *c;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		cap_bad(e, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		cap_bad(e, "%s", strerror(EISDIR));
		close(fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode))
		fd = cap_replace(fd, cap_spool_pipe, room, &damage, e);
	fd = cap_replace(fd, cap_spool_compressed, room, &damage, e);
	fd = cap_replace(fd, cap_spool_variant, room, &damage, e);
	if (fd < 0)
		return NULL;
	c = cap_open_mapped(fd, e);
	close(fd);
	if (c)
		c->damage = damage;
	return c;
}

struct cap_file *cap_open(const char *path, struct cap_error *e)
{
	return cap_open_within(path, UINT64_MAX, e);
}

enum cap_result cap_next(struct cap_file *c, struct cap_frame *f, struct cap_error *e)
{
	enum cap_result r;

	if (c->mapped && c->at - c->given_back >= 2 * BEHIND) {
		madvise((void *)(uintptr_t)(c->bytes + c->given_back), BEHIND, MADV_DONTNEED);
		c->given_back += BEHIND;
	}
	r = c->next(c, f, e);
	if (r == CAP_FRAME || c->damage.text[0] == '\0')
		return r;
	*e = c->damage; /* why it ends here */
	return CAP_BAD;
}

void cap_give_back(struct cap_file *c)
{
	if (c->mapped)
		madvise((void *)(uintptr_t)c->bytes, c->len, MADV_DONTNEED);
}

void cap_close(struct cap_file *c)
{
	if (!c)
		return;
	if (c->close)
		c->close(c);
	if (c->mapped)
		munmap((void *)(uintptr_t)c->bytes, c->len);
	free(c->interfaces);
	free(c);
}
