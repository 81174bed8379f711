/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file counters.h
 * The counters of the layers, in one table: their names in telemetry, and what they count. The same
 * table is behind what monitoring systems are told of them.
 */
#ifndef HOST_COUNTERS_H
#define HOST_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counters_layer {
	COUNTERS_PORT,   /**< struct port_stats */
	COUNTERS_IP,     /**< struct ip_stats */
	COUNTERS_ESP,    /**< struct esp_stats */
	COUNTERS_TCP,    /**< struct tcp_stats */
	COUNTERS_SOCK,   /**< struct sock_stats */
	COUNTERS_TLS,    /**< struct tls_stats */
	COUNTERS_ENGINE, /**< struct engine_thread_stats */
	COUNTERS_LAYERS
};

struct counter {
	enum counters_layer layer;
	const char *name;
	const char *help;
	uint16_t offset; /**< of the uint64_t in the layer's structure */
	bool gauge;      /**< it goes down, too */
	bool drop;       /**< something that came, or was to go, was dropped for this reason */
};

extern const struct counter counters[];
extern const unsigned counters_count;

/** "port", ... */
const char *counters_layer_name(enum counters_layer layer);

/** The value of @p c in @p stats, the structure of its layer. */
static inline uint64_t counters_value(const struct counter *c, const void *stats)
{
	return *(const uint64_t *)(const void *)((const char *)stats + c->offset);
}

#endif
