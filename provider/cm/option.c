/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/option.h"

#include <errno.h>

static int set_tos(struct ucma_call *c, const void *value)
{
	memcpy(&c->id->tos, value, sizeof c->id->tos);
	return 0;
}

static int get_bool(const void *value)
{
	int v;

	memcpy(&v, value, sizeof v);
	return v != 0;
}

/* The kernel's rdma_set_reuseaddr(): a bound one may still change its mind, a listener not. */
static int set_reuse(struct ucma_call *c, const void *value)
{
	bool reuse = get_bool(value);

	if (ucma_state(c) != UCMA_IDLE && (!reuse || ucma_state(c) == UCMA_LISTEN))
		return -EINVAL;
	c->id->reuse = reuse;
	return 0;
}

static int set_v6only(struct ucma_call *c, const void *value)
{
	if (ucma_state(c) != UCMA_IDLE && ucma_state(c) != UCMA_ADDR_BOUND)
		return -EINVAL;
	c->id->v6only = get_bool(value);
	return 0;
}

/* The local ACK timeout of an IB QP. TCP's own takes its place. */
static int set_ack_timeout(struct ucma_call *c, const void *value)
{
	return 0;
}

static const struct {
	int (*set)(struct ucma_call *c, const void *value);
	size_t size;
} options[] = {
	[RDMA_OPTION_ID_TOS] = {set_tos, sizeof(uint8_t)},
	[RDMA_OPTION_ID_REUSEADDR] = {set_reuse, sizeof(int)},
	[RDMA_OPTION_ID_AFONLY] = {set_v6only, sizeof(int)},
	[RDMA_OPTION_ID_ACK_TIMEOUT] = {set_ack_timeout, sizeof(uint8_t)},
};

int ucma_set_option(struct ucma_call *c)
{
	const struct rdma_ucm_set_option *q = &c->cmd.set_option;

	if (q->level == RDMA_OPTION_IB)
		return q->optname == RDMA_OPTION_IB_PATH ? -EINVAL : -ENOSYS;
	if (q->level != RDMA_OPTION_ID || q->optname >= sizeof options / sizeof options[0])
		return -ENOSYS;
	if (q->optlen != options[q->optname].size)
		return -EINVAL;
	if (!q->optval)
		return -EFAULT;
	return options[q->optname].set(c, (const void *)(uintptr_t)q->optval);
}
