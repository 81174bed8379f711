/* SPDX-License-Identifier: BSD-2-Clause */
/* The device, its port, its clock and its events. */
#include "manual_walk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* NOTES: "does not release all the resources allocated using context". */
static void walk_close(void)
{
	struct ibv_context *c = ibv_open_device(fx.context->device);
	struct ibv_pd *pd = ibv_alloc_pd(c);

	INT("ibv_close_device", "with objects", ibv_close_device(c), 0);
	INT("ibv_dealloc_pd", "of a closed device", ibv_dealloc_pd(pd), 0);
}

static void walk_list(void)
{
	struct ibv_device **list;
	int n = -1;

	list = ibv_get_device_list(&n);
	TRUE("ibv_get_device_list", "there is one", list != NULL && n >= 1 && list[n] == NULL);
	TRUE("ibv_get_device_name", "ours", strcmp(ibv_get_device_name(list[n - 1]), "uiw0") == 0);
	TRUE("ibv_get_device_guid", "ours", ibv_get_device_guid(list[n - 1]) == w.attr.node_guid);
	INT("ibv_get_device_index", "the kernel knows none", ibv_get_device_index(list[n - 1]), -1);
	ibv_free_device_list(list);
	list = ibv_get_device_list(NULL);
	TRUE("ibv_free_device_list", "without a number", list != NULL);
	TRUE("ibv_open_device", "twice", w.other != fx.context);
	ibv_free_device_list(list);
	walk_close();
	TRUE("ibv_import_device", "no command channel",
		ibv_import_device(fx.context->cmd_fd) == NULL);
	NIL("ibv_import_pd", "iWARP's objects have no handle", ibv_import_pd(fx.context, 0),
		EOPNOTSUPP);
	NIL("ibv_import_mr", "likewise", ibv_import_mr(w.pd, 0), EOPNOTSUPP);
	NIL("ibv_import_dm", "likewise", ibv_import_dm(fx.context, 0), EOPNOTSUPP);
	INT("ibv_fork_init", "any time", ibv_fork_init(), 0);
	TRUE("ibv_is_fork_initialized", "after it", ibv_is_fork_initialized() != IBV_FORK_DISABLED);
}

static void walk_attributes(void)
{
	struct ibv_query_device_ex_input bad = {.comp_mask = 1};
	struct ibv_values_ex clock = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK},
			     odd = {.comp_mask = 1 << 5};
	struct ibv_device_attr_ex ex;
	const struct ibv_device_attr *a = &w.attr;

	INT("ibv_query_device", "plain", ibv_query_device(fx.context, &w.attr), 0);
	TRUE("ibv_query_device", "as large as promised", a->max_qp >= 65536 && a->max_mr >= 65536);
	INT("ibv_query_device_ex", "plain", ibv_query_device_ex(fx.context, NULL, &ex), 0);
	TRUE("ibv_query_device_ex", "the same", memcmp(&ex.orig_attr, a, sizeof *a) == 0);
	INT("ibv_query_device_ex", "unknown input", ibv_query_device_ex(fx.context, &bad, &ex),
		EINVAL);
	TRUE("ibv_query_device_ex", "what iWARP has not",
		ex.tso_caps.max_tso == 0 && ex.rss_caps.supported_qpts == 0 &&
			ex.max_wq_type_rq == 0 && ex.packet_pacing_caps.supported_qpts == 0 &&
			ex.tm_caps.max_ops == 0 && ex.max_dm_size == 0 && ex.xrc_odp_caps == 0);
	INT("ibv_query_rt_values_ex", "the clock", ibv_query_rt_values_ex(fx.context, &clock), 0);
	INT("ibv_query_rt_values_ex", "unknown value", ibv_query_rt_values_ex(fx.context, &odd),
		EINVAL);
}

static void walk_port(void)
{
	struct ibv_gid_entry entries[8];
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	INT("ibv_query_port", "plain", ibv_query_port(fx.context, 1, &port), 0);
	INT("ibv_query_port", "port 0", ibv_query_port(fx.context, 0, &port), EINVAL);
	INT("ibv_query_port", "port 2", ibv_query_port(fx.context, 2, &port), EINVAL);
	TRUE("ibv_query_port", "an Ethernet", port.link_layer == IBV_LINK_LAYER_ETHERNET);
	INT("ibv_query_gid", "plain", ibv_query_gid(fx.context, 1, 0, &gid), 0);
	INT("ibv_query_gid", "port 2", ibv_query_gid(fx.context, 2, 0, &gid), -1);
	INT("ibv_query_gid", "behind the table", ibv_query_gid(fx.context, 1, 200, &gid), -1);
	INT("ibv_query_gid", "before the table", ibv_query_gid(fx.context, 1, -1, &gid), -1);
	INT("ibv_query_gid_ex", "plain", ibv_query_gid_ex(fx.context, 1, 0, entries, 0), 0);
	INT("ibv_query_gid_ex", "behind the table",
		ibv_query_gid_ex(fx.context, 1, 200, entries, 0), EINVAL);
	INT("ibv_query_gid_ex", "port 2", ibv_query_gid_ex(fx.context, 2, 0, entries, 0), EINVAL);
	INT("ibv_query_gid_ex", "flags", ibv_query_gid_ex(fx.context, 1, 0, entries, 1), EINVAL);
	TRUE("ibv_query_gid_table", "plain",
		ibv_query_gid_table(fx.context, entries, 8, 0) == port.gid_tbl_len);
	INT("ibv_query_gid_table", "too small a table",
		ibv_query_gid_table(fx.context, entries, 0, 0), -EINVAL);
	INT("ibv_query_gid_table", "flags", ibv_query_gid_table(fx.context, entries, 8, 1),
		-EINVAL);
	INT("ibv_query_pkey", "plain", ibv_query_pkey(fx.context, 1, 0, &pkey), 0);
	INT("ibv_query_pkey", "behind the table",
		ibv_query_pkey(fx.context, 1, port.pkey_tbl_len, &pkey), -1);
	INT("ibv_query_pkey", "port 2", ibv_query_pkey(fx.context, 2, 0, &pkey), -1);
	INT("ibv_get_pkey_index", "plain", ibv_get_pkey_index(fx.context, 1, pkey), 0);
	INT("ibv_get_pkey_index", "no such key", ibv_get_pkey_index(fx.context, 1, 0x1234), -1);
	INT("ibv_get_pkey_index", "port 2", ibv_get_pkey_index(fx.context, 2, pkey), -1);
}

static void walk_events(void)
{
	int flags = fcntl(fx.context->async_fd, F_GETFL);
	struct ibv_async_event ev = {.event_type = IBV_EVENT_PORT_ACTIVE};

	fcntl(fx.context->async_fd, F_SETFL, flags | O_NONBLOCK);
	MINUS("ibv_get_async_event", "none is there", ibv_get_async_event(fx.context, &ev), EAGAIN);
	fcntl(fx.context->async_fd, F_SETFL, flags);
	ibv_ack_async_event(&ev);
	TRUE("ibv_ack_async_event", "one of a port counts nowhere", true);
}

/* The library's own: that nobody stands in their way. */
static void walk_strings(void)
{
	TRUE("ibv_event_type_str", "", strlen(ibv_event_type_str(IBV_EVENT_SQ_DRAINED)) > 5);
	TRUE("ibv_node_type_str", "", strcmp(ibv_node_type_str(IBV_NODE_RNIC), "iWARP NIC") == 0);
	TRUE("ibv_port_state_str", "", strlen(ibv_port_state_str(IBV_PORT_ACTIVE)) > 5);
	INT("ibv_rate_to_mbps", "", ibv_rate_to_mbps(IBV_RATE_10_GBPS), 10000);
	INT("mbps_to_ibv_rate", "", mbps_to_ibv_rate(10000), IBV_RATE_10_GBPS);
	INT("ibv_rate_to_mult", "", ibv_rate_to_mult(IBV_RATE_10_GBPS), 4);
	INT("mult_to_ibv_rate", "", mult_to_ibv_rate(4), IBV_RATE_10_GBPS);
}

void walk_device(void **state)
{
	walk_list();
	walk_attributes();
	walk_port();
	walk_events();
	walk_strings();
}
