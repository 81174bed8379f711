/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What iWARP, or this RNIC, does not have. The creators say EOPNOTSUPP; what works on objects that
 * nobody can have created is called with a made-up one, and says the same.
 */
#include "manual_walk.h"

static void walk_datagrams(void)
{
	struct ibv_ah_attr attr = {.port_num = 1};
	struct ibv_wc wc = {0};
	struct ibv_grh grh = {0};
	union ibv_gid gid = {{0}};
	struct ibv_ah *ah;

	NIL("ibv_create_ah", "no GID", ibv_create_ah(w.pd, &attr), EINVAL);
	NIL("ibv_create_ah_from_wc", "no GRH", ibv_create_ah_from_wc(w.pd, &wc, &grh, 1), EINVAL);
	MINUS("ibv_init_ah_from_wc", "no GRH", ibv_init_ah_from_wc(fx.context, 1, &wc, &grh, &attr),
		EINVAL);
	attr.is_global = 1;
	assert_int_equal(ibv_query_gid(fx.context, 1, 0, &attr.grh.dgid), 0);
	ah = ibv_create_ah(w.pd, &attr);
	assert_non_null(ah);
	INT("ibv_destroy_ah", "of UD queue pairs", ibv_destroy_ah(ah), 0);
	INT("ibv_attach_mcast", "not of UD", ibv_attach_mcast(w.qp, &gid, 0), EINVAL);
	INT("ibv_detach_mcast", "not attached", ibv_detach_mcast(w.qp, &gid, 0), EINVAL);
}

static int no_copy_to(struct ibv_dm *dm, uint64_t at, const void *from, size_t length)
{
	return EOPNOTSUPP;
}

static int no_copy_from(void *to, struct ibv_dm *dm, uint64_t at, size_t length)
{
	return EOPNOTSUPP;
}

static void walk_device_memory(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};
	/* The copies are functions of the object itself. */
	struct ibv_dm dm = {
		.context = fx.context, .memcpy_to_dm = no_copy_to, .memcpy_from_dm = no_copy_from};

	NIL("ibv_alloc_dm", "max_dm_size is 0", ibv_alloc_dm(fx.context, &attr), EOPNOTSUPP);
	NIL("ibv_reg_dm_mr", "no device memory",
		ibv_reg_dm_mr(w.pd, &dm, 0, 64, IBV_ACCESS_ZERO_BASED), EOPNOTSUPP);
	INT("ibv_free_dm", "no device memory", ibv_free_dm(&dm), EOPNOTSUPP);
	INT("ibv_memcpy_to_dm", "the object's own", ibv_memcpy_to_dm(&dm, 0, w.buf, 8), EOPNOTSUPP);
	INT("ibv_memcpy_from_dm", "the object's own", ibv_memcpy_from_dm(w.buf, &dm, 0, 8),
		EOPNOTSUPP);
	ibv_unimport_dm(&dm);
	ibv_unimport_pd(w.pd);
	ibv_unimport_mr(w.mr);
	TRUE("ibv_unimport_dm", "nothing happens", true);
	TRUE("ibv_unimport_pd", "nothing happens", true);
	TRUE("ibv_unimport_mr", "nothing happens", true);
}

static void walk_raw(void)
{
	struct ibv_flow_attr flow_attr = {.size = sizeof flow_attr, .port = 1};
	struct ibv_flow_action_esp_attr esp = {0};
	struct ibv_flow flow = {.context = fx.context};
	struct ibv_flow_action action = {.context = fx.context};
	struct ibv_wq_init_attr wq_attr = {.pd = w.pd, .cq = w.cq, .max_wr = 1, .max_sge = 1};
	struct ibv_wq_attr wq_change = {.attr_mask = IBV_WQ_ATTR_STATE};
	struct ibv_wq wq = {.context = fx.context};
	struct ibv_rwq_ind_table_init_attr table_attr = {0};
	struct ibv_rwq_ind_table table = {.context = fx.context};

	NIL("ibv_create_flow", "no raw packets", ibv_create_flow(w.qp, &flow_attr), EOPNOTSUPP);
	INT("ibv_destroy_flow", "no raw packets", ibv_destroy_flow(&flow), EOPNOTSUPP);
	NIL("ibv_create_flow_action", "no raw packets",
		ibv_create_flow_action_esp(fx.context, &esp), EOPNOTSUPP);
	INT("ibv_modify_flow_action", "no raw packets", ibv_modify_flow_action_esp(&action, &esp),
		EOPNOTSUPP);
	INT("ibv_destroy_flow_action", "no raw packets", ibv_destroy_flow_action(&action),
		EOPNOTSUPP);
	NIL("ibv_create_wq", "no raw packets", ibv_create_wq(fx.context, &wq_attr), EOPNOTSUPP);
	INT("ibv_modify_wq", "no raw packets", ibv_modify_wq(&wq, &wq_change), EOPNOTSUPP);
	INT("ibv_destroy_wq", "no raw packets", ibv_destroy_wq(&wq), EOPNOTSUPP);
	NIL("ibv_create_rwq_ind_table", "no raw packets",
		ibv_create_rwq_ind_table(fx.context, &table_attr), EOPNOTSUPP);
	INT("ibv_destroy_rwq_ind_table", "no raw packets", ibv_destroy_rwq_ind_table(&table),
		EOPNOTSUPP);
}

static void walk_counters(void)
{
	struct ibv_counters_init_attr attr = {0};
	struct ibv_counter_attach_attr attach = {0};
	struct ibv_counters counters = {.context = fx.context};
	struct ibv_flow flow = {.context = fx.context};
	uint64_t value;

	NIL("ibv_create_counters", "not supported", ibv_create_counters(fx.context, &attr),
		EOPNOTSUPP);
	INT("ibv_attach_counters_point_flow", "not supported",
		ibv_attach_counters_point_flow(&counters, &attach, &flow), EOPNOTSUPP);
	INT("ibv_read_counters", "not supported", ibv_read_counters(&counters, &value, 1, 0),
		EOPNOTSUPP);
	INT("ibv_destroy_counters", "not supported", ibv_destroy_counters(&counters), EOPNOTSUPP);
}

static void walk_xrc(void)
{
	struct ibv_xrcd_init_attr attr = {.comp_mask = 3, .fd = -1, .oflags = 0};
	struct ibv_qp_open_attr open_attr = {.qp_type = IBV_QPT_XRC_RECV};
	struct ibv_xrcd xrcd = {.context = fx.context};
	struct ibv_ops_wr op = {.opcode = IBV_WR_TAG_ADD}, *bad_op = NULL;
	uint32_t num;

	NIL("ibv_open_xrcd", "no XRC", ibv_open_xrcd(fx.context, &attr), EOPNOTSUPP);
	INT("ibv_close_xrcd", "no XRC", ibv_close_xrcd(&xrcd), EOPNOTSUPP);
	NIL("ibv_open_qp", "no XRC", ibv_open_qp(fx.context, &open_attr), EOPNOTSUPP);
	INT("ibv_get_srq_num", "no XRC", ibv_get_srq_num(w.srq, &num), EOPNOTSUPP);
	INT("ibv_post_srq_ops", "no tag matching", ibv_post_srq_ops(w.srq, &op, &bad_op),
		EOPNOTSUPP);
}

static void walk_tuning(void)
{
	struct ibv_qp_rate_limit_attr rate = {.rate_limit = 1000};
	struct ibv_ece ece = {0};

	INT("ibv_modify_qp_rate_limit", "no packet pacing", ibv_modify_qp_rate_limit(w.qp, &rate),
		EOPNOTSUPP);
	INT("ibv_set_ece", "not supported", ibv_set_ece(w.qp, &ece), EOPNOTSUPP);
	INT("ibv_query_ece", "not supported", ibv_query_ece(w.qp, &ece), EOPNOTSUPP);
}

void walk_absent(void **state)
{
	walk_datagrams();
	walk_device_memory();
	walk_raw();
	walk_counters();
	walk_xrc();
	walk_tuning();
}
