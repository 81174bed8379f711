/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/option.h"

#include <errno.h>
#include <infiniband/verbs.h>

static int ucma_set_tos(struct ucma_call *c, const void *value)
{
	memcpy(&c->id->tos, value, sizeof c->id->tos);
	return 0;
}

static int ucma_get_bool(const void *value)
{
	int v;

	memcpy(&v, value, sizeof v);
	return v != 0;
}

/* What an id is bound with may change up to listening; it stays as it was if that fails. */
static int ucma_bind_with(struct ucma_call *c, bool reuse, bool v6only)
{
	int err = 0;

	/* Of the loopback network nothing is bound below. */
	if (ucma_state(c) == UCMA_ADDR_BOUND && !c->id->loopback)
		err = rnic_ep_rebind(c->id->ep, reuse, v6only);
	if (err)
		return err;
	c->id->reuse = reuse;
	c->id->v6only = v6only;
	return 0;
}

/* The kernel's rdma_set_reuseaddr(): a bound one may still change its mind, a listener not. */
static int ucma_set_reuse(struct ucma_call *c, const void *value)
{
	bool reuse = ucma_get_bool(value);

	if (ucma_state(c) != UCMA_IDLE && (!reuse || ucma_state(c) == UCMA_LISTEN))
		return -EINVAL;
	return ucma_bind_with(c, reuse, c->id->v6only);
}

static int ucma_set_v6only(struct ucma_call *c, const void *value)
{
	if (ucma_state(c) != UCMA_IDLE && ucma_state(c) != UCMA_ADDR_BOUND)
		return -EINVAL;
	return ucma_bind_with(c, c->id->reuse, ucma_get_bool(value));
}

/* The local ACK timeout of an IB QP. TCP's own takes its place. */
static int ucma_set_ack_timeout(struct ucma_call *c, const void *value)
{
	return c->id->qp_type == IBV_QPT_RC ? 0 : -EINVAL;
}

static const struct {
	int (*set)(struct ucma_call *c, const void *value);
	size_t size;
} ucma_options[] = {
	[RDMA_OPTION_ID_TOS] = {ucma_set_tos, sizeof(uint8_t)},
	[RDMA_OPTION_ID_REUSEADDR] = {ucma_set_reuse, sizeof(int)},
	[RDMA_OPTION_ID_AFONLY] = {ucma_set_v6only, sizeof(int)},
	[RDMA_OPTION_ID_ACK_TIMEOUT] = {ucma_set_ack_timeout, sizeof(uint8_t)},
};

int ucma_set_option(struct ucma_call *c)
{
	const struct rdma_ucm_set_option *q = &c->cmd.set_option;

	if (q->optlen && !q->optval)
		return -EFAULT;
	if (q->level == RDMA_OPTION_IB)
		return q->optname == RDMA_OPTION_IB_PATH ? -EINVAL : -ENOSYS;
	if (q->level != RDMA_OPTION_ID ||
		q->optname >= sizeof ucma_options / sizeof ucma_options[0])
		return -ENOSYS;
	if (q->optlen != ucma_options[q->optname].size)
		return -EINVAL;
	return ucma_options[q->optname].set(c, (const void *)(uintptr_t)q->optval);
}
