/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file provider.h
 * The table between the two libraries. Every program has libuiwarp-preload.so. It loads
 * libuiwarp.so at the first verb or rdma_cm call, and calls it through this table.
 *
 * The members are named as the verbs, without "ibv_". They are called only for objects of our
 * device. Errors are as in verbs: NULL with errno set for a pointer, and a positive errno for an
 * int, unless the verb has another convention.
 */
#ifndef PROVIDER_PROVIDER_H
#define PROVIDER_PROVIDER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/** Both libraries must have the same version of the table. */
#define PROVIDER_VERSION 12

#define PROVIDER_MAX_ADDRESSES 16

/** One of our addresses, for getifaddrs(). */
struct provider_address {
	struct sockaddr_storage addr, mask;
};

/** The shim's functions for the provider. */
struct provider_host {
	/** A function of the real libibverbs, or NULL. */
	void *(*real_verbs)(const char *name);
	/** True if exit() has begun on this thread: the engine is, or will be, at its end. */
	bool (*is_leaving)(void);
	/** This thread begins to start the stack. Its calls until leave() are not the program's. */
	void (*enter)(void);
	/** The stack runs, and its exit() handlers are set. Called between enter() and leave(). */
	void (*started)(void);
	void (*leave)(void);
};

struct provider {
	uint32_t version;
	/**
	 * Read the configuration. Called once. Errors are reported on stderr. The stack starts with
	 * the first verb that needs more than the configuration: an object, the port, its GIDs,
	 * events, the CM. If it cannot start, that is reported once, and each such verb fails with
	 * ENODEV; with EMFILE or ENFILE, if descriptors were all that it lacked.
	 * @return 0 with our device, or a negative errno.
	 */
	int (*start)(const struct provider_host *host, struct ibv_device **device);

	/** The program lists devices: set the name of ours, which may need the slot. */
	void (*list)(void);

	/**
	 * True if the stack was started, or is being started. A child after fork() has no stack
	 * then.
	 */
	bool (*is_begun)(void);

	/**
	 * Our addresses, for getifaddrs(). Does not start the stack.
	 * @return how many were written; 0: the configuration does not list them, or they need a
	 *         slot that was not taken yet.
	 */
	unsigned (*addresses)(struct provider_address *out, unsigned max);

	/** The process ends without exit(): stack_before_end(). */
	void (*before_end)(void);

	/** stack_end_by(), for a signal handler. */
	bool (*end_by)(int sig);

	/** eal_log_descriptor_wanted(). */
	void (*descriptor_wanted)(void);

	/** memif_guard_received() and memif_guard_sent(). */
	ssize_t (*memif_received)(int fd, const struct msghdr *m, ssize_t n);
	void (*memif_sent)(int fd, const struct msghdr *m);

	/** guarded_resume(): where to go on after a fault at @p pc, or 0: it is not the provider's.
	 */
	uintptr_t (*resume)(uintptr_t pc);

	/* The rdma_cm character device: see cm/ucma.h. */
	int (*cm_open)(int flags);
	ssize_t (*cm_write)(int fd, const void *buf, size_t n);
	void (*cm_close)(int fd);

	__be64 (*get_device_guid)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	int (*get_async_event)(struct ibv_context *context, struct ibv_async_event *event);

	int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attr);
	int (*query_port)(
		struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr);
	int (*query_port_speed)(struct ibv_context *context, uint32_t port_num, uint64_t *speed);
	int (*query_gid)(
		struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);
	int (*query_gid_ex)(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);
	ssize_t (*query_gid_table)(struct ibv_context *context, struct ibv_gid_entry *entries,
		size_t max_entries, uint32_t flags, size_t entry_size);
	int (*query_gid_type)(
		struct ibv_context *context, uint8_t port_num, unsigned index, int *type);
	int (*query_pkey)(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);
	int (*get_pkey_index)(struct ibv_context *context, uint8_t port_num, __be16 pkey);

	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	int (*dealloc_pd)(struct ibv_pd *pd);
	struct ibv_mr *(*reg_mr)(
		struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access);
	int (*rereg_mr)(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		int access);
	int (*dereg_mr)(struct ibv_mr *mr);

	struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *context);
	int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
	int (*get_cq_event)(
		struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *cq_context,
		struct ibv_comp_channel *channel, int comp_vector);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
	int (*destroy_cq)(struct ibv_cq *cq);

	struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
	int (*destroy_srq)(struct ibv_srq *srq);

	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		struct ibv_qp_init_attr *init_attr);
	int (*query_qp_data_in_order)(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
	int (*destroy_qp)(struct ibv_qp *qp);
	struct ibv_qp_ex *(*qp_to_qp_ex)(struct ibv_qp *qp);

	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
	struct ibv_ah *(*create_ah_from_wc)(
		struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num);
	int (*init_ah_from_wc)(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
		struct ibv_grh *grh, struct ibv_ah_attr *attr);
	int (*destroy_ah)(struct ibv_ah *ah);
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
};

/** The one symbol that libuiwarp.so exports. @return NULL for another version. */
const struct provider *uiwarp_provider(uint32_t version);

#endif
