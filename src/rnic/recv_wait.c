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

/** Whom a post wakes: an SRQ wakes those whose turn it is. */
static struct engine_doorbell *recv_wait_doorbell_of(struct rnic_qp *qp)
{
	return qp->srq ? &qp->srq->doorbell : &qp->doorbell;
}

static void recv_wait_set_told(struct rnic_qp *qp, bool told)
{
	if (qp->wait.told == told)
		return;
	qp->wait.told = told;
	if (told)
		qp->srq->told++;
	else
		qp->srq->told--;
}

static void recv_wait_listen_for_posts(struct rnic_qp *qp)
{
	recv_wait_set_told(qp, false);
	if (!atomic_exchange(&qp->recv_waits, true) && qp->srq) {
		/* Last: one that has had an element does not go before those that have not. */
		TAILQ_INSERT_TAIL(&qp->srq->waiting, qp, wait.hungry_link);
		atomic_store(&qp->srq->hungry, true);
	}
	/* Posted since we looked: the poster may not have seen that we wait. */
	if (recv_wait_has_recv(qp))
		engine_defer(qp->rnic->engine, recv_wait_doorbell_of(qp));
}

static void recv_wait_leave_srq(struct rnic_qp *qp)
{
	struct rnic_srq *srq = qp->srq;

	TAILQ_REMOVE(&srq->waiting, qp, wait.hungry_link);
	recv_wait_set_told(qp, false);
	if (TAILQ_EMPTY(&srq->waiting))
		atomic_store(&srq->hungry, false);
	else if (recv_wait_has_recv(qp))
		/* For the next: this one took fewer than there are, or none. */
		engine_defer(qp->rnic->engine, &srq->doorbell);
}

static void recv_wait_stop_listening(struct rnic_qp *qp)
{
	if (!atomic_load(&qp->recv_waits))
		return;
	atomic_store(&qp->recv_waits, false);
	if (qp->srq)
		recv_wait_leave_srq(qp);
}

void recv_wait_tell(struct rnic_srq *srq, uint32_t n)
{
	struct rnic_qp *qp;

	TAILQ_FOREACH (qp, &srq->waiting, wait.hungry_link) {
		if (n-- == 0)
			break;
		recv_wait_set_told(qp, true);
		engine_defer(qp->rnic->engine, &qp->doorbell);
	}
}

static void recv_wait_let_go(struct rnic_qp *qp)
{
	qp->wait.held = qp->wait.over = false;
	timer_stop(recv_wait_wheel_of(qp), &qp->wait.timer);
}

void recv_wait_end(struct rnic_qp *qp)
{
	recv_wait_stop_listening(qp);
	recv_wait_let_go(qp);
}

/**
 * The message looks again, now or in the LLP's next turn. It then ends in recv_wait_taken(), or
 * finds no element and comes back to recv_wait_begin(), or the connection ends. Until then the QP
 * keeps its place at the SRQ.
 */
static void recv_wait_look_again(struct rnic_qp *qp, bool over)
{
	if (!qp->srq)
		recv_wait_stop_listening(qp);
	recv_wait_let_go(qp);
	qp->wait.over = over;
	rdmap_recv_posted(&qp->rdmap);
}

static bool recv_wait_may(const struct rnic_qp *qp)
{
	return qp->pairing || (qp->rnic->rnr_timeout && !qp->wait.over);
}

bool recv_wait_has_turn(const struct rnic_qp *qp)
{
	return qp->wait.told || recv_queue_count(&qp->srq->rq) > qp->srq->told ||
	       !recv_wait_may(qp);
}

void recv_wait_taken(struct rnic_qp *qp)
{
	qp->wait.over = false; /* posted at the last moment */
	if (qp->srq)
		recv_wait_stop_listening(qp);
}

static bool recv_wait_is_for_nobody(const struct rnic_qp *qp)
{
	return qp->closing && qp->wait.held && rdmap_eof_waits(&qp->rdmap);
}

bool recv_wait_give_up(struct rnic_qp *qp)
{
	if (!recv_wait_is_for_nobody(qp))
		return false;
	if (recv_wait_has_recv(qp)) /* posted in this very round: it has its turn behind it */
		return true;
	recv_wait_end(qp);
	rdmap_take_answers_only(&qp->rdmap);
	return true;
}

void recv_wait_hasten(struct rnic_qp *qp)
{
	/* Not now: MPA may be in the middle of showing the message. */
	if (recv_wait_is_for_nobody(qp))
		timer_start(recv_wait_wheel_of(qp), &qp->wait.timer, qp->rnic->engine->now);
}

static void recv_wait_on_time_over(struct timer *t, uint64_t now)
{
	struct rnic_qp *qp = container_of(t, struct rnic_qp, wait.timer);
	bool over = !recv_wait_has_recv(qp) && !timer_stood_still(t, now);

	if (!over || !recv_wait_give_up(qp))
		recv_wait_look_again(qp, over);
}

void recv_wait_init(struct rnic_qp *qp)
{
	timer_init(&qp->wait.timer, recv_wait_on_time_over);
}

bool recv_wait_begin(struct rnic_qp *qp)
{
	if (!recv_wait_may(qp))
		return false;
	if (!qp->pairing)
		timer_start(recv_wait_wheel_of(qp), &qp->wait.timer,
			qp->rnic->engine->now + qp->rnic->rnr_timeout);
	qp->wait.held = true;
	recv_wait_listen_for_posts(qp);
	return true;
}

void recv_wait_try(struct rnic_qp *qp)
{
	if (qp->wait.held && recv_wait_has_recv(qp) && (!qp->srq || recv_wait_has_turn(qp)))
		recv_wait_look_again(qp, false);
}

void recv_wait_serve(struct rnic_qp *qp)
{
	/* Its doorbell rings for its sends, too, and that is no turn. */
	if (!qp->srq || qp->wait.told)
		recv_wait_try(qp);
}
