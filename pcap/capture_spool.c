/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures that cannot be mapped as they are: pipes, compressed files, variants of pcap. */
#include "pcap/capture_priv.h"
#include "pcap/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char *cap_spool_directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

int cap_spool_open(uint64_t *room, struct cap_error *e)
{
	char name[4096];
	struct statvfs fs;
	int fd = -1;

	if (snprintf(name, sizeof name, "%s/uiwarp-pcap-XXXXXX", cap_spool_directory()) <
		(int)sizeof name)
		fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		cap_bad(e, "no temporary file in %.80s: %s", cap_spool_directory(),
			strerror(errno));
		return -1;
	}
	unlink(name);
	/* The others who live there want the rest. */
	if (fstatvfs(fd, &fs) == 0 && fs.f_bavail / 2 < *room / fs.f_frsize)
		*room = fs.f_bavail / 2 * fs.f_frsize;
	return fd;
}

static int cap_spool_put(void *user, const uint8_t *bytes, size_t len)
{
	const int *fd = user;

	while (len != 0) {
		ssize_t n = write(*fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* ---- pipes ---------------------------------------------------------------------------------- */

/** Copy all that comes. @return false: not all fits, or reading failed. */
static bool cap_spool_copy(int from, int to, uint64_t room, struct cap_error *e)
{
	uint8_t bytes[16384];

	for (;;) {
		ssize_t n = read(from, bytes, sizeof bytes);
		int rc = n < 0 ? -errno : 0;

		if (rc == -EINTR)
			continue;
		if (n == 0)
			return true;
		if (n > 0 && (uint64_t)n > room) {
			cap_bad(e, "longer than there is room in %.80s", cap_spool_directory());
			return false;
		}
		if (n > 0)
			rc = cap_spool_put(&to, bytes, (size_t)n);
		if (rc != 0) {
			cap_bad(e, "%s", strerror(-rc));
			return false;
		}
		room -= (uint64_t)n;
	}
}

int cap_spool_pipe(int fd, uint64_t room, struct cap_error *damage, struct cap_error *e)
{
	int to = cap_spool_open(&room, e);

	if (to >= 0)
		cap_spool_copy(fd, to, room, damage);
	return to;
}

/* ---- compressed ----------------------------------------------------------------------------- */

int cap_spool_compressed(int fd, uint64_t room, struct cap_error *damage, struct cap_error *e)
{
	enum decompress_format format;
	uint8_t first[4];
	ssize_t n = pread(fd, first, sizeof first, 0);
	struct decompress_sink sink;
	struct stat st;
	void *map;
	int to;

	format = decompress_detect(first, n > 0 ? (size_t)n : 0);
	if (format == DECOMPRESS_NONE || fstat(fd, &st) != 0)
		return fd;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		cap_bad(e, "cannot be mapped: %s", strerror(errno));
		return -1;
	}
	to = cap_spool_open(&room, e);
	if (to >= 0) {
		sink = (struct decompress_sink){cap_spool_put, &to, room};
		decompress(format, map, (size_t)st.st_size, &sink, damage);
	}
	munmap(map, (size_t)st.st_size);
	if (to >= 0 && lseek(to, 0, SEEK_CUR) == 0 && damage->text[0] != '\0') {
		*e = *damage; /* there is nothing of it */
		close(to);
		return -1;
	}
	return to;
}

/* ---- variants ------------------------------------------------------------------------------- */

/* True for the variants of pcap that only libpcap reads. */
static bool cap_spool_is_variant(int fd)
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

/* What was wrong first is why: a compressed file may have been cut off before. */
#define cap_spool_damage(damage, ...)                 \
	do {                                          \
		if ((damage)->text[0] == '\0')        \
			cap_bad(damage, __VA_ARGS__); \
	} while (0)

/**
 * Let libpcap write what only it can read into @p to, in the plain format.
 * @return frames that were written; -1: none, @p e says why.
 */
static int64_t cap_spool_convert(
	pcap_t *p, FILE *to, uint64_t room, struct cap_error *damage, struct cap_error *e)
{
	pcap_dumper_t *d = pcap_dump_fopen(p, to);
	uint64_t used = CAP_PCAP_HEADER;
	struct pcap_pkthdr *h;
	const u_char *bytes;
	int64_t frames = 0;
	int rc;

	if (!d) {
		cap_bad(e, "%s", pcap_geterr(p));
		return -1;
	}
	while ((rc = pcap_next_ex(p, &h, &bytes)) == 1) {
		used += CAP_PCAP_RECORD + h->caplen;
		if (used > room) {
			cap_spool_damage(damage, "longer than there is room in %.80s",
				cap_spool_directory());
			break;
		}
		pcap_dump((u_char *)d, h, bytes);
		frames++;
	}
	if (rc == PCAP_ERROR)
		cap_spool_damage(damage, "cut off or damaged in frame %llu: %.100s",
			(unsigned long long)frames + 1, pcap_geterr(p));
	return frames;
}

/** Close what was written. If not all of it is there, @p damage says why. */
static void cap_spool_close(FILE *to, struct cap_error *damage)
{
	bool failed = ferror(to);

	errno = failed ? EIO : 0;
	if (fclose(to) != 0 || failed)
		cap_spool_damage(damage, "cannot be copied to %.80s: %s", cap_spool_directory(),
			strerror(errno));
}

int cap_spool_variant(int fd, uint64_t room, struct cap_error *damage, struct cap_error *e)
{
	char text[PCAP_ERRBUF_SIZE];
	FILE *from, *to = NULL;
	pcap_t *p = NULL;
	int64_t frames = -1;
	int spool;

	if (!cap_spool_is_variant(fd))
		return fd;
	spool = cap_spool_open(&room, e);
	if (spool < 0)
		return -1;
	lseek(fd, 0, SEEK_SET);
	from = fdopen(dup(fd), "rb");
	to = fdopen(dup(spool), "wb");
	if (from && to) {
		p = pcap_fopen_offline_with_tstamp_precision(
			from, PCAP_TSTAMP_PRECISION_NANO, text);
		if (!p)
			cap_bad(e, "neither pcap nor pcapng: %s", text);
	} else {
		cap_bad(e, "%s", strerror(errno));
	}
	if (p) {
		frames = cap_spool_convert(p, to, room, damage, e);
		pcap_close(p); /* and from with it */
	} else if (from) {
		fclose(from);
	}
	if (to)
		cap_spool_close(to, damage);
	if (frames == 0 && damage->text[0] != '\0')
		*e = *damage; /* there is nothing of it */
	else if (frames >= 0)
		return spool;
	close(spool);
	return -1;
}
