/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/id.h"

#include "provider/cm/multicast.h"

#include <errno.h>
#include <stdlib.h>

int ucma_id_table_init(struct ucma_id_table *t)
{
	*t = (struct ucma_id_table){0};
	t->by_number = calloc(UCMA_MAX_IDS, sizeof *t->by_number);
	if (!t->by_number)
		return -ENOMEM;
	pthread_cond_init(&t->released, NULL);
	return 0;
}

struct ucma_id *ucma_id_new(struct ucma *u, struct ucma_id_table *t, struct ucma_channel *ch)
{
	struct ucma_id *id = ch->closed ? NULL : ucma_id_reserve(u, t);

	if (id)
		ucma_id_enter(t, ch, id);
	return id;
}

struct ucma_id *ucma_id_reserve(struct ucma *u, struct ucma_id_table *t)
{
	struct ucma_id *id = t->used == UCMA_MAX_IDS ? NULL : calloc(1, sizeof *id);

	if (!id)
		return NULL;
	TAILQ_INIT(&id->expected);
	id->ucma = u;
	t->used++;
	return id;
}

void ucma_id_enter(struct ucma_id_table *t, struct ucma_channel *ch, struct ucma_id *id)
{
	while (t->by_number[t->next])
		t->next = (t->next + 1) % UCMA_MAX_IDS;
	id->channel = ch;
	id->number = t->next;
	id->held = true;
	t->by_number[t->next] = id;
	t->next = (t->next + 1) % UCMA_MAX_IDS;
	TAILQ_INSERT_TAIL(&ch->ids, id, link);
}

void ucma_id_give_back(struct ucma_id_table *t, struct ucma_id *id)
{
	t->used--;
	ucma_id_free(id);
}

bool ucma_id_hold_or_wait(struct ucma_id_table *t, pthread_mutex_t *lock, struct ucma_id *id)
{
	if (!id->held) {
		id->held = true;
		return true;
	}
	pthread_cond_wait(&t->released, lock);
	return false;
}

int ucma_id_hold(struct ucma_id_table *t, pthread_mutex_t *lock, const struct ucma_channel *ch,
	uint32_t number, struct ucma_id **out)
{
	struct ucma_id *id;

	do {
		id = number < UCMA_MAX_IDS ? t->by_number[number] : NULL;
		if (!id)
			return -ENOENT;
		if (id->channel != ch)
			return -EINVAL;
	} while (!ucma_id_hold_or_wait(t, lock, id));
	*out = id;
	return 0;
}

void ucma_id_release(struct ucma_id_table *t, struct ucma_id *id)
{
	id->held = false;
	pthread_cond_broadcast(&t->released);
}

void ucma_id_remove(struct ucma_id_table *t, struct ucma_id *id)
{
	ucma_channel_purge(id->channel, id, NULL);
	ucma_multicast_forget(id);
	TAILQ_REMOVE(&id->channel->ids, id, link);
	t->by_number[id->number] = NULL;
	t->used--;
	id->dying = true;
	pthread_cond_broadcast(&t->released);
}

static void ucma_id_expect_none(struct ucma_id *id)
{
	struct ucma_event *ev;

	while ((ev = TAILQ_FIRST(&id->expected))) {
		TAILQ_REMOVE(&id->expected, ev, link);
		free(ev);
	}
}

void ucma_id_free(struct ucma_id *id)
{
	ucma_id_expect_none(id);
	free(id);
}

int ucma_id_expect(struct ucma_id *id, unsigned answers, unsigned ends)
{
	ucma_id_expect_none(id);
	for (unsigned i = 0; i < answers + ends; i++) {
		struct ucma_event *ev = ucma_event_alloc(i < answers ? UCMA_PRIVATE_MAX : 0);

		if (!ev)
			return -ENOMEM;
		TAILQ_INSERT_TAIL(&id->expected, ev, link);
	}
	return 0;
}

struct ucma_event *ucma_id_take_event(struct ucma_id *id, uint8_t len)
{
	struct ucma_event *ev = TAILQ_FIRST(&id->expected), *fresh;

	if (!ev || ev->room < len) {
		fresh = ucma_event_alloc(len);
		if (fresh || !ev)
			return fresh;
	}
	TAILQ_REMOVE(&id->expected, ev, link);
	return ev;
}

void ucma_id_migrate(struct ucma_id *id, struct ucma_channel *to)
{
	ucma_channel_move(id->channel, to, id);
	TAILQ_REMOVE(&id->channel->ids, id, link);
	TAILQ_INSERT_TAIL(&to->ids, id, link);
	id->channel = to;
}
