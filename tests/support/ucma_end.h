/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ucma_end.h Frees a ucma and its tables. The product never does. */
#ifndef SUPPORT_UCMA_END_H
#define SUPPORT_UCMA_END_H

#include "provider/cm/call.h"

#include <stdlib.h>

static inline void ucma_channels_fini(struct ucma_channels *t)
{
	free(t->by_fd);
	*t = (struct ucma_channels){0};
}

static inline void ucma_id_table_fini(struct ucma_id_table *t)
{
	free(t->by_number);
	pthread_cond_destroy(&t->released);
}

static inline void ucma_destroy(struct ucma *u)
{
	if (!u || ucma_is_orphan(u))
		return;
	for (size_t fd = 0; fd < u->channels.size; fd++)
		ucma_close(u, (int)fd);
	ucma_channels_fini(&u->channels);
	ucma_id_table_fini(&u->ids);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

#endif
