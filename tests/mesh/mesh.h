/* SPDX-License-Identifier: BSD-2-Clause */
/** @file mesh.h One process of the mesh: its connections (connect.c) and its data (data.c). */
#ifndef TESTS_MESH_MESH_H
#define TESTS_MESH_MESH_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define MESH_MOST  64
#define MESH_BLOCK 20000 /* bytes of one write: more than a segment of an Ethernet */
#define MESH_RECVS 4

/** What one tells another when it connects or accepts. */
struct mesh_hello {
	uint64_t addr; /**< of the memory that the others write to and read from */
	uint32_t rkey, rank;
};

struct mesh_peer {
	struct rdma_cm_id *id;
	struct mesh_hello hello;
	unsigned told; /**< rounds that it has told of */
	unsigned owed; /**< completions of what was posted to it */
};

/** Everybody's memory: two blocks from each, for rounds in turns; what all may read; and what is
 * ours. */
struct mesh_memory {
	uint8_t in[2][MESH_MOST][MESH_BLOCK];
	uint8_t shown[MESH_BLOCK];
	uint8_t out[MESH_MOST][MESH_BLOCK];
	uint8_t read[MESH_MOST][MESH_BLOCK];
	uint32_t told[MESH_MOST][MESH_RECVS]; /**< by a Send: a round's number */
	uint32_t tell[MESH_MOST];
};

struct mesh {
	unsigned rank, size, rounds, round;
	const char *address;
	int port, to_parent, from_parent;
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	struct mesh_memory *memory;
	struct mesh_peer peer[MESH_MOST];
	unsigned up;    /**< connections */
	unsigned in;    /**< blocks of this round that came and were right */
	unsigned reads; /**< of the end, that were right */
};

_Noreturn void mesh_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Ends the process if not @p good, with errno's text. */
void mesh_need(bool good, const char *what);

void mesh_listen(struct mesh *m);
void mesh_connect(struct mesh *m, unsigned rank);
void mesh_cm_event(struct mesh *m);

/** Of those that we connected; the others do it with theirs. */
void mesh_disconnect(struct mesh *m);
void mesh_close(struct mesh *m);

/** Post the receives of a new connection. */
void mesh_post_receives(struct mesh *m, unsigned rank);

void mesh_fill(struct mesh *m);
void mesh_begin_round(struct mesh *m);
bool mesh_round_is_over(const struct mesh *m);
void mesh_begin_reads(struct mesh *m);
bool mesh_reads_are_over(const struct mesh *m);
void mesh_completions(struct mesh *m);

#endif
