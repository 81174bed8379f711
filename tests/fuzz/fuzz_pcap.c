/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture file: the whole of `uiwarp pcap` over it. Also with small limits, so that inputs of a
 * few hundred bytes reach what happens when tables are full.
 */
#include "fuzz.h"
#include "pcap/check.h"
#include "pcap/follow.h"
#include "pcap/replay.h"
#include "pcap/show.h"
#include "pcap/stats.h"
#include "support/cap_bytes.h"

static FILE *nowhere;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	nowhere = fopen("/dev/null", "w");
	MUST(nowhere != NULL);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct follow_config roomy = {.ports = {7174}, .num_ports = 1};
	static const struct follow_config tight = {
		.max_flows = 3, .max_connections = 2, .max_pieces = 6};
	struct check quiet = {.report = {0}};
	struct check loud = {.report = {.out = nowhere, .all = true}};
	struct show text = {.out = nowhere}, json = {.out = nowhere, .json = true};
	struct stats stats = {.out = nowhere, .plot = 1};
	static struct replay there, back;

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
