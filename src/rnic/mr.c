/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/mr.h"

#include "rnic/mw.h"
#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>

#define ACCESS_REMOTE \
	(RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC)
#define ACCESS_ALL                                                                                \
	(RNIC_ACCESS_LOCAL_WRITE | ACCESS_REMOTE | RNIC_ACCESS_MW_BIND | RNIC_ACCESS_ZERO_BASED | \
		RNIC_ACCESS_ON_DEMAND)

int mr_access_verify(unsigned access)
{
	if (access & ~ACCESS_ALL)
		return -EINVAL;
	/* Verbs: remote write and atomics need local write. */
	if (access & (RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_ATOMIC) &&
		!(access & RNIC_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

static int mr_range_verify(
	const struct rnic *r, const void *addr, size_t len, uint64_t iova, unsigned access)
{
	if (access & RNIC_ACCESS_ON_DEMAND && !addr && len == SIZE_MAX)
		return iova ? -EINVAL : 0;
	if (!len || len > r->limits.max_mr_size)
		return -EINVAL;
	if (len - 1 > UINT64_MAX - (uintptr_t)addr || len - 1 > UINT64_MAX - iova)
		return -EINVAL;
	return 0;
}

/** Give it an STag, and make it known. */
static int mr_enroll(struct rnic_mr *mr)
{
	struct rnic *r = mr->pd->rnic;
	int rc;

	engine_lock(r->engine);
	rc = r->mr_count < r->limits.max_mr ? stag_table_add(&r->stags, mr, &mr->stag) : -ENOMEM;
	if (!rc) {
		LIST_INSERT_HEAD(&r->mrs, mr, link);
		r->mr_count++;
		mr->pd->users++;
	}
	engine_unlock(r->engine);
	return rc;
}

/** What may be missing until it is used is not there for a device. */
static void mr_lend(struct rnic_mr *mr)
{
	if (!(mr->access & (RNIC_ACCESS_ON_DEMAND | MR_NULL)))
		mr->memory = llp_memory_add(mr->pd->rnic->net, mr->mem, mr->len);
}

void mr_withdraw(struct rnic_mr *mr)
{
	if (mr->memory)
		llp_memory_remove(mr->pd->rnic->net, mr->memory);
	mr->memory = NULL;
}

struct llp_memory *mr_memory(const struct rnic_qp *qp, uint32_t stag)
{
	const struct rnic_mr *mr = stag_table_get(&qp->rnic->stags, stag);

	return mr && mr->valid ? mr->memory : NULL;
}

int rnic_mr_reg(struct rnic_pd *pd, void *addr, size_t len, uint64_t iova, unsigned access,
	struct rnic_mr **out)
{
	struct rnic *r = pd->rnic;
	struct rnic_mr *mr;
	int rc;

	if (access & RNIC_ACCESS_ZERO_BASED)
		iova = 0;
	if (mr_access_verify(access) || mr_range_verify(r, addr, len, iova, access))
		return -EINVAL;
	mr = malloc(sizeof *mr);
	if (!mr)
		return -ENOMEM;
	*mr = (struct rnic_mr){
		.pd = pd, .mem = addr, .iova = iova, .len = len, .access = access, .valid = true};
	mr_lend(mr);
	rc = mr_enroll(mr);
	if (rc) {
		engine_lock(r->engine);
		mr_withdraw(mr);
		engine_unlock(r->engine);
		free(mr);
		return rc;
	}
	*out = mr;
	return 0;
}

int rnic_mr_alloc_null(struct rnic_pd *pd, struct rnic_mr **out)
{
	struct rnic_mr *mr = malloc(sizeof *mr);
	uint8_t *null = calloc(2, RNIC_PIECE_MAX);
	int rc = -ENOMEM;

	if (mr && null) {
		*mr = (struct rnic_mr){.pd = pd,
			.len = UINT64_MAX,
			.access = RNIC_ACCESS_LOCAL_WRITE | MR_NULL,
			.valid = true,
			.null = null};
		rc = mr_enroll(mr);
	}
	if (rc) {
		free(null);
		free(mr);
	} else {
		*out = mr;
	}
	return rc;
}

int rnic_mr_dereg(struct rnic_mr *mr)
{
	struct rnic *r = mr->pd->rnic;
	bool busy;

	engine_lock(r->engine);
	busy = mr->windows != 0;
	if (!busy) {
		mr_withdraw(mr);
		stag_table_remove(&r->stags, mr->stag);
		if (r->walk_mr == mr)
			r->walk_mr = LIST_NEXT(mr, link);
		LIST_REMOVE(mr, link);
		r->mr_count--;
		mr->pd->users--;
	}
	engine_unlock(r->engine);
	if (busy)
		return -EBUSY;
	free(mr->null);
	free(mr);
	return 0;
}

static void mr_revoke(struct rnic_mr *mr)
{
	mr->valid = false;
	mr_withdraw(mr);
}

void rnic_mr_revoke(struct rnic_mr *mr)
{
	struct engine *e = mr->pd->rnic->engine;

	engine_lock(e);
	mr_revoke(mr);
	engine_unlock(e);
}

uint32_t rnic_mr_stag(const struct rnic_mr *mr)
{
	return mr->stag;
}

int rnic_mr_rereg(struct rnic_mr *mr, unsigned what, struct rnic_pd *pd, void *addr, size_t len,
	unsigned access)
{
	struct rnic *r = mr->pd->rnic;
	struct rnic_mr new = *mr;
	int rc;

	if (!what || what & ~(RNIC_REREG_TRANSLATION | RNIC_REREG_PD | RNIC_REREG_ACCESS))
		return -EINVAL;
	if (what & RNIC_REREG_ACCESS)
		new.access = access;
	if (what & RNIC_REREG_TRANSLATION) {
		new.mem = addr;
		new.iova = (new.access &RNIC_ACCESS_ZERO_BASED) ? 0 : (uintptr_t)addr;
		new.len = len;
	}
	if (what & RNIC_REREG_PD)
		new.pd = pd;
	if (!new.pd || new.pd->rnic != r || mr_access_verify(new.access) ||
		mr_range_verify(r, new.mem, new.len, new.iova, new.access))
		return -EINVAL;
	engine_lock(r->engine);
	if (mr->windows) {
		engine_unlock(r->engine);
		return -EBUSY;
	}
	/*
	 * The old STag must not reach the new memory, so it changes whatever else does. There is
	 * room for the new one where the old one was.
	 */
	stag_table_remove(&r->stags, mr->stag);
	rc = stag_table_add(&r->stags, mr, &mr->stag);
	mr_withdraw(mr);
	mr->pd->users--;
	new.pd->users++;
	mr->pd = new.pd;
	mr->mem = new.mem;
	mr->iova = new.iova;
	mr->len = new.len;
	mr->access = new.access;
	mr->valid = true;
	mr_lend(mr);
	engine_unlock(r->engine);
	return rc;
}

/** What a region (and, for peers, the QP) must allow for an access, in one bit of RNIC_ACCESS_*. */
static unsigned mr_right_for(unsigned access)
{
	if (access & RDMAP_ACCESS_REMOTE_WRITE)
		return RNIC_ACCESS_REMOTE_WRITE;
	if (access & RDMAP_ACCESS_REMOTE_READ)
		return RNIC_ACCESS_REMOTE_READ;
	if (access & RDMAP_ACCESS_REMOTE_ATOMIC)
		return RNIC_ACCESS_REMOTE_ATOMIC;
	/* A Read's sink needs no REMOTE_WRITE: its STag goes to the peer, but only our own Read
	 * Request makes the response acceptable. */
	if (access & (RDMAP_ACCESS_LOCAL_WRITE | RDMAP_ACCESS_READ_SINK))
		return RNIC_ACCESS_LOCAL_WRITE;
	return 0;
}

/** Whose memory an access may reach. What an SRQ receives goes to memory of the SRQ's PD. */
static const struct rnic_pd *mr_pd_for(const struct rnic_qp *qp, unsigned access)
{
	return access & RDMAP_ACCESS_LOCAL_WRITE && qp->srq ? qp->srq->pd : qp->pd;
}

/** RFC 5041 section 8.2: both ways to associate an STag with streams. */
static bool mr_is_of(const struct rnic_mr *mr, const struct rnic_qp *qp, const struct rnic_pd *pd)
{
	return mr->pd == pd && (!mr->only || mr->only == qp);
}

/**
 * Memory that is not just there. What is asked about more than a piece touches none yet: the pieces
 * of a Read Request, say, are looked at one by one when their turn comes.
 */
static int mr_provide(const struct rnic_mr *mr, uint32_t len, unsigned right, uint8_t **mem)
{
	bool write = right & ~(unsigned)RNIC_ACCESS_REMOTE_READ;

	if (len > RNIC_PIECE_MAX)
		return 0;
	if (mr->access & MR_NULL) {
		*mem = mr->null + (write ? RNIC_PIECE_MAX : 0);
		return 0;
	}
	return !mr->pd->rnic->page_in || mr->pd->rnic->page_in(*mem, len, write) ? 0 : -ERANGE;
}

int mr_check(const struct rnic_qp *qp, uint32_t stag, uint64_t to, uint32_t len, unsigned access,
	uint8_t **mem)
{
	const struct rnic_mr *mr = stag_table_get(&qp->rnic->stags, stag);
	unsigned right = mr_right_for(access);
	uint64_t at;

	if (!mr || !mr->valid)
		return -ENOENT;
	if (!mr_is_of(mr, qp, mr_pd_for(qp, access)))
		return -EPERM;
	*mem = mr->mem;
	if (!len)
		return 0;
	if ((mr->access & right) != right)
		return -EACCES;
	if (right & ACCESS_REMOTE && !(qp->access & right))
		return -EACCES;
	/* A window is for peers: no lkey. */
	if (mr->window && !(right & ACCESS_REMOTE))
		return -EACCES;
	if (len - 1 > UINT64_MAX - to)
		return -EOVERFLOW;
	if (to < mr->iova)
		return -ERANGE;
	at = to - mr->iova;
	if (at > mr->len || len > mr->len - at)
		return -ERANGE;
	/* By number: what is on demand may begin at no address at all. */
	*mem = (uint8_t *)((uintptr_t)mr->mem + at);
	return mr->access & (RNIC_ACCESS_ON_DEMAND | MR_NULL) ? mr_provide(mr, len, right, mem) : 0;
}

int rnic_mr_locate(
	struct rnic_pd *pd, uint32_t stag, uint64_t to, uint32_t len, bool write, uint8_t **mem)
{
	struct rnic *r = pd->rnic;
	const struct stag_slot *slot;
	const struct rnic_mr *mr;
	int rc = 0;

	engine_lock(r->engine);
	slot = stag_table_find(&r->stags, stag);
	mr = slot ? slot->object : NULL;
	if (!mr || !mr->valid)
		rc = -EFAULT;
	else if (slot->stag != stag)
		rc = -ENOENT;
	else if (mr->window || !(mr->access & RNIC_ACCESS_ON_DEMAND))
		rc = -EINVAL;
	else if (mr->pd != pd || (write && !(mr->access & RNIC_ACCESS_LOCAL_WRITE)))
		rc = -EPERM;
	else if (to < mr->iova || to - mr->iova > mr->len || len > mr->len - (to - mr->iova))
		rc = -EFAULT;
	else
		*mem = (uint8_t *)((uintptr_t)mr->mem + (to - mr->iova));
	engine_unlock(r->engine);
	return rc;
}

/**
 * RFC 5040 section 8.1.1 rule 7: what other streams could use too is not a peer's to take away, nor
 * is a region that is for us alone. A window is for the peer, whatever it may do there.
 */
static int mr_remote_verify(const struct rnic_mr *mr)
{
	if (!mr->window && !(mr->access & ACCESS_REMOTE))
		return -EACCES;
	return !mr->only && mr->pd->qps > 1 ? -EPERM : 0;
}

int mr_invalidate(const struct rnic_qp *qp, uint32_t stag, bool remote)
{
	struct rnic_mr *mr = stag_table_get(&qp->rnic->stags, stag);
	int rc;

	if (!mr || !mr->valid)
		return -ENOENT;
	if (!mr_is_of(mr, qp, qp->pd))
		return -EPERM;
	if (mr->window && !mr->only)
		return -EACCES;
	rc = remote ? mr_remote_verify(mr) : 0;
	if (!rc && mr->windows)
		rc = -EBUSY;
	if (rc)
		return rc;
	if (mr->window)
		mw_unbind(mw_of(mr));
	else
		mr_revoke(mr);
	return 0;
}
