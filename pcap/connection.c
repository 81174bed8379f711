/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/connection.h"

#include <stdlib.h>

struct connection *connection_new(const struct connection_ops *ops, void *user,
	const struct ip_endpoint end[2], struct connection_shared *shared)
{
	struct connection *c = malloc(sizeof *c);

	if (!c)
		return NULL;
	*c = (struct connection){
		.ops = ops,
		.user = user,
		.end = {end[0], end[1]},
		.initiator = -1,
		.shared = shared,
	};
	stream_init(&c->stream[0], c);
	stream_init(&c->stream[1], c);
	return c;
}

void connection_join(struct connection *c)
{
	c->id = ++c->shared->connections;
	c->stream[0].phase = c->stream[1].phase = STREAM_LOST;
	c->stream[0].joined = c->stream[1].joined = true;
	c->ops->opened(c->user, c);
}

/* FIN counts when all text before it has been seen. */
static void connection_tell_fin(struct stream *s)
{
	struct connection *c = s->c;

	if (c->id == 0 || !s->tcp.fin || s->fin_told || s->tcp.next != s->tcp.fin_seq)
		return;
	s->fin_told = true;
	if (c->ops->fin)
		c->ops->fin(c->user, c, s, s->phase == STREAM_LOST ? 0 : s->total);
}

void connection_segment(
	struct connection *c, unsigned side, const struct packet *p, const struct cap_frame *f)
{
	struct stream *s = &c->stream[side], *peer = &c->stream[!side];

	c->frame = f->number;
	c->time = f->time;
	if (c->id != 0 && c->ops->segment)
		c->ops->segment(c->user, c, s, p, f);
	if (p->flags & PACKET_ACK && !(p->flags & PACKET_RST)) {
		cap_reassembly_ack(&peer->tcp, p->ack);
		connection_tell_fin(peer);
	}
	if (!(p->flags & PACKET_RST))
		cap_reassembly_segment(&s->tcp, p, f);
	connection_tell_fin(s);
}

void connection_end(struct connection *c, enum connection_end how, uint64_t frame)
{
	for (unsigned i = 0; i < 2; i++) {
		struct stream *s = &c->stream[i];

		cap_reassembly_flush(&s->tcp);
		if (s->joined) {
			s->joined = false; /* nothing comes that could tell of markers */
			stream_resume(s);
		}
		if (s->phase == STREAM_WAIT && s->total != 0 && c->id != 0) {
			/* What follows a request without a reply is looked at all the same. */
			stream_peer(s)->tcp.known = false;
			stream_resume(s);
		}
		connection_tell_fin(s);
	}
	if (c->id != 0 && c->ops->closed)
		c->ops->closed(c->user, c, how, frame);
	stream_free(&c->stream[0]);
	stream_free(&c->stream[1]);
	free(c);
}
