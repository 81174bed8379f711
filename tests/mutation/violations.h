/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file violations.h
 * Violations put into good captures: one field of one frame has a value that it must not have, and
 * the CRC is good again. Each must be found, at the frame and the end that sent it.
 */
#ifndef TESTS_MUTATION_VIOLATIONS_H
#define TESTS_MUTATION_VIOLATIONS_H

#include "variant.h"

/** An FPDU or start-up frame of a capture, to be written to. */
struct violations_target {
	bool start;
	bool crc, markers;
	bool rev0;      /**< of the RDMA Consortium's revision, with an RDMA version of its own */
	bool continues; /**< an FPDU that goes on with the message before it in its queue, or tagged
			 */
	bool response;  /**< and that message is a Read Response whose request is known */
	uint8_t **at;   /**< each octet in the capture */
	uint32_t len;
	uint64_t octet; /**< of full operation, that it begins with */
	uint32_t ulpdu_len;
	uint64_t frame;
	struct ip_endpoint from;
	unsigned num_undo;
	struct {
		uint8_t *at, was;
	} undo[32];
};

struct violations_targets {
	struct violations_target *list;
	unsigned n, cap;
};

/** All of a file in captures without holes; @p targets empty where there are some. */
void violations_find(const struct variant *all, struct violations_targets *targets);
void violations_free(struct violations_targets *targets);

struct violations_class {
	const char *name;
	/** Make the @p i-th change to @p t. @return false: there are no more. */
	bool (*apply)(struct violations_target *t, unsigned i);
};

extern const struct violations_class violations_classes[];
extern const unsigned violations_num_classes;

/** As it was. */
void violations_undo(struct violations_target *t);

#endif
