/* SPDX-License-Identifier: BSD-2-Clause */
#include "manual_walk.h"
#include "support/limit.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct walk w;

/* ---- the pages ------------------------------------------------------------------------------ */

/* All of libibverbs-dev 44: man3/ibv_*.3, and those of the rates. */
static const char *const pages[] = {"ibv_ack_async_event", "ibv_ack_cq_events", "ibv_advise_mr",
	"ibv_alloc_dm", "ibv_alloc_mw", "ibv_alloc_null_mr", "ibv_alloc_parent_domain",
	"ibv_alloc_pd", "ibv_alloc_td", "ibv_attach_counters_point_flow", "ibv_attach_mcast",
	"ibv_bind_mw", "ibv_close_device", "ibv_close_xrcd", "ibv_create_ah",
	"ibv_create_ah_from_wc", "ibv_create_comp_channel", "ibv_create_counters", "ibv_create_cq",
	"ibv_create_cq_ex", "ibv_create_flow", "ibv_create_flow_action", "ibv_create_qp",
	"ibv_create_qp_ex", "ibv_create_rwq_ind_table", "ibv_create_srq", "ibv_create_srq_ex",
	"ibv_create_wq", "ibv_dealloc_mw", "ibv_dealloc_pd", "ibv_dealloc_td", "ibv_dereg_mr",
	"ibv_destroy_ah", "ibv_destroy_comp_channel", "ibv_destroy_counters", "ibv_destroy_cq",
	"ibv_destroy_flow", "ibv_destroy_flow_action", "ibv_destroy_qp",
	"ibv_destroy_rwq_ind_table", "ibv_destroy_srq", "ibv_destroy_wq", "ibv_detach_mcast",
	"ibv_event_type_str", "ibv_fork_init", "ibv_free_device_list", "ibv_free_dm",
	"ibv_get_async_event", "ibv_get_cq_event", "ibv_get_device_guid", "ibv_get_device_index",
	"ibv_get_device_list", "ibv_get_device_name", "ibv_get_pkey_index", "ibv_get_srq_num",
	"ibv_import_device", "ibv_import_dm", "ibv_import_mr", "ibv_import_pd", "ibv_inc_rkey",
	"ibv_init_ah_from_wc", "ibv_is_fork_initialized", "ibv_memcpy_from_dm", "ibv_memcpy_to_dm",
	"ibv_modify_cq", "ibv_modify_flow_action", "ibv_modify_qp", "ibv_modify_qp_rate_limit",
	"ibv_modify_srq", "ibv_modify_wq", "ibv_node_type_str", "ibv_open_device", "ibv_open_qp",
	"ibv_open_xrcd", "ibv_poll_cq", "ibv_port_state_str", "ibv_post_recv", "ibv_post_send",
	"ibv_post_srq_ops", "ibv_post_srq_recv", "ibv_query_device", "ibv_query_device_ex",
	"ibv_query_ece", "ibv_query_gid", "ibv_query_gid_ex", "ibv_query_gid_table",
	"ibv_query_pkey", "ibv_query_port", "ibv_query_qp", "ibv_query_qp_data_in_order",
	"ibv_query_rt_values_ex", "ibv_query_srq", "ibv_rate_to_mbps", "ibv_rate_to_mult",
	"ibv_read_counters", "ibv_reg_dm_mr", "ibv_reg_mr", "ibv_req_notify_cq", "ibv_rereg_mr",
	"ibv_resize_cq", "ibv_set_ece", "ibv_unimport_dm", "ibv_unimport_mr", "ibv_unimport_pd",
	"ibv_wr_abort", "ibv_wr_atomic_cmp_swp", "ibv_wr_atomic_fetch_add", "ibv_wr_bind_mw",
	"ibv_wr_complete", "ibv_wr_local_inv", "ibv_wr_post", "ibv_wr_rdma_read",
	"ibv_wr_rdma_write", "ibv_wr_rdma_write_imm", "ibv_wr_send", "ibv_wr_send_imm",
	"ibv_wr_send_inv", "ibv_wr_send_tso", "ibv_wr_set_inline_data",
	"ibv_wr_set_inline_data_list", "ibv_wr_set_sge", "ibv_wr_set_sge_list",
	"ibv_wr_set_ud_addr", "ibv_wr_set_xrc_srqn", "ibv_wr_start", "mbps_to_ibv_rate",
	"mult_to_ibv_rate"};
#define PAGES (sizeof pages / sizeof pages[0])

static bool visited[PAGES];
static unsigned rows, wrong;

static void visit(const char *page)
{
	rows++;
	for (unsigned i = 0; i < PAGES; i++)
		if (strcmp(pages[i], page) == 0) {
			visited[i] = true;
			return;
		}
	wrong++;
	printf("there is no page %s\n", page);
}

void walk_int(const char *page, const char *offence, long got, long want)
{
	visit(page);
	if (got == want)
		return;
	wrong++;
	printf("%s, %s: %ld, not %ld\n", page, offence, got, want);
}

static void walk_errno(const char *page, const char *offence, bool failed, int error, int want)
{
	visit(page);
	if (failed && error == want)
		return;
	wrong++;
	printf("%s, %s: %s with errno %d (%s), not %d\n", page, offence,
		failed ? "refused" : "done", error, strerror(error), want);
}

void walk_null(const char *page, const char *offence, const void *got, int want)
{
	walk_errno(page, offence, got == NULL, errno, want);
}

void walk_minus(const char *page, const char *offence, int got, int want)
{
	walk_errno(page, offence, got == -1, errno, want);
}

/* ---- the objects ---------------------------------------------------------------------------- */

static int open_all(void **state)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr qp = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 16}};

	if (fixture_open(state) != 0 || ibv_query_device(fx.context, &w.attr) != 0)
		return -1;
	w.other = ibv_open_device(fx.context->device);
	w.pd = ibv_alloc_pd(fx.context);
	w.foreign_pd = ibv_alloc_pd(w.other);
	w.channel = ibv_create_comp_channel(fx.context);
	w.foreign_channel = ibv_create_comp_channel(w.other);
	w.cq = ibv_create_cq(fx.context, 16, NULL, w.channel, 0);
	w.foreign_cq = ibv_create_cq(w.other, 16, NULL, NULL, 0);
	w.srq = ibv_create_srq(w.pd, &srq);
	w.foreign_srq = ibv_create_srq(w.foreign_pd, &srq);
	qp.send_cq = qp.recv_cq = w.cq;
	w.qp = ibv_create_qp(w.pd, &qp);
	w.mr = ibv_reg_mr(w.pd, w.buf, sizeof w.buf,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_MW_BIND);
	return w.qp == NULL || w.mr == NULL || w.foreign_srq == NULL;
}

/* A receive goes through the QP and comes out of the CQ, with an event. */
static void still_works(void)
{
	struct ibv_sge sge = {.addr = (uintptr_t)w.buf, .length = 8, .lkey = w.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 77, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	assert_int_equal(qp_go(w.qp, IBV_QPS_RESET), 0);
	assert_int_equal(qp_go(w.qp, IBV_QPS_INIT), 0);
	while (ibv_poll_cq(w.cq, 1, &wc) > 0)
		;
	assert_int_equal(ibv_req_notify_cq(w.cq, 0), 0);
	assert_int_equal(ibv_post_recv(w.qp, &wr, &bad), 0);
	assert_int_equal(qp_go(w.qp, IBV_QPS_ERR), 0);
	assert_int_equal(ibv_get_cq_event(w.channel, &cq, &context), 0);
	assert_ptr_equal(cq, w.cq);
	ibv_ack_cq_events(cq, 1);
	wc = take(w.cq);
	assert_int_equal(wc.wr_id, 77);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
}

static int close_all(void **state)
{
	still_works();
	assert_int_equal(ibv_destroy_qp(w.qp), 0);
	assert_int_equal(ibv_dereg_mr(w.mr), 0);
	assert_int_equal(ibv_destroy_srq(w.srq), 0);
	assert_int_equal(ibv_destroy_srq(w.foreign_srq), 0);
	assert_int_equal(ibv_destroy_cq(w.cq), 0);
	assert_int_equal(ibv_destroy_cq(w.foreign_cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(w.channel), 0);
	assert_int_equal(ibv_destroy_comp_channel(w.foreign_channel), 0);
	assert_int_equal(ibv_dealloc_pd(w.pd), 0);
	assert_int_equal(ibv_dealloc_pd(w.foreign_pd), 0);
	assert_int_equal(ibv_close_device(w.other), 0);
	return fixture_close(state);
}

/* ---- the walk ------------------------------------------------------------------------------- */

static void no_row_was_wrong(void **state)
{
	printf("%u rows\n", rows);
	assert_int_equal(wrong, 0);
}

/* Where the pages are installed, the list is theirs: no page of a verb is missing in it. */
static void every_installed_page_is_known(void **state)
{
	static const char directory[] = "/usr/share/man/man3/";
	glob_t found = {0};

	glob("/usr/share/man/man3/ibv_*.3*", 0, NULL, &found);
	for (size_t f = 0; f < found.gl_pathc; f++) {
		const char *name = found.gl_pathv[f] + strlen(directory);
		size_t len = strcspn(name, ".");
		unsigned i = 0;

		while (i < PAGES && (strlen(pages[i]) != len || memcmp(pages[i], name, len)))
			i++;
		if (i == PAGES)
			fail_msg("nobody goes to %s", name);
	}
	globfree(&found);
}

static void every_page_was_visited(void **state)
{
	for (unsigned i = 0; i < PAGES; i++)
		if (!visited[i])
			fail_msg("nobody was at %s(3)", pages[i]);
}

#define ALONE(f) cmocka_unit_test_setup_teardown(f, open_all, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(walk_device),
		ALONE(walk_absent),
		ALONE(walk_memory),
		ALONE(walk_completion),
		ALONE(walk_srq),
		ALONE(walk_qp),
		ALONE(walk_post),
		ALONE(walk_builders),
		CONNECTED(walk_connected),
		cmocka_unit_test(no_row_was_wrong),
		cmocka_unit_test(every_page_was_visited),
		cmocka_unit_test(every_installed_page_is_known),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
