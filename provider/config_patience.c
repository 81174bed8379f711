/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config_patience.h"

#include "base/number.h"

/** A day. */
#define LONGEST_MS 86400000
/** As many as there can be connections. */
#define MOST 65536

void config_patience_init(struct config *c)
{
	/* RDMA programs expect to hear of a dead peer in less than the 100 s that RFC 1122 section
	 * 4.2.3.5 gives to people at terminals: also when they only receive, hence keepalive. */
	c->patience = (struct config_patience){
		.user_timeout = 30000,
		.keepalive = 10000,
		.startup_timeout = 10000,
		.max_startups = 1024,
		.max_startups_per_peer = 512,
		.max_half_open = 4096,
		.max_half_open_per_peer = 512,
	};
}

/** @return false: not from @p least to a day, nor 0 where that means something. */
static bool parse_ms(const char *v, bool or_zero, uint32_t least, uint32_t *out)
{
	uint64_t n;

	if (!number_parse(v, or_zero ? 0 : least, LONGEST_MS, &n) || (n && n < least))
		return false;
	*out = (uint32_t)n;
	return true;
}

const char *config_patience_user_timeout(struct config *c, const char *value)
{
	return parse_ms(value, false, 1000, &c->patience.user_timeout)
		       ? NULL
		       : "a number of milliseconds from 1000 to 86400000";
}

const char *config_patience_zero_window(struct config *c, const char *value)
{
	return parse_ms(value, true, 1000, &c->patience.zero_window_timeout)
		       ? NULL
		       : "0 or a number of milliseconds from 1000 to 86400000";
}

const char *config_patience_keepalive(struct config *c, const char *value)
{
	return parse_ms(value, true, 1000, &c->patience.keepalive)
		       ? NULL
		       : "0 or a number of milliseconds from 1000 to 86400000";
}

const char *config_patience_startup(struct config *c, const char *value)
{
	return parse_ms(value, false, 100, &c->patience.startup_timeout)
		       ? NULL
		       : "a number of milliseconds from 100 to 86400000";
}

static const char *parse_number(const char *v, uint32_t *out)
{
	uint64_t n;

	if (!number_parse(v, 1, MOST, &n))
		return "a number from 1 to 65536";
	*out = (uint32_t)n;
	return NULL;
}

const char *config_patience_startups(struct config *c, const char *value)
{
	return parse_number(value, &c->patience.max_startups);
}

const char *config_patience_startups_per_peer(struct config *c, const char *value)
{
	return parse_number(value, &c->patience.max_startups_per_peer);
}

const char *config_patience_half_open(struct config *c, const char *value)
{
	return parse_number(value, &c->patience.max_half_open);
}

const char *config_patience_half_open_per_peer(struct config *c, const char *value)
{
	return parse_number(value, &c->patience.max_half_open_per_peer);
}

const char *config_patience_stalled_per_peer(struct config *c, const char *value)
{
	uint64_t n;

	if (!number_parse(value, 0, MOST, &n))
		return "a number from 0 to 65536";
	c->patience.max_stalled_per_peer = (uint32_t)n;
	return NULL;
}
