/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/notes.h"

#include <stdlib.h>

struct tcp_note_block {
	struct tcp_note_block *next;
	struct tcp_note note[TCP_NOTES_PER_BLOCK];
};

static void tcp_notes_more(struct tcp_note_pool *s)
{
	struct tcp_note_block *b = malloc(sizeof *b);

	if (!b)
		return;
	b->next = s->blocks;
	s->blocks = b;
	s->count++;
	for (unsigned i = 0; i < TCP_NOTES_PER_BLOCK; i++)
		tcp_note_put(s, &b->note[i]);
}

struct tcp_note *tcp_note_get(struct tcp_note_pool *s, bool more)
{
	struct tcp_note *n;

	if (!s->unused && more)
		tcp_notes_more(s);
	n = s->unused;
	if (n)
		s->unused = n->next;
	return n;
}

void tcp_note_put(struct tcp_note_pool *s, struct tcp_note *n)
{
	n->next = s->unused;
	s->unused = n;
}

void tcp_note_pool_free(struct tcp_note_pool *s)
{
	while (s->blocks) {
		struct tcp_note_block *b = s->blocks;

		s->blocks = b->next;
		free(b);
	}
	*s = (struct tcp_note_pool){0};
}

void tcp_notes_push(struct tcp_notes *l, struct tcp_note *n)
{
	n->next = NULL;
	if (l->first)
		l->last->next = n;
	else
		l->first = n;
	l->last = n;
}

void tcp_notes_join(struct tcp_notes *l, struct tcp_notes *more)
{
	if (!more->first)
		return;
	if (l->first)
		l->last->next = more->first;
	else
		l->first = more->first;
	l->last = more->last;
	*more = (struct tcp_notes){0};
}

void tcp_notes_drop_first(struct tcp_notes *l, struct tcp_note_pool *s)
{
	struct tcp_note *n = l->first;

	l->first = n->next;
	if (!l->first)
		l->last = NULL;
	tcp_note_put(s, n);
}
