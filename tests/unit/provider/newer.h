/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file newer.h
 * Verbs of rdma-core 59 to 65, which the headers that this project builds with do not have, as
 * their manual pages declare them.
 *
 * It repeats provider/shim/newer.h on purpose. That is the shim's side of the ABI; this is a
 * program's. With one header for both, a member in the wrong place would agree with itself.
 */
#ifndef TESTS_UNIT_PROVIDER_NEWER_H
#define TESTS_UNIT_PROVIDER_NEWER_H

#include <infiniband/verbs.h>

enum {
	IBV_REG_MR_MASK_IOVA = 1 << 0,
	IBV_REG_MR_MASK_ADDR = 1 << 1,
	IBV_REG_MR_MASK_FD = 1 << 2,
	IBV_REG_MR_MASK_FD_OFFSET = 1 << 3,
	IBV_REG_MR_MASK_DMAH = 1 << 4,
	IBV_REG_MR_MASK_BUF = 1 << 5,
};

enum { IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC = 1 << 2 };

struct ibv_buf;
struct ibv_dmah;
struct ibv_comp_cntr;

struct ibv_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct ibv_dmah *dmah;
	struct ibv_buf *buf;
};

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr);
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
void ibv_free_buf(struct ibv_buf *buf);
struct ibv_mr *ibv_reg_buf_mr(
	struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access);
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf);
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *speed);
struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, void *attr);
int _ibv_query_comp_cntr_caps(struct ibv_context *context, void *caps, size_t caps_size);
struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context, void *attr);
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *cntr, void *attr);

/** One of a time to come, which nobody knows yet. */
int ibv_of_a_time_to_come(struct ibv_context *context);

#endif
