/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/decompress.h"

#include "pcap/capture_priv.h"

#include <stdlib.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/** Bytes that are put at a time. */
#define DECOMPRESS_PORTION ((size_t)256 << 10)

#define ZSTD_FRAME 0xfd2fb528
/* Sixteen of them: what a program leaves for itself, such as an index. */
#define ZSTD_SKIPPABLE 0x184d2a50

enum decompress_format decompress_detect(const uint8_t *bytes, size_t len)
{
	if (len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return DECOMPRESS_GZIP;
	if (len < 4)
		return DECOMPRESS_NONE;
	return load_le32(bytes) == ZSTD_FRAME || (load_le32(bytes) & ~0xfu) == ZSTD_SKIPPABLE
		       ? DECOMPRESS_ZSTD
		       : DECOMPRESS_NONE;
}

static inline bool decompress_fail(struct cap_error *e, const char *text)
{
	cap_bad(e, "%s", text);
	return false;
}

#if defined HAVE_ZLIB || defined HAVE_ZSTD
static bool decompress_put(
	struct decompress_sink *sink, const uint8_t *bytes, size_t len, struct cap_error *e)
{
	size_t fits = len < sink->room ? len : (size_t)sink->room;
	int rc = fits != 0 ? sink->put(sink->user, bytes, fits) : 0;

	sink->room -= fits;
	if (rc != 0)
		return decompress_fail(e, strerror(-rc));
	return fits == len || decompress_fail(e, "decompressed, it is larger than there is room");
}
#endif

/* ---- gzip ----------------------------------------------------------------------------------- */

#ifdef HAVE_ZLIB
/* Behind a member: another, or zeros that fill a block of a tape. @return 1: another; 0: the end.
 */
static int decompress_gzip_follows(const uint8_t *bytes, size_t len)
{
	if (decompress_detect(bytes, len) == DECOMPRESS_GZIP)
		return 1;
	while (len != 0 && *bytes == 0) {
		bytes++;
		len--;
	}
	return len == 0 ? 0 : -1;
}

static bool decompress_gzip_all(z_stream *z, const uint8_t *bytes, size_t len, uint8_t *out,
	struct decompress_sink *sink, struct cap_error *e)
{
	size_t at = 0;

	for (;;) {
		size_t n = len - at < DECOMPRESS_PORTION ? len - at : DECOMPRESS_PORTION;
		int rc, next;

		z->next_in = (Bytef *)(uintptr_t)(bytes + at);
		z->avail_in = (uInt)n;
		z->next_out = out;
		z->avail_out = DECOMPRESS_PORTION;
		rc = inflate(z, Z_NO_FLUSH);
		at += n - z->avail_in;
		if (!decompress_put(sink, out, DECOMPRESS_PORTION - z->avail_out, e))
			return false;
		if (rc == Z_STREAM_END) {
			next = decompress_gzip_follows(bytes + at, len - at);
			if (next <= 0)
				return next == 0 ||
				       decompress_fail(
					       e, "other text follows behind the compressed");
			rc = inflateReset(z);
		}
		if (rc == Z_BUF_ERROR && at == len)
			return decompress_fail(e, "cut off in the compressed text");
		if (rc == Z_MEM_ERROR)
			return decompress_fail(e, "out of memory");
		if (rc != Z_OK && rc != Z_BUF_ERROR)
			return decompress_fail(e, "the compressed text is damaged");
	}
}

static bool decompress_gzip(const uint8_t *bytes, size_t len, uint8_t *out,
	struct decompress_sink *sink, struct cap_error *e)
{
	z_stream z = {0};
	bool whole;

	/* The window of any file, with gzip's header and check. */
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return decompress_fail(e, "out of memory");
	whole = decompress_gzip_all(&z, bytes, len, out, sink, e);
	inflateEnd(&z);
	return whole;
}
#else
static bool decompress_gzip(const uint8_t *bytes, size_t len, uint8_t *out,
	struct decompress_sink *sink, struct cap_error *e)
{
	return decompress_fail(e, "compressed with gzip, and built without zlib");
}
#endif

/* ---- zstd ----------------------------------------------------------------------------------- */

#ifdef HAVE_ZSTD
static bool decompress_zstd(const uint8_t *bytes, size_t len, uint8_t *out,
	struct decompress_sink *sink, struct cap_error *e)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = {bytes, len, 0};
	bool whole = z || decompress_fail(e, "out of memory");
	size_t rc = 1;

	while (whole && (rc != 0 || in.pos != in.size)) {
		ZSTD_outBuffer to = {out, DECOMPRESS_PORTION, 0};
		size_t before = in.pos;

		rc = ZSTD_decompressStream(z, &to, &in);
		whole = decompress_put(sink, out, to.pos, e);
		if (whole && ZSTD_isError(rc)) {
			cap_bad(e, "the compressed text is damaged: %s", ZSTD_getErrorName(rc));
			whole = false;
		} else if (whole && rc != 0 && in.pos == before && to.pos == 0) {
			whole = decompress_fail(e, "cut off in the compressed text");
		}
	}
	ZSTD_freeDCtx(z);
	return whole;
}
#else
static bool decompress_zstd(const uint8_t *bytes, size_t len, uint8_t *out,
	struct decompress_sink *sink, struct cap_error *e)
{
	return decompress_fail(e, "compressed with zstd, and built without libzstd");
}
#endif

bool decompress(enum decompress_format format, const uint8_t *bytes, size_t len,
	struct decompress_sink *sink, struct cap_error *e)
{
	uint8_t *out = malloc(DECOMPRESS_PORTION);
	bool whole;

	if (!out)
		return decompress_fail(e, "out of memory");
	whole = format == DECOMPRESS_GZIP ? decompress_gzip(bytes, len, out, sink, e)
					  : decompress_zstd(bytes, len, out, sink, e);
	free(out);
	return whole;
}
