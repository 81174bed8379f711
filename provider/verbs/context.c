/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a context lives, and what it knows of its objects. Opened and closed: device.c. */
#include "provider/verbs/objects.h"

#include <stdlib.h>

static void context_list_object(struct context *c, struct object *o)
{
	pthread_mutex_lock(&c->objects_lock);
	LIST_INSERT_HEAD(&c->objects, o, link);
	pthread_mutex_unlock(&c->objects_lock);
}

void context_add(struct ibv_context *context, struct object *o, enum object_kind kind)
{
	o->kind = kind;
	context_hold(context);
	context_list_object(context_of(context), o);
}

void context_withdraw(struct ibv_context *context, struct object *o)
{
	struct context *c = context_of(context);

	pthread_mutex_lock(&c->objects_lock);
	LIST_REMOVE(o, link);
	pthread_mutex_unlock(&c->objects_lock);
}

void context_restore(struct ibv_context *context, struct object *o)
{
	context_list_object(context_of(context), o);
}

void context_put(struct ibv_context *context)
{
	struct context *c = context_of(context);
	struct device *d = c->device;

	if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
		return;
	pthread_mutex_lock(&d->lock);
	LIST_REMOVE(c, link);
	pthread_mutex_unlock(&d->lock);
	mailbox_fini(&c->async);
	pthread_mutex_destroy(&c->objects_lock);
	pthread_mutex_destroy(&c->ibv.mutex);
	free(c->head->priv);
	free(c->block);
}
