/* SPDX-License-Identifier: BSD-2-Clause */
#include "nd_frame.h"

#include "base/bytes.h"

#include <stdio.h>

void nd_frame_input(struct host *h, const char *hex, unsigned piece)
{
	struct bytes b = bytes(hex);

	store_be16(b.b + 18, (uint16_t)(b.len - 54));
	fix_v6(&b);
	host_input(h, &b, piece);
}

struct host *nd_frame_host_with_router(void)
{
	struct host *h = host_new_v6();

	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	return h;
}

void nd_frame_send_beyond(struct host *h, struct ip_path *p)
{
	host_send(h, p, "fd00::1", "2001:db8:9::1");
}

void nd_frame_expect(struct host *h, const char *hex)
{
	struct bytes b = bytes(hex);
	char text[3 * 200], *p = text;

	store_be16(b.b + 18, (uint16_t)(b.len - 54));
	fix_v6(&b);
	for (unsigned i = 0; i < b.len; i++)
		p += snprintf(p, 4, "%02x ", b.b[i]);
	host_expect(h, text);
}
