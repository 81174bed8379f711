/* SPDX-License-Identifier: BSD-2-Clause */
/** @file load.h What carries the load: verbs, the kernel's TCP, UCX, or a port alone. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The longest message. */
#define LOAD_SIZE 4096

struct load_options {
	const char *address; /**< of the receiver; NULL: we are it */
	const char *port;
	unsigned connections;
	size_t size; /**< bytes of a message, the first eight of which are its stamp */
};

typedef void load_arrived_fn(void *ctx, uint64_t stamp);

/** What goes wrong ends the process. */
struct load_transport {
	const char *name;
	/** Connected when it returns. */
	void *(*open)(const struct load_options *o);
	/** @return false: no room now; load_transport.poll() makes some. */
	bool (*send)(void *transport, unsigned connection, uint64_t stamp);
	/** Let it work, and take what has come. */
	void (*poll)(void *transport, load_arrived_fn *arrived, void *ctx);
	/** All that was sent arrives. */
	void (*close)(void *transport);
};

extern const struct load_transport load_verbs, load_tcp, load_ucx, load_port;

#endif
