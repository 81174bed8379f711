/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture file: the whole of `uiwarp pcap` over it. Also with small limits, so that inputs of a
 * few hundred bytes reach what happens when tables are full. And what is compressed in it.
 */
#include "fuzz.h"
#include "pcap/check.h"
#include "pcap/decompress.h"
#include "pcap/follow.h"
#include "pcap/replay.h"
#include "pcap/show.h"
#include "pcap/stats.h"
#include "support/cap_bytes.h"

static FILE *nowhere;
static struct keylog log_of;

/* libcrypto is not built for this sanitizer. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define KEYLOG NULL
#endif
#endif
#ifndef KEYLOG
#define KEYLOG &log_of
#endif

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	/* Of a ClientHello whose random is zero. */
	static const struct keylog_secrets secrets = {.len = {32, 32}};

	nowhere = fopen("/dev/null", "w");
	MUST(nowhere != NULL);
	MUST(keylog_add(&log_of, &secrets));
	return 0;
}

static void follow(const uint8_t *data, size_t size, const struct follow_config *config,
	const struct connection_ops *ops, void *user)
{
	struct cap_error e = {""};
	struct cap_file *c = cap_open_bytes(data, size, &e);
	enum cap_result r;
	struct follow w;

	MUST((c == NULL) == (e.text[0] != '\0'));
	if (c == NULL)
		return;
	MUST(follow_init(&w, config, ops, user) == 0);
	r = follow_capture(&w, c, &e);
	MUST(r == CAP_END || (r == CAP_BAD && e.text[0] != '\0'));
	MUST(w.open == 0);
	MUST(w.shared.budget.used == 0);
	cap_close(c);
}

/* Room for what is decompressed: more is asked for by many inputs of a few bytes. */
#define ROOM ((size_t)1 << 18)

struct room {
	uint8_t *bytes;
	size_t len;
};

static int room_put(void *user, const uint8_t *bytes, size_t len)
{
	struct room *r = user;

	MUST(len <= ROOM - r->len);
	memcpy(r->bytes + r->len, bytes, len);
	r->len += len;
	return 0;
}

static void decompressed(const uint8_t *data, size_t size, const struct follow_config *config)
{
	enum decompress_format format = decompress_detect(data, size);
	struct check quiet = {.report = {0}};
	struct cap_error e = {""};
	struct room r = {0};

	if (format == DECOMPRESS_NONE)
		return;
	r.bytes = malloc(ROOM);
	MUST(r.bytes != NULL);
	MUST(decompress(format, data, size, &(struct decompress_sink){room_put, &r, ROOM}, &e) ==
		(e.text[0] == '\0'));
	follow(r.bytes, r.len, config, &check_ops, &quiet);
	free(r.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct follow_config roomy = {
		.ports = {7174}, .num_ports = 1, .keylog = KEYLOG};
	static const struct follow_config tight = {
		.max_flows = 3, .max_connections = 2, .max_pieces = 6, .keylog = KEYLOG};
	struct check quiet = {.report = {0}};
	struct check loud = {.report = {.out = nowhere, .all = true}};
	struct show text = {.out = nowhere}, json = {.out = nowhere, .json = true};
	struct stats stats = {.out = nowhere, .html = nowhere, .plot = 1};
	static struct replay there, back;

	decompressed(data, size, &roomy);
	follow(data, size, &roomy, &check_ops, &loud);
	follow(data, size, &tight, &check_ops, &quiet);
	follow(data, size, &roomy, &show_ops, &text);
	follow(data, size, &tight, &show_ops, &json);
	follow(data, size, &roomy, &stats_ops, &stats);
	timeseq_free(&stats.timeseq);
	there = (struct replay){.out = nowhere};
	follow(data, size, &roomy, &replay_ops, &there);
	back = (struct replay){.out = nowhere, .responder = true};
	follow(data, size, &tight, &replay_ops, &back);
	return 0;
}
