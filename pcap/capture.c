/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
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
	if (rc == 0) {
		bool gzip = c->len >= 2 && c->bytes[0] == 0x1f && c->bytes[1] == 0x8b;

		cap_bad(e, "%s",
			c->len == 0 ? "the file is empty"
			: gzip      ? "compressed with gzip; decompress it first"
				    : "neither pcap nor pcapng");
	}
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

/** Let libpcap write what only it can read into @p to, in the plain format. */
static int cap_spool(FILE *from, FILE *to, struct cap_error *e)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *p =
		pcap_fopen_offline_with_tstamp_precision(from, PCAP_TSTAMP_PRECISION_NANO, text);
	pcap_dumper_t *d;
	int rc;

	if (!p) {
		cap_bad(e, "neither pcap nor pcapng: %s", text);
		fclose(from);
		return -1;
	}
	d = pcap_dump_fopen(p, to);
	if (!d) {
		cap_bad(e, "%s", pcap_geterr(p));
		pcap_close(p);
		return -1;
	}
	rc = pcap_loop(p, -1, pcap_dump, (u_char *)d);
	if (pcap_dump_flush(d) != 0)
		rc = -1;
	/* What libpcap says of an end in mid frame, our reader says of the rest as well. */
	if (rc < 0 && pcap_dump_ftell(d) <= 24) {
		cap_bad(e, "%s", pcap_geterr(p));
		pcap_close(p);
		return -1;
	}
	pcap_close(p);
	return 0;
}

/** @param fd closed here. */
static struct cap_file *cap_open_spooled(int fd, struct cap_error *e)
{
	FILE *from = fdopen(fd, "rb"), *to = tmpfile();
	struct cap_file *c = NULL;

	if (!from || !to)
		cap_bad(e, "%s", strerror(errno));
	else if (cap_spool(from, to, e) == 0)
		c = cap_open_mapped(fileno(to), e);
	if (to)
		fclose(to);
	return c;
}

/* True for the variants of pcap that only libpcap reads. */
static bool cap_is_variant(int fd)
{
	static const uint32_t magic[] = {0xa1b2cd34, 0x34cdb2a1, 0xa1e2cb12, 0x12cbe2a1};
	uint8_t first[4];

	if (pread(fd, first, sizeof first, 0) != sizeof first)
		return false;
	for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
		if (load_be32(first) == magic[i])
			return true;
	return false;
}

struct cap_file *cap_open(const char *path, struct cap_error *e)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
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
	if (!S_ISREG(st.st_mode) || cap_is_variant(fd))
		return cap_open_spooled(fd, e);
	c = cap_open_mapped(fd, e);
	close(fd);
	return c;
}

enum cap_result cap_next(struct cap_file *c, struct cap_frame *f, struct cap_error *e)
{
	if (c->mapped && c->at - c->given_back >= 2 * BEHIND) {
		madvise((void *)(uintptr_t)(c->bytes + c->given_back), BEHIND, MADV_DONTNEED);
		c->given_back += BEHIND;
	}
	return c->next(c, f, e);
}

void cap_close(struct cap_file *c)
{
	if (!c)
		return;
	if (c->mapped)
		munmap((void *)(uintptr_t)c->bytes, c->len);
	free(c->interfaces);
	free(c);
}
