/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/recvq.h"

unsigned tcp_recvq_show(const struct tcp_mbufs *q, struct llp_iov *v, unsigned max, size_t *total)
{
	unsigned n = 0;

	*total = 0;
	for (const struct rte_mbuf *m = q->first; m && n < max; m = m->next) {
		v[n++] = (struct llp_iov){rte_pktmbuf_mtod(m, const uint8_t *), m->data_len};
		*total += m->data_len;
	}
	return n;
}
