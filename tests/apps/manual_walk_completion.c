/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels and queues. */
#include "manual_walk.h"

#include <fcntl.h>

static void walk_channels(void)
{
	int flags = fcntl(w.channel->fd, F_GETFL);
	struct ibv_cq *cq;
	void *context;

	INT("ibv_destroy_comp_channel", "with a CQ", ibv_destroy_comp_channel(w.channel), EBUSY);
	TRUE("ibv_create_comp_channel", "its context", w.channel->context == fx.context);
	fcntl(w.channel->fd, F_SETFL, flags | O_NONBLOCK);
	MINUS("ibv_get_cq_event", "none is there", ibv_get_cq_event(w.channel, &cq, &context),
		EAGAIN);
	fcntl(w.channel->fd, F_SETFL, flags);
	ibv_ack_cq_events(w.cq, 0);
	TRUE("ibv_ack_cq_events", "none", true);
}

static void walk_create(void)
{
	struct ibv_context *c = fx.context;

	NIL("ibv_create_cq", "no entries", ibv_create_cq(c, 0, NULL, NULL, 0), EINVAL);
	NIL("ibv_create_cq", "fewer", ibv_create_cq(c, -1, NULL, NULL, 0), EINVAL);
	NIL("ibv_create_cq", "too many", ibv_create_cq(c, w.attr.max_cqe + 1, NULL, NULL, 0),
		EINVAL);
	NIL("ibv_create_cq", "no such vector", ibv_create_cq(c, 1, NULL, NULL, c->num_comp_vectors),
		EINVAL);
	NIL("ibv_create_cq", "vector -1", ibv_create_cq(c, 1, NULL, NULL, -1), EINVAL);
	NIL("ibv_create_cq", "another context's channel",
		ibv_create_cq(c, 1, NULL, w.foreign_channel, 0), EINVAL);
	TRUE("ibv_create_cq", "at least as many", w.cq->cqe >= 16);
	INT("ibv_destroy_cq", "with a QP", ibv_destroy_cq(w.cq), EBUSY);
}

static void walk_create_ex(void)
{
	struct ibv_cq_init_attr_ex a = {.cqe = 1};
	struct ibv_poll_cq_attr odd = {.comp_mask = 1}, plain = {0};
	struct ibv_context *c = fx.context;
	struct ibv_cq_ex *cq;

	a.cqe = 0;
	NIL("ibv_create_cq_ex", "no entries", ibv_create_cq_ex(c, &a), EINVAL);
	a.cqe = 1;
	a.comp_vector = (uint32_t)c->num_comp_vectors;
	NIL("ibv_create_cq_ex", "no such vector", ibv_create_cq_ex(c, &a), EINVAL);
	a.comp_vector = 0;
	a.channel = w.foreign_channel;
	NIL("ibv_create_cq_ex", "another context's channel", ibv_create_cq_ex(c, &a), EINVAL);
	a.channel = NULL;
	a.comp_mask = 1 << 9;
	NIL("ibv_create_cq_ex", "unknown attribute", ibv_create_cq_ex(c, &a), EOPNOTSUPP);
	a.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	a.flags = 1 << 9;
	NIL("ibv_create_cq_ex", "unknown flag", ibv_create_cq_ex(c, &a), EOPNOTSUPP);
	a.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	a.parent_domain = w.pd;
	NIL("ibv_create_cq_ex", "no parent domain", ibv_create_cq_ex(c, &a), EINVAL);
	a.comp_mask = 0;
	a.wc_flags = IBV_WC_EX_WITH_CVLAN;
	NIL("ibv_create_cq_ex", "VLANs", ibv_create_cq_ex(c, &a), EOPNOTSUPP);
	a.wc_flags = IBV_WC_EX_WITH_FLOW_TAG;
	NIL("ibv_create_cq_ex", "flow tags", ibv_create_cq_ex(c, &a), EOPNOTSUPP);
	a.wc_flags = IBV_WC_EX_WITH_TM_INFO;
	NIL("ibv_create_cq_ex", "tag matching", ibv_create_cq_ex(c, &a), EOPNOTSUPP);
	a.wc_flags = 0;
	cq = ibv_create_cq_ex(c, &a);
	INT("ibv_create_cq_ex", "nothing to poll", ibv_start_poll(cq, &plain), ENOENT);
	INT("ibv_create_cq_ex", "unknown poll attribute", ibv_start_poll(cq, &odd), EINVAL);
	INT("ibv_destroy_cq", "an extended one", ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

static void walk_use(void)
{
	struct ibv_modify_cq_attr m = {.attr_mask = 1 << 9};
	struct ibv_wc wc;

	INT("ibv_resize_cq", "no entries", ibv_resize_cq(w.cq, 0), EINVAL);
	INT("ibv_resize_cq", "fewer", ibv_resize_cq(w.cq, -5), EINVAL);
	INT("ibv_resize_cq", "too many", ibv_resize_cq(w.cq, w.attr.max_cqe + 1), EINVAL);
	INT("ibv_resize_cq", "plain", ibv_resize_cq(w.cq, 32), 0);
	TRUE("ibv_resize_cq", "at least as many", w.cq->cqe >= 32);
	INT("ibv_modify_cq", "unknown attribute", ibv_modify_cq(w.cq, &m), EOPNOTSUPP);
	m.attr_mask = IBV_CQ_ATTR_MODERATE;
	INT("ibv_modify_cq", "plain", ibv_modify_cq(w.cq, &m), 0);
	INT("ibv_req_notify_cq", "solicited", ibv_req_notify_cq(w.cq, 1), 0);
	INT("ibv_req_notify_cq", "any", ibv_req_notify_cq(w.cq, 0), 0);
	INT("ibv_poll_cq", "nothing there", ibv_poll_cq(w.cq, 1, &wc), 0);
	INT("ibv_poll_cq", "nothing wanted", ibv_poll_cq(w.cq, 0, &wc), 0);
}

void walk_completion(void **state)
{
	walk_channels();
	walk_create();
	walk_create_ex();
	walk_use();
}
