/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/ucma.h"

#include "base/forks.h"
#include "provider/cm/event.h"
#include "provider/cm/lifetime.h"
#include "provider/exit_wait.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int ucma_create(struct rnic *r, uint64_t guid, struct ucma **out)
{
	struct ucma *u = calloc(1, sizeof *u);

	if (!u)
		return -ENOMEM;
	if (ucma_id_table_init(&u->ids)) {
		free(u);
		return -ENOMEM;
	}
	u->rnic = r;
	u->guid = guid;
	forks_watch();
	u->forks = forks_count();
	TAILQ_INIT(&u->due);
	u->tell.serve = ucma_tell_due;
	pthread_mutex_init(&u->lock, NULL);
	*out = u;
	return 0;
}

void ucma_set_gids(struct ucma *u, ucma_gid_fn *fn, void *ctx)
{
	u->gid = fn;
	u->gid_ctx = ctx;
}

/* After fork() the child has our memory, but nothing that drives it; a lock may be held forever. */
bool ucma_is_orphan(const struct ucma *u)
{
	return u->forks != forks_count();
}

int ucma_open(struct ucma *u, int flags)
{
	struct ucma_channel *ch;
	int err, fd = -1;

	if (ucma_is_orphan(u)) {
		errno = ENODEV;
		return -1;
	}
	pthread_mutex_lock(&u->lock);
	err = ucma_channel_open(&u->channels, flags, &ch);
	if (!err) {
		fd = ch->fd;
		ch->left = u->left != 0;
	}
	pthread_mutex_unlock(&u->lock);
	if (err)
		errno = -err;
	return fd;
}

/** Hold the first id of the channel, even if another thread works on it now. @return NULL: none is
 * left. */
static struct ucma_id *ucma_hold_first(struct ucma *u, struct ucma_channel *ch)
{
	struct ucma_id *id;

	pthread_mutex_lock(&u->lock);
	do
		id = TAILQ_FIRST(&ch->ids);
	while (id && !ucma_id_hold_or_wait(&u->ids, &u->lock, id));
	pthread_mutex_unlock(&u->lock);
	return id;
}

void ucma_close(struct ucma *u, int fd)
{
	struct ucma_channel *ch;
	struct ucma_id *id;

	if (ucma_is_orphan(u))
		return;
	pthread_mutex_lock(&u->lock);
	ch = ucma_channel_find(&u->channels, fd);
	if (ch) {
		/* Ours until the ids are gone; the table's reference goes with the name. */
		ucma_channel_ref(ch);
		ucma_channel_remove(&u->channels, ch);
	}
	pthread_mutex_unlock(&u->lock);
	if (!ch)
		return;
	while ((id = ucma_hold_first(u, ch)))
		ucma_end_id(u, id);
	pthread_mutex_lock(&u->lock);
	ucma_channel_unref(ch);
	pthread_mutex_unlock(&u->lock);
}

void ucma_leave(struct ucma *u)
{
	if (!exit_lock(&u->lock))
		return;
	u->left = exit_clock();
	for (size_t fd = 0; fd < u->channels.size; fd++)
		if (u->channels.by_fd[fd])
			ucma_channel_leave(u->channels.by_fd[fd]);
	pthread_mutex_unlock(&u->lock);
}
