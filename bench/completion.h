/* SPDX-License-Identifier: BSD-2-Clause */
/** @file completion.h Posting and polling of programs that end when either fails. */
#ifndef BENCH_COMPLETION_H
#define BENCH_COMPLETION_H

#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>

static inline void completion_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(qp, wr, &bad);
	if (errno)
		err(1, "ibv_post_send");
}

/** Take at most @p n completions, all of which must be good ones. @return how many came. */
static inline unsigned completion_reap(struct ibv_cq *cq, struct ibv_wc *wc, int n)
{
	n = ibv_poll_cq(cq, n, wc);
	if (n < 0)
		err(1, "ibv_poll_cq");
	for (int i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			errx(1, "completion: %s", ibv_wc_status_str(wc[i].status));
	return (unsigned)n;
}

#endif
