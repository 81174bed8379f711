/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"

#include "qp.h"

#include <errno.h>
#include <stdlib.h>

/* Lists with empty elements at every place, gathered and scattered in portions of every size. */

#define PARTS 6
static const uint32_t part_len[PARTS] = {0, 5, 0, 1, 9, 0};
#define TOTAL 15

/** Not connected: with an MPA that makes no FPDU. */
static void setup(struct qp_net *n)
{
	static struct mpa idle;

	qp_net_init(n);
	n->a->r.mpa = &idle;
	for (unsigned i = 0; i < PARTS; i++)
		qp_region_add(n->a, 0x10 + i, 0x100 * i, part_len[i] + 2, LOCAL);
}

static void teardown(struct qp_net *n)
{
	n->a->r.mpa = NULL;
	qp_net_done(n);
}

static void test_gather(void **state)
{
	for (uint32_t portion = 1; portion <= TOTAL; portion++) {
		uint8_t out[TOTAL], expect[TOTAL];
		struct rdmap_wqe *w;
		struct qp_net n;
		uint32_t at = 0;

		setup(&n);
		w = qp_wqe(n.a, 1, RDMAP_WR_WRITE, 0);
		for (unsigned i = 0; i < PARTS; i++) {
			qp_wqe_sge(w, &n.a->region[i], 1, part_len[i]);
			memcpy(expect + at, n.a->region[i].mem + 1, part_len[i]);
			at += part_len[i];
		}
		n.a->r.tx_at = (struct rdmap_sge_at){0};
		for (at = 0; at < TOTAL; at += portion) {
			uint32_t len = TOTAL - at < portion ? TOTAL - at : portion;

			assert_int_equal(rdmap_gather(&n.a->r, w, out + at, len), 0);
		}
		assert_memory_equal(out, expect, TOTAL);
		assert_int_equal(rdmap_gather(&n.a->r, w, out, 1), -EINVAL);
		teardown(&n);
	}
}

static void test_gather_inline(void **state)
{
	struct rdmap_wqe *w;
	uint8_t out[6];
	struct qp_net n;

	qp_net_init(&n);
	w = qp_wqe(n.a, 1, RDMAP_WR_WRITE, 0);
	qp_wqe_inline(w, "abcdef", 6);
	n.a->r.tx_offset = 2;
	assert_int_equal(rdmap_gather(&n.a->r, w, out, 3), 0);
	assert_memory_equal(out, "cde", 3);
	qp_net_done(&n);
}

static void test_gather_checks(void **state)
{
	struct rdmap_wqe *w;
	uint8_t out[TOTAL];
	struct qp_net n;

	setup(&n);
	w = qp_wqe(n.a, 1, RDMAP_WR_WRITE, 0);
	qp_wqe_sge(w, &n.a->region[1], 0, 5);
	qp_wqe_sge(w, &n.a->region[4], 5, 9);
	n.a->r.tx_at = (struct rdmap_sge_at){0};
	assert_int_equal(rdmap_gather(&n.a->r, w, out, 14), -ERANGE);
	n.a->region[1].invalid = true;
	n.a->r.tx_at = (struct rdmap_sge_at){0};
	assert_int_equal(rdmap_gather(&n.a->r, w, out, 1), -ENOENT);
	teardown(&n);
}

/* The payload of an untagged segment, in one piece. */
static void segment(struct ddp_segment *s, struct mpa_ulpdu *u, struct llp_iov *v,
	const uint8_t *ulpdu, uint32_t len)
{
	*v = (struct llp_iov){.base = ulpdu, .len = len};
	*u = (struct mpa_ulpdu){.at = {.v = v, .n = 1}, .len = len};
	assert_int_equal(ddp_parse(s, u), DDP_OK);
}

static int scatter(struct qp *q, struct ddp_segment *s)
{
	return rdmap_scatter(&q->r, q->r.rqe, &q->r.rx_at, s);
}

static void test_scatter(void **state)
{
	struct rdmap_rqe *q = calloc(1, sizeof *q + PARTS * sizeof q->sge[0]);
	uint8_t ulpdu[18 + TOTAL] = {0x41, 0x43};
	struct ddp_segment s;
	struct mpa_ulpdu u;
	struct llp_iov v;

	q->length = TOTAL;
	q->num_sge = PARTS;
	for (unsigned i = 0; i < TOTAL; i++)
		ulpdu[18 + i] = (uint8_t)('a' + i);
	for (uint32_t first = 0; first <= TOTAL; first++) {
		struct qp_net n;

		setup(&n);
		for (unsigned i = 0; i < PARTS; i++) {
			memset(n.a->region[i].mem, '.', part_len[i] + 2);
			q->sge[i] = (struct rdmap_sge){
				.addr = 0x100 * i + 1, .len = part_len[i], .stag = 0x10 + i};
		}
		n.a->r.rqe = q;
		n.a->r.rx_at = (struct rdmap_sge_at){0};
		segment(&s, &u, &v, ulpdu, 18 + TOTAL);
		s.len = first;
		assert_int_equal(scatter(n.a, &s), 0);
		s.len = TOTAL - first;
		assert_int_equal(scatter(n.a, &s), 0);
		assert_memory_equal(n.a->region[1].mem, ".abcde.", 7);
		assert_memory_equal(n.a->region[2].mem, "..", 2);
		assert_memory_equal(n.a->region[3].mem, ".f.", 3);
		assert_memory_equal(n.a->region[4].mem, ".ghijklmno.", 11);
		n.a->region[4].access = 0;
		n.a->r.rx_at = (struct rdmap_sge_at){.index = 4};
		segment(&s, &u, &v, ulpdu, 19);
		assert_int_equal(scatter(n.a, &s), -EACCES);
		n.a->r.rx_at = (struct rdmap_sge_at){.index = PARTS};
		assert_int_equal(scatter(n.a, &s), -EINVAL);
		n.a->r.rqe = NULL;
		teardown(&n);
	}
	free(q);
}

/* Any byte of a list is found, however its elements divide it. */
static void test_seek(void **state)
{
	struct rdmap_rqe *q = calloc(1, sizeof *q + PARTS * sizeof q->sge[0]);
	uint32_t at = 0;

	q->num_sge = PARTS;
	for (unsigned i = 0; i < PARTS; i++)
		q->sge[i].len = part_len[i];
	for (uint32_t i = 0; i < PARTS; i++) {
		for (uint32_t k = 0; k < part_len[i]; k++) {
			struct rdmap_sge_at found = rdmap_sge_seek(q, at++);

			assert_int_equal(found.index, i);
			assert_int_equal(found.offset, k);
		}
	}
	assert_int_equal(rdmap_sge_seek(q, at).index, PARTS);
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_gather_inline),
		cmocka_unit_test(test_gather_checks),
		cmocka_unit_test(test_scatter),
		cmocka_unit_test(test_seek),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
