/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libibverbs.so.1 with two devices. With STUB_OLD it is one of long ago, which has little more
 * than its device list.
 */
#include "unit/provider/newer.h"
#include "unit/provider/stub/stub.h"

#include <stdlib.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static struct stub it;
static struct ibv_device devices[2] = {{.name = "real0"}, {.name = "real1"}};

struct stub *stub_verbs(void)
{
	return &it;
}

STUB_EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(3, sizeof *list);

	it.calls++;
	it.name = "ibv_get_device_list";
	list[0] = &devices[0];
	list[1] = &devices[1];
	if (num != NULL)
		*num = 2;
	return list;
}

STUB_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	it.calls++;
	it.name = "ibv_free_device_list";
	free(list);
}

/* One that nobody stands in front of. */
STUB_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

#ifndef STUB_OLD

#define V(type, name, params, ...) \
	STUB(&it, STUB_EXPORT, type, STUB_VERBS_ANSWER, name, params, __VA_ARGS__)

typedef struct ibv_pd *pd_p;
typedef struct ibv_mr *mr_p;
typedef struct ibv_cq *cq_p;
typedef struct ibv_qp *qp_p;
typedef struct ibv_qp_ex *qp_ex_p;
typedef struct ibv_srq *srq_p;
typedef struct ibv_ah *ah_p;
typedef struct ibv_dm *dm_p;
typedef struct ibv_dmah *dmah_p;
typedef struct ibv_comp_cntr *cntr_p;
typedef struct ibv_context *context_p;
typedef struct ibv_comp_channel *channel_p;

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned index, int *type);

V(__be64, ibv_get_device_guid, (struct ibv_device * d), A(d))
V(int, ibv_get_device_index, (struct ibv_device * d), A(d))
V(context_p, ibv_open_device, (struct ibv_device * d), A(d))
V(int, ibv_close_device, (context_p c), A(c))
V(int, ibv_get_async_event, (context_p c, struct ibv_async_event *e), A(c), A(e))
V(int, ibv_query_device, (context_p c, struct ibv_device_attr *a), A(c), A(a))
V(int, ibv_query_port, (context_p c, uint8_t p, struct _compat_ibv_port_attr *a), A(c), A(p), A(a))
V(int, ibv_query_gid, (context_p c, uint8_t p, int i, union ibv_gid *g), A(c), A(p), A(i), A(g))
V(int, ibv_query_pkey, (context_p c, uint8_t p, int i, __be16 *k), A(c), A(p), A(i), A(k))
V(int, ibv_get_pkey_index, (context_p c, uint8_t p, __be16 k), A(c), A(p), A(k))
V(int, _ibv_query_gid_ex,
	(context_p c, uint32_t p, uint32_t i, struct ibv_gid_entry *e, uint32_t f, size_t s), A(c),
	A(p), A(i), A(e), A(f), A(s))
V(ssize_t, _ibv_query_gid_table,
	(context_p c, struct ibv_gid_entry *e, size_t m, uint32_t f, size_t s), A(c), A(e), A(m),
	A(f), A(s))
V(int, ibv_query_gid_type, (context_p c, uint8_t p, unsigned i, int *t), A(c), A(p), A(i), A(t))
V(pd_p, ibv_alloc_pd, (context_p c), A(c))
V(int, ibv_dealloc_pd, (pd_p p), A(p))
V(int, ibv_rereg_mr, (mr_p m, int f, pd_p p, void *a, size_t l, int x), A(m), A(f), A(p), A(a),
	A(l), A(x))
V(int, ibv_dereg_mr, (mr_p m), A(m))
V(mr_p, ibv_reg_mr, (pd_p p, void *a, size_t l, int x), A(p), A(a), A(l), A(x))
V(mr_p, ibv_reg_mr_iova, (pd_p p, void *a, size_t l, uint64_t v, int x), A(p), A(a), A(l), A(v),
	A(x))
V(mr_p, ibv_reg_mr_iova2, (pd_p p, void *a, size_t l, uint64_t v, unsigned x), A(p), A(a), A(l),
	A(v), A(x))
V(mr_p, ibv_reg_dmabuf_mr, (pd_p p, uint64_t o, size_t l, uint64_t v, int fd, int x), A(p), A(o),
	A(l), A(v), A(fd), A(x))
V(mr_p, ibv_import_mr, (pd_p p, uint32_t h), A(p), A(h))
V(pd_p, ibv_import_pd, (context_p c, uint32_t h), A(c), A(h))
V(dm_p, ibv_import_dm, (context_p c, uint32_t h), A(c), A(h))
V(channel_p, ibv_create_comp_channel, (context_p c), A(c))
V(int, ibv_destroy_comp_channel, (channel_p c), A(c))
V(int, ibv_get_cq_event, (channel_p c, cq_p *q, void **x), A(c), A(q), A(x))
V(cq_p, ibv_create_cq, (context_p c, int n, void *x, channel_p ch, int v), A(c), A(n), A(x), A(ch),
	A(v))
V(int, ibv_resize_cq, (cq_p q, int n), A(q), A(n))
V(int, ibv_destroy_cq, (cq_p q), A(q))
V(srq_p, ibv_create_srq, (pd_p p, struct ibv_srq_init_attr *a), A(p), A(a))
V(int, ibv_modify_srq, (srq_p s, struct ibv_srq_attr *a, int m), A(s), A(a), A(m))
V(int, ibv_query_srq, (srq_p s, struct ibv_srq_attr *a), A(s), A(a))
V(int, ibv_destroy_srq, (srq_p s), A(s))
V(qp_p, ibv_create_qp, (pd_p p, struct ibv_qp_init_attr *a), A(p), A(a))
V(int, ibv_modify_qp, (qp_p q, struct ibv_qp_attr *a, int m), A(q), A(a), A(m))
V(int, ibv_query_qp, (qp_p q, struct ibv_qp_attr *a, int m, struct ibv_qp_init_attr *i), A(q), A(a),
	A(m), A(i))
V(int, ibv_query_qp_data_in_order, (qp_p q, enum ibv_wr_opcode o, uint32_t f), A(q), A(o), A(f))
V(int, ibv_destroy_qp, (qp_p q), A(q))
V(qp_ex_p, ibv_qp_to_qp_ex, (qp_p q), A(q))
V(ah_p, ibv_create_ah, (pd_p p, struct ibv_ah_attr *a), A(p), A(a))
V(ah_p, ibv_create_ah_from_wc, (pd_p p, struct ibv_wc *w, struct ibv_grh *g, uint8_t n), A(p), A(w),
	A(g), A(n))
V(int, ibv_destroy_ah, (ah_p a), A(a))
V(int, ibv_init_ah_from_wc,
	(context_p c, uint8_t p, struct ibv_wc *w, struct ibv_grh *g, struct ibv_ah_attr *a), A(c),
	A(p), A(w), A(g), A(a))
V(int, ibv_resolve_eth_l2_from_gid,
	(context_p c, struct ibv_ah_attr *a, uint8_t m[ETHERNET_LL_SIZE], uint16_t *v), A(c), A(a),
	A(m), A(v))
V(int, ibv_attach_mcast, (qp_p q, const union ibv_gid *g, uint16_t l), A(q), A(g), A(l))
V(int, ibv_detach_mcast, (qp_p q, const union ibv_gid *g, uint16_t l), A(q), A(g), A(l))
V(int, ibv_set_ece, (qp_p q, struct ibv_ece *e), A(q), A(e))
V(int, ibv_query_ece, (qp_p q, struct ibv_ece *e), A(q), A(e))
V(int, ibv_query_port_speed, (context_p c, uint32_t p, uint64_t *s), A(c), A(p), A(s))
V(dmah_p, ibv_alloc_dmah, (context_p c, void *a), A(c), A(a))
V(int, _ibv_query_comp_cntr_caps, (context_p c, void *a, size_t s), A(c), A(a), A(s))
V(cntr_p, ibv_create_comp_cntr, (context_p c, void *a), A(c), A(a))
V(int, ibv_qp_attach_comp_cntr, (qp_p q, cntr_p n, void *a), A(q), A(n), A(a))

#endif
