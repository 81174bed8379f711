/* SPDX-License-Identifier: BSD-2-Clause */
#include "local_case.h"

#include "base/bytes.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

int local_case_add(struct host *h, const char *text, unsigned len)
{
	struct ip_addr a = host_addr(text);

	return ip_addr_add(h->ip, &a, len, h->now);
}

void local_case_expect_source(struct host *h, const char *remote, const char *want)
{
	struct ip_addr r = host_addr(remote), src;
	char text[IP_ADDR_STRLEN];

	assert_int_equal(ip_source(h->ip, &r, &src), 0);
	assert_string_equal(ip_addr_format(&src, text), want);
}

struct local_case_said local_case_said(struct host *h)
{
	struct local_case_said n = {0};

	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);
		uint16_t type = load_be16(p + 12);

		n.arp += type == 0x0806;
		n.igmp += type == 0x0800 && p[14 + 9] == 2;
		n.mld += type == 0x86dd && p[14 + 6] == 0;
		n.ns += type == 0x86dd && p[14 + 6] == 58 && p[14 + 40] == 135;
		n.na += type == 0x86dd && p[14 + 6] == 58 && p[14 + 40] == 136;
		n.rs += type == 0x86dd && p[14 + 6] == 58 && p[14 + 40] == 133;
	}
	n.other = h->n_tx - n.arp - n.igmp - n.mld - n.ns - n.na - n.rs;
	host_forget(h);
	return n;
}
