/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config_patience.h"

#include "base/number.h"

/** A day. */
#define LONGEST_MS 86400000

void config_patience_init(struct config *c)
{
	/* RDMA programs expect to hear of a dead peer in less than the 100 s that RFC 1122 section
	 * 4.2.3.5 gives to people at terminals: also when they only receive, hence keepalive. */
	c->patience = (struct config_patience){.user_timeout = 30000, .keepalive = 10000};
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
