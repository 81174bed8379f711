/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of TCP_INFO that our TCP does not count: its state between two events stays as it is. */
#include "drive/packetdrill_priv.h"

/** What @p f does from now on, and whether something has come. */
static void packetdrill_look(struct packetdrill *d, struct packetdrill_fd *f, uint64_t now)
{
	struct uiwarp_tcp_info i;
	int queued = 0;

	f->busy = f->window_limited = false;
	if (uiwarp_tcp_info(d->h, f->s - 1, &i) || !i.srtt ||
		uiwarp_tcp_get(d->h, f->s - 1, UIWARP_TCP_UNACKED, &queued))
		return;
	/* The time begins when the connection is there. */
	if (i.bytes_received != f->received || !f->received_at) {
		f->received = i.bytes_received;
		f->received_at = now;
	}
	f->busy = queued > 0;
	f->window_limited = (uint32_t)queued > i.flight && i.flight + i.emss > i.snd_wnd;
}

void packetdrill_count_times(struct packetdrill *d)
{
	uint64_t now = uiwarp_tcp_now(d->h);

	for (int fd = 0; fd < PACKETDRILL_FDS; fd++) {
		struct packetdrill_fd *f = &d->fd[fd];

		if (!f->s)
			continue;
		f->busy_ns += f->busy ? now - d->counted_at : 0;
		f->window_limited_ns += f->window_limited ? now - d->counted_at : 0;
		packetdrill_look(d, f, now);
	}
	d->counted_at = now;
}
