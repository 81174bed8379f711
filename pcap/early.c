/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/early.h"

#include <bsd/sys/tree.h>
#include <stdlib.h>

struct cap_early_node {
	struct piece piece; /* the first member: the one is the other */
	RB_ENTRY(cap_early_node) at;
};

RB_HEAD(cap_early_tree, cap_early_node);

const size_t cap_early_piece_size = sizeof(struct cap_early_node);

static int cap_early_compare(const struct cap_early_node *a, const struct cap_early_node *b)
{
	int32_t d = (int32_t)(a->piece.seq - b->piece.seq);

	return (d > 0) - (d < 0);
}

/* RB_GENERATE_STATIC() wants BSD's __unused, which Linux's headers have as a name. */
RB_GENERATE_INTERNAL(
	cap_early_tree, cap_early_node, at, cap_early_compare, __attribute__((unused)) static)

static struct cap_early_tree cap_early_tree_of(const struct cap_early *e)
{
	return (struct cap_early_tree){.rbh_root = e->root};
}

bool cap_early_add(struct cap_early *e, const struct piece *p)
{
	struct cap_early_tree t = cap_early_tree_of(e);
	struct cap_early_node *node = malloc(sizeof *node);

	if (!node)
		return false;
	node->piece = *p;
	RB_INSERT(cap_early_tree, &t, node);
	e->root = t.rbh_root;
	e->n++;
	return true;
}

const struct piece *cap_early_first(const struct cap_early *e)
{
	struct cap_early_tree t = cap_early_tree_of(e);

	return e->root ? &RB_MIN(cap_early_tree, &t)->piece : NULL;
}

const struct piece *cap_early_find(const struct cap_early *e, uint32_t seq)
{
	const struct cap_early_node *at = e->root, *found = NULL;

	while (at)
		if ((int32_t)(at->piece.seq + at->piece.len - seq) > 0) {
			found = at;
			at = RB_LEFT(at, at);
		} else {
			at = RB_RIGHT(at, at);
		}
	return found ? &found->piece : NULL;
}

const struct piece *cap_early_next(const struct piece *p)
{
	struct cap_early_node *next =
		RB_NEXT(cap_early_tree, , (struct cap_early_node *)(uintptr_t)p);

	return next ? &next->piece : NULL;
}

void cap_early_take(struct cap_early *e, struct piece *p)
{
	struct cap_early_tree t = cap_early_tree_of(e);
	struct cap_early_node *first = RB_MIN(cap_early_tree, &t);

	RB_REMOVE(cap_early_tree, &t, first);
	e->root = t.rbh_root;
	e->n--;
	*p = first->piece;
	free(first);
}

void cap_early_clear(struct cap_early *e)
{
	struct piece gone;

	while (e->n != 0)
		cap_early_take(e, &gone);
}
