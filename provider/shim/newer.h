/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file newer.h
 * Verbs of rdma-core 59 to 65, which this build's verbs.h may not have, after their manual pages
 * and the ABI. Structures have names of the shim, so that a newer verbs.h may declare its own.
 *
 * The tests have declarations of their own (tests/unit/provider/newer.h), so that a mistake here is
 * not repeated there.
 */
#ifndef PROVIDER_SHIM_NEWER_H
#define PROVIDER_SHIM_NEWER_H

#include "provider/shim/shim.h"

#include <infiniband/verbs.h>

/** Declare a function under the shim's own name, with the verb's symbol. */
#define NEWER(type, verb, params) SHIM_EXPORT type shim_##verb params __asm__("ibv_" #verb)

/** Bits of newer_mr_init_attr.comp_mask: which members are valid. */
enum {
	NEWER_MR_IOVA = 1 << 0,
	NEWER_MR_ADDR = 1 << 1,
	NEWER_MR_FD = 1 << 2,
	NEWER_MR_FD_OFFSET = 1 << 3,
	NEWER_MR_DMAH = 1 << 4,
	NEWER_MR_BUF = 1 << 5,
};

/** ibv_reg_mr_ex(3). Before rdma-core 64 the structure ends with @p dmah. */
struct newer_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	void *dmah;
	struct ibv_buf *buf;
};

/** The beginning of the real library's objects that our device does not have. */
struct newer_object {
	struct ibv_context *context;
};

struct ibv_buf;

NEWER(struct ibv_mr *, reg_mr_ex, (struct ibv_pd * pd, struct newer_mr_init_attr *attr));
NEWER(void *, alloc_buf, (struct ibv_pd * pd, size_t size, struct ibv_buf **buf));
NEWER(void, free_buf, (struct ibv_buf * buf));
NEWER(struct ibv_mr *, reg_buf_mr,
	(struct ibv_pd * pd, struct ibv_buf *buf, void *addr, size_t length, int access));
NEWER(int, export_buf_dmabuf_fd, (struct ibv_buf * buf));
NEWER(int, query_port_speed, (struct ibv_context * context, uint32_t port_num, uint64_t *speed));
NEWER(struct newer_object *, alloc_dmah, (struct ibv_context * context, void *attr));
NEWER(struct newer_object *, create_comp_cntr, (struct ibv_context * context, void *attr));
NEWER(int, qp_attach_comp_cntr, (struct ibv_qp * qp, struct newer_object *cntr, void *attr));
SHIM_EXPORT int shim_query_comp_cntr_caps(struct ibv_context *context, void *caps,
	size_t caps_size) __asm__("_ibv_query_comp_cntr_caps");

#endif
