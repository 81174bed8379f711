/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file program.h
 * A random program of verbs, over all hosts: a list of steps, each of which means something
 * wherever it stands, so that any part of a program is a program (shrink.h).
 */
#ifndef TESTS_VOPR_PROGRAM_H
#define TESTS_VOPR_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum step_kind {
	STEP_WAIT,
	STEP_POST,
	STEP_RECV,
	STEP_POLL,
	STEP_SCRIBBLE,
	STEP_MR_REG,
	STEP_MR_DEREG,
	STEP_MW_ALLOC,
	STEP_MW_DEALLOC,
	STEP_CQ_RESIZE,
	STEP_CQ_ARM,
	STEP_SRQ_CREATE,
	STEP_SRQ_DESTROY,
	STEP_QP_CREATE,
	STEP_QP_DESTROY,
	STEP_QP_RESET,
	STEP_QP_ERROR,
	STEP_QP_DRAIN,
	STEP_QP_RESUME,
	STEP_CONNECT,
	STEP_DISCONNECT,
	STEP_EP_DESTROY,
	STEP_RENEW,
	STEP_LOSS,
	STEP_BURSTS,
	STEP_REORDER,
	STEP_DUPLICATE,
	STEP_DELAY,
	STEP_MTU,
	STEP_CUT,
	STEP_STALL,
	STEP_MANGLE,
	STEP_HOG,
	STEP_NO_MEMORY,
	STEP_CORRUPT,
	STEP_BOX,
	STEP_FORGE,
	STEP_REBIND,
	STEP_FREEZE,
	STEP_CLOCK,
	STEP_CALM,
	STEP_SRQ_LIMIT,
	STEP_MR_REREG,
	STEP_UD,
	STEP_KINDS,
};

struct step {
	uint8_t kind; /**< enum step_kind */
	uint8_t host;
	uint64_t random; /**< what it decides by */
};

/** What is the same for all of a program, from its seed. */
struct profile {
	uint64_t seed;
	unsigned version;    /**< of the generator, PROGRAM_VERSION or before */
	unsigned hosts, qps; /**< QPs of each host, about */
	uint32_t least;      /**< bytes of a receive */
	bool waits, in_order, markers, crc_off, peer_to_peer, software_checksums, small_pool;
	uint16_t mtu;
	uint32_t delay;         /**< us from a host to the switch, and on */
	bool small_cq;          /**< there is a CQ that may overflow */
	bool send_imm;          /**< streams made by rdma_cm agree on Send with Immediate */
	bool tls;               /**< under all streams */
	bool acked;             /**< Sends and Writes complete when they are acknowledged */
	bool driven;            /**< progress is made by polls; hosts look but once a millisecond */
	double offences;        /**< share of requests that must fail */
	double wrongs;          /**< likewise, of those that bind a window or end a key */
	bool narrow;            /**< some QPs do not allow their peers all */
	bool starved;           /**< messages often find no receive, or one too short */
	bool ud;                /**< hosts have UD queue pairs, too */
	double pairs;           /**< share of connections that are made without rdma_cm */
	bool hasty;             /**< pairs end before they have spoken, and nothing else happens */
	double again;           /**< share of packets that come a second time, later */
	double faults, changes; /**< weight of such steps */
	const char *congestion_control;
};

struct program {
	struct profile profile;
	struct step *step;
	unsigned n;
};

/** What new steps and new choices begin with, so that a seed keeps the program that it had. */
#define PROGRAM_VERSION 10

/** @param n steps. @param version of the generator. */
void program_generate(struct program *p, uint64_t seed, unsigned n, unsigned version);
void program_copy(struct program *to, const struct program *from);
void program_free(struct program *p);
const char *step_name(uint8_t kind);

#endif
