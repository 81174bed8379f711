/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file objects.h
 * The verbs objects of our device: each is the public structure of <infiniband/verbs.h> first, as
 * programs see it, and what is ours behind it.
 *
 * Locks, in this order: a context's objects_lock, the engine's, then device.lock, then a channel's
 * or a context's async lock. The RNIC's upcalls (completions, events) come under the engine's and
 * take those behind it.
 */
#ifndef PROVIDER_VERBS_OBJECTS_H
#define PROVIDER_VERBS_OBJECTS_H

#include "base/container_of.h"
#include "provider/provider.h"
#include "provider/stack.h"
#include "rnic/rnic.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

/** Direct-verbs libraries peek at their own fields behind any ibv_device: they find zeros. */
#define DEVICE_ZEROS 4096

struct context;
struct device;

/**
 * How a device comes by what it stands on, which it has not before somebody needs it. Any thread;
 * errno stays as it is.
 */
struct device_source {
	/**
	 * Start the stack, once, and device_attach() it.
	 * @return 0, or -ENODEV: it cannot be had, which was said on stderr the first time.
	 */
	int (*start)(struct device *d);
	/** Set the device's name and GUID, for which a slot may be taken. @return as above. */
	int (*identify)(struct device *d);
};

struct device {
	struct ibv_device ibv;
	uint8_t zeros[DEVICE_ZEROS];
	const struct device_source *source;
	const struct provider_host *host;
	_Atomic uint64_t guid; /**< network byte order; 0: not asked for yet */
	_Atomic bool started;  /**< what follows is there, as it is whenever there is an object */
	struct stack *stack;
	struct rnic *rnic;
	uint8_t mac[6];
	_Atomic bool told;    /**< the log has a line on what iWARP does not have */
	_Atomic bool orphan;  /**< a child after fork(): everything answers ENODEV */
	pthread_mutex_t lock; /**< contexts */
	LIST_HEAD(, context) contexts;
};

/** A queue of things to be read from a pollable descriptor: one token for each. */
struct mailbox {
	pthread_mutex_t lock;
	int fd;                 /**< EFD_SEMAPHORE eventfd */
	_Atomic unsigned users; /**< 1 until it is closed, and 1 for each thread that waits */
	_Atomic bool ended;     /**< a thread that waits, or comes to wait, gets -EIO */
};

struct async_record {
	TAILQ_ENTRY(async_record) link;
	struct ibv_async_event event;
	uint32_t *reported; /**< of the object, counted when read; NULL: a port's */
};

/** Of what kind an object is, as far as closing its context cares; in the order in which they end.
 */
enum object_kind {
	OBJECT_QP,
	OBJECT_MW,
	OBJECT_MR,
	OBJECT_CHANNEL,
	OBJECT_OTHER,
};

/** By which its context knows an object. */
struct object {
	LIST_ENTRY(object) link;
	enum object_kind kind;
};

/**
 * An open device. When the program closes it while objects are left, these end as they would with
 * the kernel's file (connections are reset, memory is out of reach), but stay there, and the
 * context with them, until the program has destroyed the last.
 */
struct context {
	struct ibv_context ibv; /**< the end of the library's verbs_context */
	struct device *device;
	void *block; /**< what was allocated: verbs_context grows at its front */
	struct verbs_context *head;
	LIST_ENTRY(context) link;
	struct mailbox async;
	TAILQ_HEAD(, async_record) events;
	pthread_mutex_t objects_lock;
	LIST_HEAD(, object) objects;
	/** 1 until it is closed, and 1 for each object and each thread that waits for an event. */
	_Atomic unsigned refs;
	_Atomic bool closed;
};

struct td {
	struct ibv_td ibv;
	struct object object;
	_Atomic unsigned users; /**< parent domains */
};

struct pd {
	struct ibv_pd ibv;
	struct object object;
	struct rnic_pd *rnic;
	struct pd *base;        /**< of a parent domain, which shares its rnic; else NULL */
	struct td *td;          /**< of a parent domain, or NULL */
	_Atomic unsigned users; /**< objects made with this one, parent domains among them */
};

struct mr {
	struct ibv_mr ibv;
	struct object object;
	struct rnic_mr *rnic;
	unsigned rights; /**< RNIC_ACCESS_* */
	bool null;       /**< by ibv_alloc_null_mr() */
};

struct mw {
	struct ibv_mw ibv;
	struct object object;
	struct rnic_mw *rnic;
};

struct cq;

struct channel {
	struct ibv_comp_channel ibv;
	struct object object;
	struct mailbox box;
	TAILQ_HEAD(, cq) ready; /**< CQs with unread events */
};

struct cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex;
	};
	struct object object;
	struct rnic_cq *rnic;
	TAILQ_ENTRY(cq) link;    /**< in channel.ready, when unread > 0 */
	uint32_t unread;         /**< events written; under the channel's lock */
	uint32_t comp_reported;  /**< events read; under the channel's lock */
	uint32_t async_reported; /**< under the context's async lock */
	struct pd *domain;       /**< the parent domain that it was created with, or NULL */
	bool timed;              /**< its completions carry their times */
	uint64_t time;           /**< of wc, as the device's clock has it */
	struct ibv_wc wc;        /**< the one that ibv_wc_read_*() tell of */
};

struct srq {
	struct ibv_srq ibv;
	struct object object;
	struct rnic_srq *rnic;
	uint32_t max_sge;
	uint32_t async_reported;
};

struct qp {
	struct rnic_qp *rnic;
	struct device *device;
	uint32_t max_send_sge, max_recv_sge, max_inline;
	struct object object;
	bool extended; /**< created with send_ops_flags */
	uint32_t async_reported;
	struct ibv_qp_attr given;   /**< by ibv_modify_qp(), for queries alone; under ibv.mutex */
	struct rdmap_wqe *building; /**< by ibv_wr_*(): not committed yet */
	int build_error;            /**< the first since ibv_wr_start(), positive */
	bool begun;                 /**< between ibv_wr_start() and complete or abort */
	/** The end of it is there for extended QPs only. */
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex;
	};
};

static inline struct qp *qp_of(const struct ibv_qp *ibv)
{
	return container_of(ibv, struct qp, ibv);
}

static inline struct device *device_of(struct ibv_context *context)
{
	return (struct device *)(void *)context->device;
}

static inline struct context *context_of(struct ibv_context *context)
{
	return (struct context *)(void *)context;
}

#define OBJECT_OF(type, p) ((struct type *)(void *)(p))

/** NULL with errno, for the verbs that answer so. */
static inline void *fail_null(int error)
{
	errno = error;
	return NULL;
}

/** A negative errno to the positive one of verbs; errno is set too. */
static inline int fail_errno(int rc)
{
	if (rc == 0)
		return 0;
	errno = -rc;
	return -rc;
}

/* ---- device.c ---------------------------------------------------------------------------- */

/** A device that has no stack yet. @param d zeros. */
void device_init(struct device *d, const struct device_source *source, const char *name,
	const struct provider_host *host);

/** May be another than before in a child after fork(). */
void device_set_name(struct device *d, const char *name);

/** For device_source.start(): the stack that it has from now on. */
void device_attach(struct device *d, struct stack *s);

/**
 * What comes next needs more than the configuration.
 * @return 0: d->stack and d->rnic are there; -ENODEV: they cannot be had.
 */
static inline int device_start(struct device *d)
{
	return atomic_load_explicit(&d->started, memory_order_acquire) ? 0 : d->source->start(d);
}

/** The node GUID in network byte order, the same before and after the start; 0: no slot is left. */
uint64_t device_guid(struct device *d);

/** Log once that the program wants @p what ("UD queue pairs"), which iWARP does not have. */
void device_has_no(struct device *d, const char *what);
__be64 device_get_guid(struct ibv_device *device);
/** In a child after fork(), which has one thread: from now on everything answers ENODEV. */
void device_orphan(struct device *d);

/**
 * The same where nothing was started: the child has the device, and what contexts are open, for
 * itself.
 */
void device_inherit(struct device *d);

struct ibv_context *device_open(struct ibv_device *device);

/** Never fails. What is left of the context's objects ends: see struct context. */
int device_close(struct ibv_context *context);

/* ---- context.c ---------------------------------------------------------------------------- */

/** Then nothing new is made with it: such calls are ENODEV. */
static inline bool context_is_closed(struct ibv_context *c)
{
	return atomic_load_explicit(&context_of(c)->closed, memory_order_acquire);
}

/** Something is about to be made with it. @return 0; -ENODEV: closed, or there is no stack. */
static inline int context_use(struct ibv_context *c)
{
	return context_is_closed(c) ? -ENODEV : device_start(device_of(c));
}

/** It stays there, closed or not, until context_put(). The last one out frees it. */
static inline void context_hold(struct ibv_context *c)
{
	atomic_fetch_add_explicit(&context_of(c)->refs, 1, memory_order_relaxed);
}

void context_put(struct ibv_context *context);

/** An object was made: the context knows it, and is held by it. */
void context_add(struct ibv_context *context, struct object *o, enum object_kind kind);

/**
 * The program destroys it: closing the context touches it no more. context_put() follows when
 * it is gone, or context_restore() when it could not be destroyed.
 */
void context_withdraw(struct ibv_context *context, struct object *o);
void context_restore(struct ibv_context *context, struct object *o);

/** Count an object in or out of its protection domain. */
static inline void pd_hold(struct ibv_pd *pd)
{
	atomic_fetch_add_explicit(&OBJECT_OF(pd, pd)->users, 1, memory_order_relaxed);
}

static inline void pd_put(struct ibv_pd *pd)
{
	atomic_fetch_sub_explicit(&OBJECT_OF(pd, pd)->users, 1, memory_order_release);
}

/* ---- mailbox.c ---------------------------------------------------------------------------- */

/** @return 0 or a negative errno. */
int mailbox_open(struct mailbox *m);
/**
 * In a child after fork() the descriptor is its parent's as well: give the same number a counter of
 * its own. @return 0, or a negative errno: it still is the parent's.
 */
int mailbox_inherit(struct mailbox *m);
/** Close its descriptor, when the last waiter is gone; a waiter does not notice by itself. */
void mailbox_close(struct mailbox *m);
void mailbox_fini(struct mailbox *m);
/** Add one token: the descriptor turns readable. Never blocks. */
void mailbox_post(struct mailbox *m);
/**
 * Take one token, waiting as the descriptor's O_NONBLOCK says; a cancellation point.
 * @return 0 or -errno; -EBADF: closed.
 */
int mailbox_wait(struct mailbox *m);
/** Nothing comes any more: all waiters, now and later, get -EIO. */
void mailbox_end(struct mailbox *m);
/** Take @p n tokens back, without waiting. */
void mailbox_retract(struct mailbox *m, unsigned n);

/* ---- async.c ------------------------------------------------------------------------------ */

/** The RNIC's event handler. @p arg is the device. */
void async_event(void *arg, const struct rnic_event *ev);
int async_get(struct ibv_context *context, struct ibv_async_event *event);
/** Drop the unread events of an object that is being destroyed: it is known by its counter. */
void async_forget(struct ibv_context *context, const uint32_t *reported);
/** The context is closed: drop what is unread, and what comes; wake the waiters. */
void async_end(struct context *c);

/* ---- query.c ------------------------------------------------------------------------------ */

int query_device(struct ibv_context *context, struct ibv_device_attr *attr);
int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
	struct ibv_device_attr_ex *attr, size_t attr_size);
int query_port(
	struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr, size_t attr_len);
int query_port_compat(
	struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr);
int query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *speed);
int query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);
int query_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey);
/** The device's clock: nanoseconds of CLOCK_MONOTONIC. */
int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* ---- gid.c -------------------------------------------------------------------------------- */

unsigned gid_count(const struct device *d);

/** The address that a GID stands for. @return 0; -EINVAL: there is none. */
int gid_address(const struct device *d, unsigned index, struct ip_addr *out);

int query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);
int query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
	struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);
ssize_t query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
	size_t max_entries, uint32_t flags, size_t entry_size);
int query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned index, int *type);

/* ---- pd_mr.c ------------------------------------------------------------------------------ */

struct ibv_pd *pd_alloc(struct ibv_context *context);
int pd_dealloc(struct ibv_pd *pd);
struct ibv_mr *mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access);
int mr_rereg(
	struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access);
int mr_dereg(struct ibv_mr *mr);
struct ibv_mr *mr_alloc_null(struct ibv_pd *pd);
int mr_advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
	struct ibv_sge *sg_list, uint32_t num_sge);

/* ---- memory.c ----------------------------------------------------------------------------- */

/**
 * The program's memory for a region: all of it is mapped, and writable if it must be. Up to some
 * size its pages are there afterwards. @return 0, -EINVAL: it wraps, -EFAULT, -EAGAIN.
 */
int memory_verify(const void *addr, size_t len, bool write);

/** The pages of [addr, addr + len) are there, or are now. For what is registered on demand. */
bool memory_page_in(const void *addr, size_t len, bool write);

/* ---- domain.c ----------------------------------------------------------------------------- */

struct ibv_td *td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr);
int td_dealloc(struct ibv_td *td);
struct ibv_pd *parent_domain_alloc(
	struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);
/** A parent domain that nobody uses lets go of what it was made of. */
void parent_domain_leave(struct pd *pd);

/* ---- mw.c --------------------------------------------------------------------------------- */

struct ibv_mw *mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type);
int mw_dealloc(struct ibv_mw *mw);

/* ---- cq.c, poll.c ------------------------------------------------------------------------- */

struct ibv_comp_channel *channel_create(struct ibv_context *context);
int channel_destroy(struct ibv_comp_channel *channel);
int channel_get_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
struct ibv_cq *cq_create(struct ibv_context *context, int cqe, void *cq_context,
	struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
int cq_modify(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int cq_resize(struct ibv_cq *cq, int cqe);
int cq_destroy(struct ibv_cq *cq);
int cq_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int cq_request_notify(struct ibv_cq *cq, int solicited_only);
/** Fill the table of an extended CQ. */
void cq_set_poll_ops(struct cq *cq);

/* ---- srq.c -------------------------------------------------------------------------------- */

struct ibv_srq *srq_create(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int srq_modify(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int srq_query(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int srq_destroy(struct ibv_srq *srq);

/* ---- qp.c, qp_attr.c ---------------------------------------------------------------------- */

struct ibv_qp *qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int qp_query(
	struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr);
int qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
int qp_destroy(struct ibv_qp *qp);
struct ibv_qp_ex *qp_to_ex(struct ibv_qp *qp);

/* ---- path.c ------------------------------------------------------------------------------- */

/**
 * Add what a program says that connects its QP itself.
 * @param[in,out] what RNIC_QP_*. @return 0; -EINVAL: no GRH, or no such GID of ours.
 */
int path_translate(const struct device *d, const struct ibv_qp_attr *a, int mask,
	struct rnic_qp_attr *to, unsigned *what);

/* ---- post.c, wr_api.c --------------------------------------------------------------------- */

int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
/** ibv_bind_mw(): windows of type 1. */
int post_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/** The operations that ibv_wr_*() can build here. */
#define WR_API_OPS                                                                              \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
		IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                  \
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |                \
		IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_BIND_MW)
void wr_api_set_ops(struct qp *qp);

#endif
