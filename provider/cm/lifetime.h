/* SPDX-License-Identifier: BSD-2-Clause */
/** @file lifetime.h The commands that create and destroy ids, and move them between channels. */
#ifndef PROVIDER_CM_LIFETIME_H
#define PROVIDER_CM_LIFETIME_H

#include "provider/cm/call.h"

ucma_handler ucma_create_id, ucma_destroy_id, ucma_migrate_id;

/**
 * Destroy a held id. Its unread events are dropped. Requests among them were not adopted and end
 * with their listener.
 * @return how many of its events have been read, for librdmacm, which waits until all are
 *         acknowledged.
 */
uint32_t ucma_end_id(struct ucma *u, struct ucma_id *id);

#endif
