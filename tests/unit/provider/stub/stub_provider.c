/* SPDX-License-Identifier: BSD-2-Clause */
/* A libuiwarp.so that does nothing. */
#include "provider/provider.h"
#include "unit/provider/stub/stub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct stub_provider it;
static const struct provider_host *host;
static struct ibv_device device = {.name = "uiw0"};

STUB_EXPORT struct stub_provider *stub_provider(void);

struct stub_provider *stub_provider(void)
{
	return &it;
}

static int start_is(const char *what)
{
	const char *how = getenv("STUB_START");

	return how != NULL && strcmp(how, what) == 0;
}

/* STUB_START: "reenter": call what the preloaded library hooks, as DPDK's drivers may. */
static void begin(void)
{
	host->enter();
	if (start_is("reenter")) {
		struct ibv_device **list = ibv_get_device_list(&it.reentered_devices);

		ibv_free_device_list(list);
		it.reentered_fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
		it.reentered_errno = errno;
	}
	it.begun = true;
	host->started();
	host->leave();
}

/* STUB_START: "fail"; "lazy": the stack begins with the first protection domain, and not here. */
static int start(const struct provider_host *shim, struct ibv_device **out)
{
	host = shim;
	it.starts++;
	errno = ERANGE;
	if (host->real_verbs("ibv_get_device_list") == NULL)
		return -ENOENT;
	if (start_is("fail")) {
		fprintf(stderr, "uiwarp: the stub fails\n");
		return -ENODEV;
	}
	if (!start_is("lazy"))
		begin();
	sem_init(&it.in_write, 0, 0);
	sem_init(&it.go, 0, 0);
	*out = &device;
	return 0;
}

#define P(type, name, params, ...) \
	STUB(&it.stub, static, type, STUB_PROVIDER_ANSWER, name, params, __VA_ARGS__)

typedef struct ibv_pd *pd_p;
typedef struct ibv_mr *mr_p;
typedef struct ibv_cq *cq_p;
typedef struct ibv_qp *qp_p;
typedef struct ibv_qp_ex *qp_ex_p;
typedef struct ibv_ah *ah_p;
typedef struct ibv_srq *srq_p;
typedef struct ibv_context *context_p;
typedef struct ibv_comp_channel *channel_p;

static void list(void)
{
}

static bool is_begun(void)
{
	return it.begun;
}

static unsigned addresses(struct provider_address *out, unsigned max)
{
	return 0;
}

static int cm_open(int flags)
{
	it.stub.calls++;
	it.stub.name = "cm_open";
	it.stub.args[0] = A(flags);
	if (it.open_as != 0)
		return it.open_as;
	return eventfd(
		0, (flags & O_CLOEXEC ? EFD_CLOEXEC : 0) | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));
}

static ssize_t cm_write(int fd, const void *buf, size_t n)
{
	it.stub.calls++;
	it.stub.name = "cm_write";
	it.stub.args[0] = A(fd);
	it.stub.args[1] = A(n);
	memcpy(it.written, buf, n < sizeof it.written ? n : sizeof it.written);
	if (it.write_waits) {
		sem_post(&it.in_write);
		sem_wait(&it.go);
	}
	errno = it.write_error;
	return it.write_error ? -1 : (ssize_t)n;
}

static void cm_close(int fd)
{
	it.stub.calls++;
	it.stub.name = "cm_close";
	it.stub.args[0] = A(fd);
}

P(__be64, get_device_guid, (struct ibv_device * d), A(d))
P(context_p, open_device, (struct ibv_device * d), A(d))
P(int, close_device, (context_p c), A(c))
P(int, get_async_event, (context_p c, struct ibv_async_event *e), A(c), A(e))
P(int, query_device, (context_p c, struct ibv_device_attr *a), A(c), A(a))
P(int, query_port, (context_p c, uint8_t p, struct _compat_ibv_port_attr *a), A(c), A(p), A(a))
P(int, query_port_speed, (context_p c, uint32_t p, uint64_t *s), A(c), A(p), A(s))
P(int, query_gid, (context_p c, uint8_t p, int i, union ibv_gid *g), A(c), A(p), A(i), A(g))
P(int, query_gid_ex,
	(context_p c, uint32_t p, uint32_t i, struct ibv_gid_entry *e, uint32_t f, size_t s), A(c),
	A(p), A(i), A(e), A(f), A(s))
P(ssize_t, query_gid_table, (context_p c, struct ibv_gid_entry *e, size_t m, uint32_t f, size_t s),
	A(c), A(e), A(m), A(f), A(s))
P(int, query_gid_type, (context_p c, uint8_t p, unsigned i, int *t), A(c), A(p), A(i), A(t))
P(int, query_pkey, (context_p c, uint8_t p, int i, __be16 *k), A(c), A(p), A(i), A(k))
P(int, get_pkey_index, (context_p c, uint8_t p, __be16 k), A(c), A(p), A(k))
P(pd_p, note_pd, (context_p c), A(c))
P(int, dealloc_pd, (pd_p p), A(p))
P(mr_p, reg_mr, (pd_p p, void *a, size_t l, uint64_t v, unsigned x), A(p), A(a), A(l), A(v), A(x))
P(int, rereg_mr, (mr_p m, int f, pd_p p, void *a, size_t l, int x), A(m), A(f), A(p), A(a), A(l),
	A(x))
P(int, dereg_mr, (mr_p m), A(m))
P(channel_p, create_comp_channel, (context_p c), A(c))
P(int, destroy_comp_channel, (channel_p c), A(c))
P(int, get_cq_event, (channel_p c, cq_p *q, void **x), A(c), A(q), A(x))
P(cq_p, create_cq, (context_p c, int n, void *x, channel_p ch, int v), A(c), A(n), A(x), A(ch),
	A(v))
P(int, resize_cq, (cq_p q, int n), A(q), A(n))
P(int, destroy_cq, (cq_p q), A(q))
P(srq_p, create_srq, (pd_p p, struct ibv_srq_init_attr *a), A(p), A(a))
P(int, modify_srq, (srq_p s, struct ibv_srq_attr *a, int m), A(s), A(a), A(m))
P(int, query_srq, (srq_p s, struct ibv_srq_attr *a), A(s), A(a))
P(int, destroy_srq, (srq_p s), A(s))
P(qp_p, create_qp, (pd_p p, struct ibv_qp_init_attr *a), A(p), A(a))
P(int, modify_qp, (qp_p q, struct ibv_qp_attr *a, int m), A(q), A(a), A(m))
P(int, query_qp, (qp_p q, struct ibv_qp_attr *a, int m, struct ibv_qp_init_attr *i), A(q), A(a),
	A(m), A(i))
P(int, query_qp_data_in_order, (qp_p q, enum ibv_wr_opcode o, uint32_t f), A(q), A(o), A(f))
P(int, destroy_qp, (qp_p q), A(q))
P(qp_ex_p, qp_to_qp_ex, (qp_p q), A(q))
P(ah_p, create_ah, (pd_p p, struct ibv_ah_attr *a), A(p), A(a))
P(ah_p, create_ah_from_wc, (pd_p p, struct ibv_wc *w, struct ibv_grh *g, uint8_t n), A(p), A(w),
	A(g), A(n))
P(int, init_ah_from_wc,
	(context_p c, uint8_t p, struct ibv_wc *w, struct ibv_grh *g, struct ibv_ah_attr *a), A(c),
	A(p), A(w), A(g), A(a))
P(int, destroy_ah, (ah_p a), A(a))
P(int, attach_mcast, (qp_p q, const union ibv_gid *g, uint16_t l), A(q), A(g), A(l))
P(int, detach_mcast, (qp_p q, const union ibv_gid *g, uint16_t l), A(q), A(g), A(l))

static pd_p alloc_pd(context_p c)
{
	pd_p pd = note_pd(c);

	it.stub.name = "alloc_pd";
	if (!it.begun)
		begin();
	return pd;
}

/* The process has no more time to tell its test in another way. */
static void before_end(void)
{
	if (write(STDOUT_FILENO, "told", 4) != 4)
		abort();
}

/* No fault is the stub's. */
static uintptr_t resume(uintptr_t pc)
{
	(void)pc;
	return 0;
}

static bool end_by(int sig)
{
	(void)sig;
	return false;
}

static const struct provider table = {
	.version = PROVIDER_VERSION,
	.start = start,
	.list = list,
	.is_begun = is_begun,
	.addresses = addresses,
	.before_end = before_end,
	.resume = resume,
	.end_by = end_by,
	.cm_open = cm_open,
	.cm_write = cm_write,
	.cm_close = cm_close,
	.get_device_guid = get_device_guid,
	.open_device = open_device,
	.close_device = close_device,
	.get_async_event = get_async_event,
	.query_device = query_device,
	.query_port = query_port,
	.query_port_speed = query_port_speed,
	.query_gid = query_gid,
	.query_gid_ex = query_gid_ex,
	.query_gid_table = query_gid_table,
	.query_gid_type = query_gid_type,
	.query_pkey = query_pkey,
	.get_pkey_index = get_pkey_index,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.reg_mr = reg_mr,
	.rereg_mr = rereg_mr,
	.dereg_mr = dereg_mr,
	.create_comp_channel = create_comp_channel,
	.destroy_comp_channel = destroy_comp_channel,
	.get_cq_event = get_cq_event,
	.create_cq = create_cq,
	.resize_cq = resize_cq,
	.destroy_cq = destroy_cq,
	.create_srq = create_srq,
	.modify_srq = modify_srq,
	.query_srq = query_srq,
	.destroy_srq = destroy_srq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.query_qp_data_in_order = query_qp_data_in_order,
	.destroy_qp = destroy_qp,
	.qp_to_qp_ex = qp_to_qp_ex,
	.create_ah = create_ah,
	.create_ah_from_wc = create_ah_from_wc,
	.init_ah_from_wc = init_ah_from_wc,
	.destroy_ah = destroy_ah,
	.attach_mcast = attach_mcast,
	.detach_mcast = detach_mcast,
};

/* The header of the table that the test's build has must be of the version that is asked for. */
STUB_EXPORT const struct provider *uiwarp_provider(uint32_t version)
{
	return version == PROVIDER_VERSION && !start_is("mismatch") ? &table : NULL;
}
