/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/ep_fake.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct rnic_ep {
	rnic_ep_event_fn *fn;
	void *context;
	struct rnic_ep *listener;  /**< of a request that nobody adopted */
	TAILQ_ENTRY(rnic_ep) link; /**< of its listener's requests */
	TAILQ_HEAD(, rnic_ep) requests;
	struct ip_endpoint local, remote;
	bool device;
};

struct ep_fake ep_fake;
static char the_rnic;
static struct engine the_engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ep_fake_reset(void)
{
	assert(ep_fake.live == 0);
	memset(&ep_fake, 0, sizeof ep_fake);
}

struct rnic *ep_fake_rnic(void)
{
	return (void *)&the_rnic;
}

struct engine *rnic_engine(struct rnic *r)
{
	return &the_engine;
}

void engine_lock(struct engine *e)
{
	pthread_mutex_lock(&e->lock);
}

void engine_unlock(struct engine *e)
{
	struct engine_doorbell *d = atomic_exchange(&e->wakeups, NULL);

	pthread_mutex_unlock(&e->lock);
	if (d)
		d->serve(d);
}

/** There is one, of one ucma. */
void engine_wake_after(struct engine *e, struct engine_doorbell *d)
{
	atomic_store(&e->wakeups, d);
}

int engine_drive(struct engine *e)
{
	struct rnic_ep *ep = atomic_exchange(&ep_fake.drive_emits, NULL);

	ep_fake.drives++;
	if (ep)
		ep_fake_emit(ep, RNIC_EP_ADDR_RESOLVED, 0);
	if (ep_fake.on_drive)
		ep_fake.on_drive();
	return 0;
}

void engine_hand_over(struct engine *e)
{
	ep_fake.handed_over++;
	if (ep_fake.on_hand_over)
		ep_fake.on_hand_over();
}

static int fail(void)
{
	int err = ep_fake.fail;

	ep_fake.fail = 0;
	return err;
}

static struct rnic_ep *ep_new(void)
{
	struct rnic_ep *ep = calloc(1, sizeof *ep);

	TAILQ_INIT(&ep->requests);
	ep_fake.live++;
	ep_fake.last = ep;
	return ep;
}

int rnic_ep_create(struct rnic *r, rnic_ep_event_fn *fn, void *context, struct rnic_ep **out)
{
	int err;

	engine_lock(&the_engine);
	err = fail();
	if (!err) {
		*out = ep_new();
		(*out)->fn = fn;
		(*out)->context = context;
	}
	engine_unlock(&the_engine);
	return err;
}

int rnic_ep_create_ud(struct rnic *r, rnic_ep_event_fn *fn, void *context, struct rnic_ep **out)
{
	int err = ep_fake.has_ud ? rnic_ep_create(r, fn, context, out) : -EOPNOTSUPP;

	ep_fake.uds += !err;
	return err;
}

void rnic_ep_set_context(struct rnic_ep *ep, rnic_ep_event_fn *fn, void *context)
{
	engine_lock(&the_engine);
	if (ep->listener)
		TAILQ_REMOVE(&ep->listener->requests, ep, link);
	ep->listener = NULL;
	ep->fn = fn;
	ep->context = context;
	engine_unlock(&the_engine);
}

static void ep_free(struct rnic_ep *ep)
{
	if (ep_fake.last == ep)
		ep_fake.last = NULL;
	ep_fake.live--;
	free(ep);
}

void rnic_ep_destroy(struct rnic_ep *ep)
{
	struct rnic_ep *request;

	engine_lock(&the_engine);
	while ((request = TAILQ_FIRST(&ep->requests))) {
		TAILQ_REMOVE(&ep->requests, request, link);
		ep_free(request);
	}
	ep_free(ep);
	engine_unlock(&the_engine);
}

int rnic_ep_bind(struct rnic_ep *ep, const struct ip_endpoint *local, bool reuse, bool v6only)
{
	int err = fail();

	if (err)
		return err;
	ep_fake.bound = *local;
	ep_fake.reuse = reuse;
	ep_fake.v6only = v6only;
	ep->local = *local;
	if (!ep->local.port)
		ep->local.port = 40000;
	/* ip_addr_is_any() is not linked here: both forms end in four zero bytes. */
	ep->device = memcmp(local->addr.b + 12, (char[4]){0}, 4) != 0;
	return 0;
}

int rnic_ep_rebind(struct rnic_ep *ep, bool reuse, bool v6only)
{
	int err = fail();

	if (err)
		return err;
	ep_fake.reuse = reuse;
	ep_fake.v6only = v6only;
	return 0;
}

int rnic_ep_resolve(struct rnic_ep *ep, const struct ip_endpoint *remote, uint64_t patience)
{
	int err;

	engine_lock(&the_engine);
	err = fail();
	ep_fake.patience = patience;
	ep->remote = *remote;
	engine_unlock(&the_engine);
	if (err)
		return err;
	if (ep_fake.resolve_at_once)
		ep_fake_emit(ep, RNIC_EP_ADDR_RESOLVED, 0);
	return 0;
}

int rnic_ep_listen(struct rnic_ep *ep, unsigned backlog)
{
	int err = fail();

	if (err)
		return err;
	ep_fake.listens++;
	ep_fake.backlog = backlog;
	return 0;
}

static void note(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	ep_fake.last = ep;
	ep_fake.param = *p;
	ep_fake.param.private_data = ep_fake.private_data;
	ep_fake.private_len = p->private_len;
	memcpy(ep_fake.private_data, p->private_data, p->private_len);
}

/** There is one QP. Of UD none is named. */
static int fail_for(const struct rnic_conn_param *p)
{
	return p->qp_num && p->qp_num != EP_FAKE_QP_NUM ? -EINVAL : fail();
}

int rnic_ep_connect(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	int err = fail_for(p);

	if (err)
		return err;
	ep_fake.connects++;
	note(ep, p);
	return 0;
}

int rnic_ep_accept(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	int err = fail_for(p);

	if (err)
		return err;
	ep_fake.accepts++;
	note(ep, p);
	if (ep_fake.establish_at_once)
		ep_fake_emit(ep, RNIC_EP_ESTABLISHED, 0);
	return 0;
}

int rnic_ep_reject(struct rnic_ep *ep, const void *private_data, uint16_t len)
{
	int err = fail();

	if (err)
		return err;
	ep_fake.rejects++;
	ep_fake.private_len = len;
	if (len)
		memcpy(ep_fake.private_data, private_data, len);
	return 0;
}

int rnic_ep_disconnect(struct rnic_ep *ep)
{
	int err = fail();

	if (err)
		return err;
	ep_fake.disconnects++;
	return 0;
}

int rnic_ep_join(struct rnic_ep *ep, const struct ip_addr *group)
{
	int err = fail();

	if (err)
		return err;
	ep_fake.joined++;
	ep_fake.group = *group;
	return 0;
}

int rnic_ep_leave(struct rnic_ep *ep, const struct ip_addr *group)
{
	ep_fake.joined--;
	ep_fake.group = *group;
	return 0;
}

uint8_t rnic_ud_group_ttl(const struct rnic *r)
{
	return ep_fake.group_ttl;
}

void rnic_ep_addresses(
	const struct rnic_ep *ep, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	*local = ep->local;
	*remote = ep->remote;
}

bool rnic_ep_is_local(const struct rnic_ep *ep, const struct ip_addr *a)
{
	return false;
}

bool rnic_ep_has_scopes(const struct rnic_ep *ep)
{
	return ep_fake.has_scopes;
}

bool rnic_ep_has_device(const struct rnic_ep *ep)
{
	bool device;

	engine_lock(&the_engine);
	device = ep->device;
	engine_unlock(&the_engine);
	return device;
}

static void emit(struct rnic_ep *ep, const struct rnic_ep_event *ev)
{
	engine_lock(&the_engine);
	if (ev->type == RNIC_EP_ADDR_RESOLVED)
		ep->device = true;
	if (ep->fn)
		ep->fn(ev);
	engine_unlock(&the_engine);
}

void ep_fake_emit(struct rnic_ep *ep, enum rnic_ep_event_type type, int status)
{
	emit(ep, &(struct rnic_ep_event){
			 .type = type, .ep = ep, .context = ep->context, .status = status});
}

void ep_fake_emit_data(struct rnic_ep *ep, enum rnic_ep_event_type type, const void *data,
	uint16_t len, uint16_t ird, uint16_t ord)
{
	emit(ep, &(struct rnic_ep_event){.type = type,
			 .ep = ep,
			 .context = ep->context,
			 .private_data = data,
			 .private_len = len,
			 .ird = ird,
			 .ord = ord});
}

static struct ip_endpoint endpoint(const char *text, uint16_t port)
{
	struct ip_endpoint e = {.port = port};

	if (ip_addr_parse(text, &e.addr))
		abort();
	return e;
}

struct rnic_ep *ep_fake_request(struct rnic_ep *listener, const char *local, const char *remote,
	const void *data, uint16_t len)
{
	struct rnic_ep *ep = ep_new();
	bool refuse = false;

	ep->local = endpoint(local, 7174);
	ep->remote = endpoint(remote, 50000);
	ep->device = true;
	ep->listener = listener;
	TAILQ_INSERT_TAIL(&listener->requests, ep, link);
	emit(listener, &(struct rnic_ep_event){.type = RNIC_EP_CONNECT_REQUEST,
			       .ep = listener,
			       .context = listener->context,
			       .request = ep,
			       .refuse = &refuse,
			       .private_data = data,
			       .private_len = len,
			       .ird = 3,
			       .ord = 5});
	if (!refuse)
		return ep;
	TAILQ_REMOVE(&listener->requests, ep, link);
	ep_free(ep);
	return NULL;
}

void ep_fake_emit_ud(struct rnic_ep *ep, uint32_t qp, uint32_t qkey, const struct ip_addr *local,
	const struct ip_addr *remote, const void *data, uint16_t len)
{
	const struct rnic_ep_event ev = {.type = RNIC_EP_ESTABLISHED,
		.ep = ep,
		.context = ep->context,
		.ud_qp = qp,
		.ud_qkey = qkey,
		.ud_local = *local,
		.ud_remote = *remote,
		.private_data = data,
		.private_len = len};

	emit(ep, &ev);
}
