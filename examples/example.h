/* SPDX-License-Identifier: BSD-2-Clause */
/* What the examples share: an end with its last words, and what their command lines are like. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>

/* Most calls of librdmacm return -1 with errno, or NULL. */
#define CHECK(ok, what)               \
	do {                          \
		if (!(ok)) {          \
			perror(what); \
			exit(1);      \
		}                     \
	} while (0)

/* `program PORT` serves, `program PORT ADDRESS` connects. */
#define USAGE(argc, argv)                                                        \
	do {                                                                     \
		if ((argc) != 2 && (argc) != 3) {                                \
			fprintf(stderr, "usage: %s PORT [SERVER]\n", (argv)[0]); \
			exit(2);                                                 \
		}                                                                \
	} while (0)

/* An identifier with queues that is ready to connect to @p host, or, with RAI_PASSIVE, to listen
 * there. */
static inline struct rdma_cm_id *endpoint(
	const char *host, const char *port, int flags, struct ibv_qp_init_attr *queues)
{
	struct rdma_addrinfo hints = {};
	struct rdma_addrinfo *where;
	struct rdma_cm_id *id;
	int rc;

	hints.ai_port_space = RDMA_PS_TCP;
	hints.ai_flags = flags;
	rc = rdma_getaddrinfo(host, port, &hints, &where);
	if (rc != 0) {
		fprintf(stderr, "%s: %s\n", host ? host : port, gai_strerror(rc));
		exit(1);
	}
	CHECK(rdma_create_ep(&id, where, NULL, queues) == 0, "rdma_create_ep");
	rdma_freeaddrinfo(where);
	return id;
}

#endif
