/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file objects.h
 * The verbs objects of our device. Each begins with the public structure of <infiniband/verbs.h>,
 * followed by our own members.
 *
 * Locks, in this order: a context's objects_lock, the engine's, then device.lock, then a channel's
 * or a context's async lock. The RNIC's upcalls (completions, events) come under the engine's lock
 * and take only later ones.
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

/** Direct-verbs libraries read their own fields behind any ibv_device. They find zeros. */
#define DEVICE_ZEROS 4096

struct context;
struct device;

/** How a device gets its stack, which is started on demand. Any thread. Keeps errno. */
struct device_source {
	/**
	 * Start the stack, once, and device_attach() it.
	 * @return 0, or -ENODEV: it does not start, which was reported on stderr the first time.
	 */
	int (*start)(struct device *d);
	/** Set the device's name and GUID. It may take a slot. @return as above. */
	int (*identify)(struct device *d);
};

struct device {
	struct ibv_device ibv;
	uint8_t zeros[DEVICE_ZEROS];
	const struct device_source *source;
	const struct provider_host *host;
	_Atomic uint64_t guid; /**< network byte order; 0: not set yet */
	_Atomic bool started;  /**< the members below are set; true if there is any object */
	struct stack *stack;
	struct rnic *rnic;
	uint8_t mac[6];
	_Atomic bool told;    /**< device_has_no() has logged its line */
	_Atomic bool orphan;  /**< a child after fork(): all verbs fail with ENODEV */
	pthread_mutex_t lock; /**< contexts */
	LIST_HEAD(, context) contexts;
	_Atomic uint32_t ahs; /**< address handles, at most AH_MAX */
};

/** Counts the items of a queue in a pollable descriptor: one token for each. */
struct mailbox {
	pthread_mutex_t lock;
	int fd;                        /**< EFD_SEMAPHORE eventfd */
	uint64_t due;                  /**< tokens that are added when the engine is free */
	struct engine_doorbell wakeup; /**< does it */
	unsigned owed; /**< tokens that threads have taken for what is gone: they find nothing */
	_Atomic unsigned users; /**< 1 until it is closed, plus 1 for each waiting thread */
	_Atomic bool ended;     /**< threads that wait, now or later, get -EIO */
	/** When exit() began, by exit_clock(): nobody sleeps any more. Else 0. */
	_Atomic uint64_t left;
};

/**
 * The asynchronous events of an object, or of the port and the device as a context has them. It is
 * part of that, with room for eight: none is lost where memory is short. Behind eight that are
 * unread, the oldest that has come again since is not told. Under the context's async lock.
 */
struct async_source {
	STAILQ_ENTRY(async_source) link; /**< in context.events, when some are unread */
	uint32_t reported;               /**< events that were read */
	uint32_t unread; /**< enum rnic_event_type + 1 of each, 4 bits, the oldest lowest */
};

/** The kinds of objects, in the order in which closing a context ends them. */
enum object_kind {
	OBJECT_QP,
	OBJECT_MW,
	OBJECT_MR,
	OBJECT_CHANNEL,
	OBJECT_OTHER,
};

/** An object in the list of its context. */
struct object {
	LIST_ENTRY(object) link;
	enum object_kind kind;
};

/**
 * An open device. If the program closes it while objects are left, they end as with the kernel's
 * file: connections are reset, and memory is out of reach. Their structures and the context stay
 * until the program has destroyed the last object.
 */
struct context {
	struct ibv_context ibv; /**< the end of the library's verbs_context */
	struct device *device;
	void *block; /**< the allocation: verbs_context grows at its front */
	struct verbs_context *head;
	LIST_ENTRY(context) link;
	struct mailbox async;
	STAILQ_HEAD(, async_source) events;
	struct async_source own_events; /**< of the port and the device */
	pthread_mutex_t objects_lock;
	LIST_HEAD(, object) objects;
	/**
	 * 1 until it is closed, plus 1 for each object and for each thread that waits for an event.
	 */
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
	_Atomic unsigned users; /**< objects made with it, parent domains included */
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

/** Address handles of a device. */
#define AH_MAX 65536

struct ah {
	struct ibv_ah ibv;
	struct object object;
	struct rnic_ud_to to; /**< but for the Q_Key, which requests have */
};

struct cq;

struct channel {
	struct ibv_comp_channel ibv;
	struct object object;
	struct mailbox box;
	TAILQ_HEAD(, cq) ready; /**< CQs with unread events */
	/** 1 until it is destroyed, plus 1 for each thread that waits for an event. */
	_Atomic unsigned refs;
};

struct cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex;
	};
	struct object object;
	struct rnic_cq *rnic;
	TAILQ_ENTRY(cq) link;   /**< in channel.ready, when unread > 0 */
	uint32_t unread;        /**< events written; under the channel's lock */
	uint32_t comp_reported; /**< events read; under the channel's lock */
	struct async_source async;
	struct pd *domain; /**< the parent domain that it was created with, or NULL */
	bool timed;        /**< its completions have times */
	/** From ibv_start_poll() to ibv_end_poll(): what is read meanwhile is of one thread. */
	pthread_mutex_t polling;
	bool single_threaded; /**< polling is not taken */
	/** The first empty poll after exit() began, in ns; [1]: on the thread that runs it. */
	_Atomic uint64_t first_empty[2];
	_Atomic uint32_t empty; /**< such polls on that thread */
	uint64_t time;          /**< of wc, on the device's clock */
	struct ibv_wc wc;       /**< the completion that ibv_wc_read_*() read */
};

struct srq {
	struct ibv_srq ibv;
	struct object object;
	struct rnic_srq *rnic;
	uint32_t max_sge;
	struct async_source async;
};

/** What was given by ibv_modify_qp(), and iWARP has no use for: kept for queries alone. */
struct qp_given {
	struct ibv_ah_attr ah_attr;
	uint32_t dest_qp_num, rq_psn, sq_psn, qkey;
	uint8_t path_mtu; /**< enum ibv_mtu; 0: not given */
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	bool en_sqd_async_notify;
};

struct qp {
	struct rnic_qp *rnic;
	struct device *device;
	uint16_t max_send_sge, max_recv_sge;
	uint32_t max_inline;
	bool ud;         /**< IBV_QPT_UD */
	bool extended;   /**< created with send_ops_flags */
	bool begun;      /**< between ibv_wr_start() and complete or abort */
	int build_error; /**< the first since ibv_wr_start(), positive */
	struct object object;
	struct async_source async;
	struct qp_given given;      /**< under ibv.mutex */
	struct rdmap_wqe *building; /**< by ibv_wr_*(): not committed yet */
	/** Only extended QPs have memory for all of ex. */
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

/** Set errno, and return NULL. */
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

/** Initialise a device that has no stack yet. @param d zeroed. */
void device_init(struct device *d, const struct device_source *source, const char *name,
	const struct provider_host *host);

/** Change the name, as in a child after fork(). */
void device_set_name(struct device *d, const char *name);

/** For device_source.start(): set the stack. */
void device_attach(struct device *d, struct stack *s);

/** Start the stack if necessary. @return 0: d->stack and d->rnic are set; -ENODEV: it failed. */
static inline int device_start(struct device *d)
{
	return atomic_load_explicit(&d->started, memory_order_acquire) ? 0 : d->source->start(d);
}

/** The node GUID in network byte order, the same before and after the start; 0: no slot is left. */
uint64_t device_guid(struct device *d);

/** Log, once, that the program asks for @p what ("UD queue pairs"), which iWARP does not have. */
void device_has_no(struct device *d, const char *what);
__be64 device_get_guid(struct ibv_device *device);
/** In a child after fork(), which has one thread: all verbs fail with ENODEV from now on. */
void device_orphan(struct device *d);

/**
 * In a child after fork(), if the stack was not started: the child has its own device and contexts.
 */
void device_inherit(struct device *d);

/** exit() has stopped the stack: threads that wait for events do not wait for ever. */
void device_leave(struct device *d);

struct ibv_context *device_open(struct ibv_device *device);

/** Close the context; see struct context. Never fails. */
int device_close(struct ibv_context *context);

/* ---- context.c ---------------------------------------------------------------------------- */

/** True if the context is closed. Then no object can be made with it. */
static inline bool context_is_closed(struct ibv_context *c)
{
	return atomic_load_explicit(&context_of(c)->closed, memory_order_acquire);
}

/**
 * An object is about to be made. @return 0; -ENODEV: the context is closed, or there is no stack.
 */
static inline int context_use(struct ibv_context *c)
{
	return context_is_closed(c) ? -ENODEV : device_start(device_of(c));
}

/** Take a reference. The last context_put() frees the context. */
static inline void context_hold(struct ibv_context *c)
{
	atomic_fetch_add_explicit(&context_of(c)->refs, 1, memory_order_relaxed);
}

void context_put(struct ibv_context *context);

/** An object was made: list it, and take a reference. */
void context_add(struct ibv_context *context, struct object *o, enum object_kind kind);

/**
 * The program destroys an object: remove it from the list, so that closing the context does not use
 * it. context_put() follows, or context_restore() if it could not be destroyed.
 */
void context_withdraw(struct ibv_context *context, struct object *o);
void context_restore(struct ibv_context *context, struct object *o);

/** Count the objects of a protection domain. */
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
 * In a child after fork(), which shares the descriptor with its parent: replace it by a new one of
 * the same number.
 * @return 0, or a negative errno: it is still shared.
 */
int mailbox_inherit(struct mailbox *m);
/** Close its descriptor, after the last waiter. Waiters are not woken. */
void mailbox_close(struct mailbox *m);
/** After engine_settle(), if a token was ever added under the engine's lock. */
void mailbox_fini(struct mailbox *m);
/**
 * Add one token: the descriptor becomes readable. Never blocks. With the mailbox's lock.
 * @param e NULL, or the engine, whose lock is held: the token is added when it is free. Who is
 *          woken would only wait for it else.
 */
void mailbox_post(struct mailbox *m, struct engine *e);
/** Of mailbox_wait(): exit() has begun, and nobody waits for a token any more. */
#define MAILBOX_NO_TOKEN 1
/**
 * Take one token. It waits unless the descriptor has O_NONBLOCK, and is a cancellation point.
 * @return 0 or MAILBOX_NO_TOKEN: mailbox_took() follows; -errno; -EBADF: closed.
 */
int mailbox_wait(struct mailbox *m);
/**
 * The thread has looked for its item. With the mailbox's lock.
 * @param waited what mailbox_wait() returned.
 * @param found it was there.
 */
void mailbox_took(struct mailbox *m, int waited, bool found);
/**
 * A thread has found nothing. A cancellation point.
 * @param fd the descriptor as the program knows it: ours may be closed by now.
 * @return 0: mailbox_wait() is next; else exit_wait()'s errors: exit() has begun.
 */
int mailbox_wait_again(struct mailbox *m, int fd);
/** exit() has begun: no thread waits for ever. Those that sleep are woken. */
void mailbox_leave_to_exit(struct mailbox *m);
/** No token comes any more: all waiters, now and later, get -EIO. */
void mailbox_end(struct mailbox *m);
/** @p n items are gone: remove their tokens, without waiting. With the mailbox's lock. */
void mailbox_retract(struct mailbox *m, unsigned n);

/* ---- async.c ------------------------------------------------------------------------------ */

/** The RNIC's event handler. @p arg is the device. */
void async_event(void *arg, const struct rnic_event *ev);
int async_get(struct ibv_context *context, struct ibv_async_event *event);
/** Drop the unread events of an object that is being destroyed. */
void async_forget(struct ibv_context *context, struct async_source *s);
/** The context is closed: drop unread and later events, and wake the waiters. */
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

/** The address of GID @p index. @return 0; -EINVAL: there is none. */
int gid_address(const struct device *d, unsigned index, struct ip_addr *out);

/** @return the index of our GID that is @p a; -1: none is. */
int gid_find(const struct device *d, const struct ip_addr *a);

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
 * Check that memory for a region is mapped, and writable if @p write. Up to some size, its pages
 * are also faulted in. @return 0, -EINVAL (it wraps), -EFAULT, -EAGAIN.
 */
int memory_verify(const void *addr, size_t len, bool write);

/** Fault in [addr, addr + len), which is registered on demand. @return false: not possible. */
bool memory_page_in(const void *addr, size_t len, bool write);

/* ---- domain.c ----------------------------------------------------------------------------- */

struct ibv_td *td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr);
int td_dealloc(struct ibv_td *td);
struct ibv_pd *parent_domain_alloc(
	struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);
/** Release the PD and thread domain of an unused parent domain. */
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

/* ---- ah.c --------------------------------------------------------------------------------- */

struct ibv_ah *ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr);
struct ibv_ah *ah_create_from_wc(
	struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num);
int ah_init_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
	struct ibv_grh *grh, struct ibv_ah_attr *attr);
int ah_destroy(struct ibv_ah *ah);
int mcast_attach(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int mcast_detach(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/** Aim a Send of a UD QP. */
static inline void ah_aim(
	struct rdmap_wqe *w, const struct ibv_ah *ibv, uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct rnic_ud_to to = OBJECT_OF(ah, ibv)->to;

	to.qkey = remote_qkey;
	w->remote_stag = remote_qpn;
	rnic_ud_aim(w, &to);
}

/** Has ah_aim() been called? No handle leads to the unspecified address. */
static inline bool ah_is_aimed(const struct rdmap_wqe *w)
{
	return w->local_arg[2] != 0 || w->local_arg[3] != 0;
}

/* ---- path.c ------------------------------------------------------------------------------- */

/**
 * Translate the attributes of a QP that connects without rdma_cm.
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
		IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_SEND_WITH_IMM |                   \
		IBV_QP_EX_WITH_BIND_MW)
/** Those of them that a UD QP takes. */
#define WR_API_UD_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
void wr_api_set_ops(struct qp *qp);

#endif
