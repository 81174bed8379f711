/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/recv_wait.h"

#include "base/container_of.h"
#include "rnic/qp.h"

static struct timer_wheel *recv_wait_wheel_of(const struct rnic_qp *qp)
{
	return &qp->rnic->engine->wheel;
}

static bool recv_wait_has_recv(const struct rnic_qp *qp)
{
	return recv_queue_count(qp->srq ? &qp->srq->rq : &qp->rq) != 0;
}

static void recv_wait_listen_for_posts(struct rnic_qp *qp)
{
	atomic_store(&qp->recv_waits, true);
	if (qp->srq) {
		LIST_INSERT_HEAD(&qp->srq->waiting, qp, wait.hungry_link);
		atomic_store(&qp->srq->hungry, true);
	}
	/* Posted since we looked: the poster may not have seen that we wait. */
	if (recv_wait_has_recv(qp))
		engine_defer(qp->rnic->engine, &qp->doorbell);
}

void recv_wait_told(struct rnic_qp *qp)
{
	if (!atomic_load(&qp->recv_waits))
		return;
	atomic_store(&qp->recv_waits, false);
	if (qp->srq)
		LIST_REMOVE(qp, wait.hungry_link);
}

void recv_wait_end(struct rnic_qp *qp)
{
	recv_wait_told(qp);
	qp->wait.held = qp->wait.over = false;
	timer_stop(recv_wait_wheel_of(qp), &qp->wait.timer);
}

/** The message looks again; finds it no element, it comes back to recv_wait_begin(). */
static void recv_wait_look_again(struct rnic_qp *qp, bool over)
{
	recv_wait_end(qp);
	qp->wait.over = over;
	rdmap_recv_posted(&qp->rdmap);
}

static void recv_wait_on_time_over(struct timer *t, uint64_t now)
{
	struct rnic_qp *qp = container_of(t, struct rnic_qp, wait.timer);

	recv_wait_look_again(qp, !recv_wait_has_recv(qp) && !timer_stood_still(t, now));
}

void recv_wait_init(struct rnic_qp *qp)
{
	timer_init(&qp->wait.timer, recv_wait_on_time_over);
}

bool recv_wait_begin(struct rnic_qp *qp)
{
	uint64_t patience = qp->rnic->rnr_timeout;

	if (!qp->pairing) {
		if (!patience || qp->wait.over)
			return false;
		timer_start(
			recv_wait_wheel_of(qp), &qp->wait.timer, qp->rnic->engine->now + patience);
	}
	qp->wait.held = true;
	recv_wait_listen_for_posts(qp);
	return true;
}

void recv_wait_serve(struct rnic_qp *qp)
{
	if (!qp->wait.held)
		return;
	if (recv_wait_has_recv(qp))
		recv_wait_look_again(qp, false);
	else if (!atomic_load(&qp->recv_waits))
		recv_wait_listen_for_posts(qp); /* another QP of the SRQ was faster */
}
