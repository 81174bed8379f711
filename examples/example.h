/* SPDX-License-Identifier: BSD-2-Clause */
/* What the examples share: an end with its last words, and what their command lines are like. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

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

#endif
