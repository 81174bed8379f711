/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/options.h"

#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_RATE   1e12 /* bit/s; more would overflow what a frame takes on the link */
#define MIN_RATE   1000.0
#define MAX_TIME   3600e9 /* ns */
#define MAX_QUEUE  1e12
#define QUEUE_MIN  UINT64_C(10000000) /* ns, where it is chosen here */
#define QUEUE_AUTO UINT64_MAX
/** What is reckoned with where the rate has no limit, bit/s. */
#define RATE_ASSUMED UINT64_C(10000000000)

/* "0.1%", or the part of one: "0.001". */
static bool wan_options_parse_share(const char *s, double max, double *out)
{
	static const struct number_unit units[] = {{"", 1}, {"%", 0.01}, {NULL, 0}};

	return number_parse_unit(s, units, 0, max, out);
}

static bool wan_options_is_none(const char *s)
{
	return strcasecmp(s, "none") == 0;
}

/* ---- the keys ------------------------------------------------------------------------------- */

static const char *wan_options_set_rate(struct wan_path_config *c, const char *s)
{
	double rate = 0;

	if (!wan_options_is_none(s) && !number_parse_rate(s, MIN_RATE, MAX_RATE, &rate))
		return "bits per second from 1k to 1000g, such as 1g or 2.5mbit, or none";
	c->rate = (uint64_t)llround(rate);
	return NULL;
}

static const char *wan_options_set_overhead(struct wan_path_config *c, const char *s)
{
	static const struct number_unit units[] = {{"", 1}, {"B", 1}, {NULL, 0}};
	double n;

	if (!number_parse_unit(s, units, 0, 1000, &n))
		return "bytes per frame from 0 to 1000";
	c->overhead = (uint32_t)n;
	return NULL;
}

#define EXPECTED_TIME "a time up to 3600s with its unit, such as 50ms, 200us or 1.5s"

static const char *wan_options_set_delay(struct wan_path_config *c, const char *s)
{
	return number_parse_time(s, MAX_TIME, &c->delay) ? NULL : EXPECTED_TIME;
}

static const char *wan_options_set_jitter(struct wan_path_config *c, const char *s)
{
	return number_parse_time(s, MAX_TIME, &c->jitter) ? NULL : EXPECTED_TIME;
}

static const char *wan_options_set_reorder_by(struct wan_path_config *c, const char *s)
{
	return number_parse_time(s, MAX_TIME, &c->reorder_by) ? NULL : EXPECTED_TIME;
}

static const char *wan_options_set_jitter_reorders(struct wan_path_config *c, const char *s)
{
	if (strcmp(s, "yes") != 0 && strcmp(s, "no") != 0)
		return "yes or no";
	c->jitter_reorders = *s == 'y';
	return NULL;
}

/** Split @p s at its colons. @return the number of parts, or 0: more than @p max of them. */
static unsigned wan_options_split(const char *s, char *copy, size_t size, char **part, unsigned max)
{
	unsigned n = 0;
	char *next = copy;

	if (strlen(s) >= size)
		return 0;
	strcpy(copy, s);
	while (next) {
		if (n == max)
			return 0;
		part[n++] = strsep(&next, ":");
	}
	return n;
}

static const char *wan_options_set_loss(struct wan_path_config *c, const char *s)
{
	static const char expected[] = "a share of the frames such as 0.1% or 0.001, below 100% "
				       "with a mean length of bursts behind it: 1%:8";
	static const struct number_unit units[] = {{"", 1}, {NULL, 0}};
	static char longer[128];
	char copy[64], *part[2];
	unsigned n = wan_options_split(s, copy, sizeof copy, part, 2);
	double loss, burst;

	if (n == 0 || !wan_options_parse_share(part[0], 1, &loss))
		return expected;
	if (n == 1) {
		c->loss = (struct wan_loss_config){.good = loss};
		return NULL;
	}
	if (loss >= 1 || !number_parse_unit(part[1], units, 1, 1e6, &burst))
		return expected;
	if (burst < wan_loss_least_burst(loss) * (1 - 1e-9)) {
		snprintf(longer, sizeof longer,
			"bursts of at least %g frames on average: with shorter ones less is lost",
			wan_loss_least_burst(loss));
		return longer;
	}
	c->loss = wan_loss_bursts(loss, burst);
	return NULL;
}

static const char *wan_options_set_gilbert_elliott(struct wan_path_config *c, const char *s)
{
	static const char expected[] =
		"ENTER:LEAVE[:BAD[:GOOD]], probabilities such as 0.1%:25%:100%:0";
	double value[4] = {0, 0, 1, 0};
	char copy[128], *part[4];
	unsigned n = wan_options_split(s, copy, sizeof copy, part, 4);

	if (n < 2)
		return expected;
	for (unsigned i = 0; i < n; i++)
		if (!wan_options_parse_share(part[i], 1, &value[i]))
			return expected;
	c->loss = (struct wan_loss_config){
		.enter = value[0], .leave = value[1], .bad = value[2], .good = value[3]};
	return NULL;
}

#define EXPECTED_SHARE "a share of the frames such as 0.1% or 0.001"

static const char *wan_options_set_reorder(struct wan_path_config *c, const char *s)
{
	return wan_options_parse_share(s, 1, &c->reorder) ? NULL : EXPECTED_SHARE;
}

static const char *wan_options_set_duplicate(struct wan_path_config *c, const char *s)
{
	return wan_options_parse_share(s, 1, &c->duplicate) ? NULL : EXPECTED_SHARE;
}

static const char *wan_options_set_corrupt(struct wan_path_config *c, const char *s)
{
	return wan_options_parse_share(s, 1, &c->corrupt) ? NULL : EXPECTED_SHARE;
}

static const char *wan_options_set_queue(struct wan_path_config *c, const char *s)
{
	static const struct number_unit bytes[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
		{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {NULL, 0}};
	static const struct number_unit frames[] = {{"p", 1}, {NULL, 0}};
	double n;

	if (wan_options_is_none(s)) {
		c->queue_unit = WAN_QUEUE_ENDLESS;
	} else if (strcmp(s, "bdp") == 0) {
		c->queue_unit = WAN_QUEUE_TIME;
		c->queue = QUEUE_AUTO;
	} else if (number_parse_unit(s, bytes, 1, MAX_QUEUE, &n)) {
		c->queue_unit = WAN_QUEUE_BYTES;
		c->queue = (uint64_t)n;
	} else if (number_parse_unit(s, frames, 1, 1e9, &n)) {
		c->queue_unit = WAN_QUEUE_FRAMES;
		c->queue = (uint64_t)n;
	} else if (number_parse_time(s, MAX_TIME, &c->queue)) {
		c->queue_unit = WAN_QUEUE_TIME;
	} else {
		return "bytes, packets or a time, such as 12.5MB, 64KiB, 1000p or 50ms; bdp, or "
		       "none";
	}
	return NULL;
}

static const char *wan_options_set_mtu(struct wan_path_config *c, const char *s)
{
	static const struct number_unit units[] = {{"", 1}, {NULL, 0}};
	double n = 0;

	if (!wan_options_is_none(s) && !number_parse_unit(s, units, 68, 65535, &n))
		return "bytes of an IP packet from 68 to 65535, or none";
	c->mtu = (uint32_t)n;
	return NULL;
}

const struct wan_option wan_options[] = {
	{"rate", "RATE", "Carry RATE bits a second: 1g, 2.5mbit; none", wan_options_set_rate},
	{"overhead", "BYTES", "Count BYTES more for each frame on the link (Ethernet has 24)",
		wan_options_set_overhead},
	{"queue", "SIZE", "Let so much wait for the link: 12.5MB, 1000p, 50ms, bdp or none",
		wan_options_set_queue},
	{"delay", "TIME", "Delay frames: 50ms", wan_options_set_delay},
	{"jitter", "TIME", "Spread delays evenly by TIME up and down", wan_options_set_jitter},
	{"jitter-reorders", "yes|no", "Whether frames overtake each other by jitter",
		wan_options_set_jitter_reorders},
	{"loss", "SHARE[:LENGTH]", "Lose frames: 0.1%; 1%:8 in bursts of 8 on average",
		wan_options_set_loss},
	{"gilbert-elliott", "ENTER:LEAVE[:BAD[:GOOD]]",
		"Lose by two states: the probabilities of entering and leaving the bad one, and of "
		"loss in each",
		wan_options_set_gilbert_elliott},
	{"reorder", "SHARE", "Delay this share of the frames by more, so that others overtake",
		wan_options_set_reorder},
	{"reorder-by", "TIME", "The most that those are delayed by", wan_options_set_reorder_by},
	{"duplicate", "SHARE", "Send frames twice", wan_options_set_duplicate},
	{"corrupt", "SHARE", "Turn over one bit behind the Ethernet header",
		wan_options_set_corrupt},
	{"mtu", "BYTES", "Lose larger IP packets without a word; none", wan_options_set_mtu},
	{0},
};

/* ---- lists of them -------------------------------------------------------------------------- */

void wan_options_init(struct wan_path_config *c)
{
	*c = (struct wan_path_config){.queue_unit = WAN_QUEUE_TIME, .queue = QUEUE_AUTO};
}

int wan_options_set(
	struct wan_path_config *c, const char *key, const char *value, struct wan_options_error *e)
{
	const struct wan_option *o = wan_options;
	const char *expected;

	while (o->name && strcmp(o->name, key) != 0)
		o++;
	if (!o->name) {
		snprintf(e->text, sizeof e->text, "there is no \"%.40s\" of a path", key);
		return -EINVAL;
	}
	expected = o->parse(c, value);
	if (!expected)
		return 0;
	snprintf(e->text, sizeof e->text, "\"%s\" is \"%.40s\"; expected %s", key, value, expected);
	return -EINVAL;
}

int wan_options_parse(struct wan_path_config *c, const char *list, struct wan_options_error *e)
{
	struct wan_path_config all = *c;
	char copy[512], *next = copy, *key, *value;
	int r;

	if (strlen(list) >= sizeof copy) {
		snprintf(e->text, sizeof e->text, "more than %zu characters", sizeof copy - 1);
		return -EINVAL;
	}
	strcpy(copy, list);
	while (next) {
		key = strsep(&next, ",");
		value = strchr(key, '=');
		if (!value) {
			snprintf(e->text, sizeof e->text,
				"\"%.40s\" is no key=value; expected a list such as "
				"delay=50ms,loss=1%%",
				key);
			return -EINVAL;
		}
		*value++ = '\0';
		r = wan_options_set(&all, key, value, e);
		if (r != 0)
			return r;
	}
	*c = all;
	return 0;
}

int wan_options_finish(
	struct wan_path_config *c, const struct wan_path_config *other, struct wan_options_error *e)
{
	const char *missing = NULL;

	if (c->reorder > 0 && c->reorder_by == 0)
		missing = "\"reorder\" needs \"reorder-by\", the most that a frame is late";
	else if (c->reorder == 0 && c->reorder_by > 0)
		missing = "\"reorder-by\" needs \"reorder\" above 0, the share of frames that are "
			  "late";
	else if (c->jitter_reorders && c->jitter == 0)
		missing = "\"jitter-reorders\" needs \"jitter\"";
	if (missing) {
		snprintf(e->text, sizeof e->text, "%s", missing);
		return -EINVAL;
	}
	if (c->queue_unit == WAN_QUEUE_TIME && c->queue == QUEUE_AUTO) {
		c->queue = c->delay + other->delay;
		if (c->queue < QUEUE_MIN)
			c->queue = QUEUE_MIN;
	}
	return 0;
}

/** Bytes that @p rate carries in @p ns. */
static uint64_t wan_options_carried(uint64_t rate, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)rate * ns / 8000000000u);
}

uint64_t wan_options_bytes(const struct wan_path_config *c)
{
	uint64_t rate = c->rate != 0 ? c->rate : RATE_ASSUMED;
	uint64_t bytes = wan_options_carried(rate, c->delay + c->jitter + c->reorder_by);

	if (c->rate == 0)
		return bytes;
	switch (c->queue_unit) {
	case WAN_QUEUE_BYTES:
		return bytes + c->queue;
	case WAN_QUEUE_FRAMES:
		return bytes + c->queue * (c->mtu != 0 ? c->mtu : 1514);
	case WAN_QUEUE_TIME:
		return bytes + wan_options_carried(rate, c->queue);
	default:
		return bytes + wan_options_carried(rate, UINT64_C(1000000000));
	}
}
