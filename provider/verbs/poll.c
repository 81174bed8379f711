/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/clock_id.h"
#include "provider/exit_wait.h"
#include "provider/verbs/objects.h"

/* After exit() began: empty polls of a CQ on its thread in which programs see no error. */
#define POLL_EMPTY_MAX 1000u

/* Completions are taken from the RNIC in batches that stay on the stack. */
#define POLL_BATCH 16

static const uint8_t poll_wc_status[] = {
	[RDMAP_WC_SUCCESS] = IBV_WC_SUCCESS,
	[RDMAP_WC_LOC_LEN_ERR] = IBV_WC_LOC_LEN_ERR,
	[RDMAP_WC_LOC_PROT_ERR] = IBV_WC_LOC_PROT_ERR,
	[RDMAP_WC_LOC_QP_OP_ERR] = IBV_WC_LOC_QP_OP_ERR,
	[RDMAP_WC_MW_BIND_ERR] = IBV_WC_MW_BIND_ERR,
	[RDMAP_WC_REM_ACCESS_ERR] = IBV_WC_REM_ACCESS_ERR,
	[RDMAP_WC_REM_INV_REQ_ERR] = IBV_WC_REM_INV_REQ_ERR,
	[RDMAP_WC_REM_OP_ERR] = IBV_WC_REM_OP_ERR,
	[RDMAP_WC_WR_FLUSH_ERR] = IBV_WC_WR_FLUSH_ERR,
	[RDMAP_WC_FATAL_ERR] = IBV_WC_FATAL_ERR,
	[RDMAP_WC_RETRY_EXC_ERR] = IBV_WC_RETRY_EXC_ERR,
};

static const uint8_t poll_wc_opcode[] = {
	[RDMAP_WC_SEND] = IBV_WC_SEND,
	[RDMAP_WC_WRITE] = IBV_WC_RDMA_WRITE,
	[RDMAP_WC_READ] = IBV_WC_RDMA_READ,
	[RDMAP_WC_LOCAL_INV] = IBV_WC_LOCAL_INV,
	[RDMAP_WC_BIND_MW] = IBV_WC_BIND_MW,
	[RDMAP_WC_FETCH_ADD] = IBV_WC_FETCH_ADD,
	[RDMAP_WC_CMP_SWAP] = IBV_WC_COMP_SWAP,
	[RDMAP_WC_RECV] = IBV_WC_RECV,
	[RDMAP_WC_RECV_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
};

static void poll_translate(const struct rnic_wc *from, struct ibv_wc *to)
{
	to->wr_id = from->wc.wr_id;
	to->status = (enum ibv_wc_status)poll_wc_status[from->wc.status];
	to->opcode = (enum ibv_wc_opcode)poll_wc_opcode[from->wc.op];
	to->vendor_err = 0;
	to->byte_len = from->wc.byte_len;
	to->invalidated_rkey = from->wc.inv_stag; /* or imm_data: one place in both */
	to->qp_num = from->qp_num;
	to->src_qp = from->wc.src_qp;
	to->wc_flags = (from->wc.flags & RDMAP_WC_WITH_INV) != 0   ? IBV_WC_WITH_INV
		       : (from->wc.flags & RDMAP_WC_WITH_IMM) != 0 ? IBV_WC_WITH_IMM
								   : 0;
	if ((from->wc.flags & RDMAP_WC_GRH) != 0)
		to->wc_flags |= IBV_WC_GRH;
	to->pkey_index = 0;
	to->slid = 0;
	to->sl = 0;
	to->dlid_path_bits = 0;
}

/*
 * exit() has begun: who polls until something comes would do so for ever, and the process not end,
 * be it a destructor or a thread that one waits for. Who polls until nothing is left is told no
 * error, nor is a thread that a destructor is about to stop, whatever other threads have polled.
 */
static bool poll_is_over(struct cq *cq)
{
	const struct device *d = device_of(cq->ibv.context);
	uint64_t now, first = 0;
	bool leaving;

	if (!stack_has_left(d->stack))
		return false;
	leaving = d->host->is_leaving();
	now = clock_id_ns(CLOCK_MONOTONIC);
	if (atomic_compare_exchange_strong(&cq->first_empty[leaving], &first, now))
		first = now;
	return now >= first + EXIT_PATIENCE_NS ||
	       (leaving && atomic_fetch_add(&cq->empty, 1) >= POLL_EMPTY_MAX);
}

int cq_poll(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct rnic_wc batch[POLL_BATCH];
	struct cq *cq = OBJECT_OF(cq, ibv);
	int done = 0;

	if (atomic_load_explicit(&device_of(ibv->context)->orphan, memory_order_relaxed))
		return -ENODEV;
	while (done < n) {
		int want = n - done < POLL_BATCH ? n - done : POLL_BATCH;
		int got = rnic_cq_poll(cq->rnic, want, batch);

		/* Overflow: first hand out what was taken, then tell. */
		if (got < 0)
			return done > 0 ? done : got;
		for (int i = 0; i < got; i++)
			poll_translate(&batch[i], &wc[done++]);
		if (got < want)
			break;
	}
	return done == 0 && n > 0 && poll_is_over(cq) ? -ENODEV : done;
}

int cq_request_notify(struct ibv_cq *ibv, int solicited_only)
{
	if (atomic_load_explicit(&device_of(ibv->context)->orphan, memory_order_relaxed))
		return ENODEV;
	return fail_errno(rnic_cq_arm(OBJECT_OF(cq, ibv)->rnic, solicited_only != 0));
}

/* ---- ibv_start_poll() and its family --------------------------------------------------------- */

static int poll_next(struct ibv_cq_ex *ex)
{
	struct cq *cq = OBJECT_OF(cq, ex);
	struct rnic_wc wc;
	int got;

	if (atomic_load_explicit(&device_of(cq->ibv.context)->orphan, memory_order_relaxed))
		return ENODEV;
	got = rnic_cq_poll_timed(cq->rnic, &wc, &cq->time);
	if (got <= 0)
		return got < 0 ? -got : poll_is_over(cq) ? ENODEV : ENOENT;
	poll_translate(&wc, &cq->wc);
	ex->wr_id = cq->wc.wr_id;
	ex->status = cq->wc.status;
	return 0;
}

static void poll_end(struct ibv_cq_ex *ex)
{
	struct cq *cq = OBJECT_OF(cq, ex);

	if (!cq->single_threaded)
		pthread_mutex_unlock(&cq->polling);
}

static int poll_start(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct cq *cq = OBJECT_OF(cq, ex);
	int rc;

	if (attr->comp_mask != 0)
		return EINVAL;
	if (atomic_load_explicit(&device_of(cq->ibv.context)->orphan, memory_order_relaxed))
		return ENODEV; /* who had the lock at fork() is not here */
	if (!cq->single_threaded)
		pthread_mutex_lock(&cq->polling);
	rc = poll_next(ex);
	if (rc != 0)
		poll_end(ex);
	return rc;
}

static enum ibv_wc_opcode poll_read_opcode(struct ibv_cq_ex *ex)
{
	return OBJECT_OF(cq, ex)->wc.opcode;
}

static uint32_t poll_read_byte_len(struct ibv_cq_ex *ex)
{
	return OBJECT_OF(cq, ex)->wc.byte_len;
}

/* Of an immediate, or of the invalidated rkey, which shares its place (as in ibv_wc). */
static __be32 poll_read_imm_data(struct ibv_cq_ex *ex)
{
	return OBJECT_OF(cq, ex)->wc.imm_data;
}

static uint32_t poll_read_qp_num(struct ibv_cq_ex *ex)
{
	return OBJECT_OF(cq, ex)->wc.qp_num;
}

static uint32_t poll_read_src_qp(struct ibv_cq_ex *ex)
{
	return OBJECT_OF(cq, ex)->wc.src_qp;
}

static unsigned poll_read_wc_flags(struct ibv_cq_ex *ex)
{
	return OBJECT_OF(cq, ex)->wc.wc_flags;
}

static uint64_t poll_read_time(struct ibv_cq_ex *ex)
{
	return OBJECT_OF(cq, ex)->time;
}

/* The device's clock is CLOCK_MONOTONIC; how far the other is from it may change meanwhile. */
static uint64_t poll_read_wall_time(struct ibv_cq_ex *ex)
{
	return clock_id_ns(CLOCK_REALTIME) - (clock_id_ns(CLOCK_MONOTONIC) - poll_read_time(ex));
}

/* InfiniBand's: always zero. */
static uint32_t poll_read_zero(struct ibv_cq_ex *ex)
{
	return 0;
}

static uint8_t poll_read_zero_byte(struct ibv_cq_ex *ex)
{
	return 0;
}

void cq_set_poll_ops(struct cq *cq)
{
	struct ibv_cq_ex *ex = &cq->ex;

	ex->start_poll = poll_start;
	ex->next_poll = poll_next;
	ex->end_poll = poll_end;
	ex->read_opcode = poll_read_opcode;
	ex->read_vendor_err = poll_read_zero;
	ex->read_byte_len = poll_read_byte_len;
	ex->read_imm_data = poll_read_imm_data;
	ex->read_qp_num = poll_read_qp_num;
	ex->read_src_qp = poll_read_src_qp;
	ex->read_wc_flags = poll_read_wc_flags;
	ex->read_slid = poll_read_zero;
	ex->read_sl = poll_read_zero_byte;
	ex->read_dlid_path_bits = poll_read_zero_byte;
	if (cq->timed) {
		ex->read_completion_ts = poll_read_time;
		ex->read_completion_wallclock_ns = poll_read_wall_time;
	}
}
