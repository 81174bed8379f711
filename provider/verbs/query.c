/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/verbs/objects.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Programs select tuning and workarounds by these, so they are unique: a locally administered OUI,
 * which IEEE assigns to no vendor ("viw"; Linux's siw has "bmt"), and the number of the device's
 * specification.
 */
#define VENDOR_ID      0x766977
#define VENDOR_PART_ID 5040

/* verbs counts in int what the RNIC counts in uint32_t. */
static int query_as_int(uint64_t n)
{
	return n > INT_MAX ? INT_MAX : (int)n;
}

uint64_t device_guid(struct device *d)
{
	if (atomic_load_explicit(&d->guid, memory_order_acquire) == 0)
		(void)d->source->identify(d);
	return atomic_load_explicit(&d->guid, memory_order_acquire);
}

/* The stack's RNIC is created with these limits, so they can be told before it is there. */
static void query_fill_device(struct device *d, struct ibv_device_attr *a)
{
	const struct rnic_limits *l = rnic_default_limits();

	memset(a, 0, sizeof *a);
	snprintf(a->fw_ver, sizeof a->fw_ver, "%s", UIWARP_VERSION);
	a->node_guid = device_guid(d);
	a->sys_image_guid = a->node_guid;
	a->max_mr_size = l->max_mr_size;
	a->page_size_cap = (uint64_t)sysconf(_SC_PAGESIZE);
	a->vendor_id = VENDOR_ID;
	a->vendor_part_id = VENDOR_PART_ID;
	a->hw_ver = 1;
	a->max_qp = query_as_int(l->max_qp);
	a->max_qp_wr = query_as_int(l->max_qp_wr);
	/*
	 * Local Invalidate, Send with Invalidate; windows for a PD, and for one QP. And that
	 * IBV_QP_CUR_STATE is looked at, and IBV_EVENT_PORT_ACTIVE raised.
	 */
	a->device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW |
			      IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_CURR_QP_STATE_MOD |
			      IBV_DEVICE_PORT_ACTIVE_EVENT;
	a->max_sge = query_as_int(l->max_sge);
	a->max_sge_rd = query_as_int(l->max_sge_read);
	a->max_cq = query_as_int(l->max_cq);
	a->max_cqe = query_as_int(l->max_cqe);
	a->max_mr = query_as_int(l->max_mr);
	a->max_mw = query_as_int(l->max_mw);
	a->max_pd = query_as_int(l->max_pd);
	a->max_qp_rd_atom = query_as_int(l->max_ird);
	a->max_qp_init_rd_atom = query_as_int(l->max_ord);
	a->max_res_rd_atom = query_as_int((uint64_t)l->max_ird * l->max_qp);
	/*
	 * An operation is the host's own atomic instruction on the program's memory, so it is
	 * atomic for all users of such instructions there, not for this device's streams alone.
	 */
	a->atomic_cap = IBV_ATOMIC_GLOB;
	a->max_srq = query_as_int(l->max_srq);
	a->max_srq_wr = query_as_int(l->max_srq_wr);
	a->max_srq_sge = l->max_srq == 0 ? 0 : query_as_int(l->max_sge);
	a->max_ah = AH_MAX;
	a->max_mcast_grp = RNIC_MCAST_GROUPS;
	a->max_mcast_qp_attach = RNIC_MCAST_QPS;
	a->max_total_mcast_qp_attach = RNIC_MCAST_GROUPS * RNIC_MCAST_QPS;
	a->max_pkeys = 1;
	a->phys_port_cnt = 1;
}

int query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	query_fill_device(device_of(context), attr);
	return 0;
}

/* What the kernel calls page faults of the device are those of our own thread. */
#define ODP_RC                                                                 \
	(IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | \
		IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV)

/* What is not named here the device does not have: zero. */
static void query_fill_extended(struct device *d, struct ibv_device_attr_ex *a)
{
	*a = (struct ibv_device_attr_ex){
		.odp_caps = {.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT,
			.per_transport_caps.rc_odp_caps = ODP_RC},
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = 1000000, /* kHz: it counts nanoseconds */
		.cq_mod_caps = {.max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX},
		.phys_port_cnt_ex = 1,
	};
	query_fill_device(d, &a->orig_attr);
	a->device_cap_flags_ex = a->orig_attr.device_cap_flags;
}

int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
	struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr_ex full;

	if (input && input->comp_mask != 0)
		return EINVAL;
	if (attr_size < sizeof attr->orig_attr)
		return EOPNOTSUPP;
	query_fill_extended(device_of(context), &full);
	/* The caller's structure may be of another age: shorter than ours, or longer. */
	memset(attr, 0, attr_size);
	memcpy(attr, &full, attr_size < sizeof full ? attr_size : sizeof full);
	return 0;
}

int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	uint64_t now;
	int rc;

	if ((values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK) != 0)
		return EINVAL;
	if (values->comp_mask == 0)
		return 0;
	rc = device_start(device_of(context));
	if (rc != 0)
		return fail_errno(rc);
	now = rnic_clock(device_of(context)->rnic);
	values->raw_clock.tv_sec = (time_t)(now / 1000000000);
	values->raw_clock.tv_nsec = (long)(now % 1000000000);
	return 0;
}

/* ---- the port ------------------------------------------------------------------------------ */

/* The largest of verbs' few sizes that an IP packet takes. */
static enum ibv_mtu query_mtu_from_bytes(unsigned bytes)
{
	static const struct {
		unsigned bytes;
		enum ibv_mtu mtu;
	} sizes[] = {{4096, IBV_MTU_4096}, {2048, IBV_MTU_2048}, {1024, IBV_MTU_1024},
		{512, IBV_MTU_512}};

	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (bytes >= sizes[i].bytes)
			return sizes[i].mtu;
	return IBV_MTU_256;
}

/* Lanes (1: 1X, 2: 4X) and speed of a lane (1: 2.5, 4: 10, 32: 25, 64: 50 Gb/s) for a link. */
static void query_fill_speed(struct ibv_port_attr *a, uint32_t mbps)
{
	static const struct {
		uint32_t mbps;
		uint8_t width, speed;
	} links[] = {{200000, 2, 64}, {100000, 2, 32}, {50000, 1, 64}, {40000, 2, 4},
		{25000, 1, 32}, {10000, 1, 4}};

	a->active_width = 1;
	a->active_speed = 1;
	for (unsigned i = 0; i < sizeof links / sizeof links[0]; i++) {
		if (mbps >= links[i].mbps) {
			a->active_width = links[i].width;
			a->active_speed = links[i].speed;
			break;
		}
	}
}

/*
 * A memif has no cable of its own: its link is up while the other process is there. Programs look
 * at the port before their peer is started, perftest's servers for one, so such a port counts as
 * ready.
 */
static bool query_has_carrier(const struct device *d)
{
	return strncmp(stack_config(d->stack)->port, "net_memif", 9) != 0;
}

static void query_fill_port(const struct device *d, struct ibv_port_attr *a)
{
	uint16_t mtu;
	uint32_t speed;
	bool up;

	stack_link(d->stack, &mtu, &speed, &up);
	up = up || !query_has_carrier(d);
	memset(a, 0, sizeof *a);
	a->state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	a->max_mtu = IBV_MTU_4096;
	a->active_mtu = query_mtu_from_bytes(mtu);
	a->gid_tbl_len = (int)gid_count(d);
	a->pkey_tbl_len = 1;
	a->port_cap_flags = IBV_PORT_CM_SUP;
	a->max_vl_num = 1;
	a->max_msg_sz = rnic_default_limits()->max_message;
	/* Physical port state of InfiniBand: 5 is LinkUp, 3 is Disabled. */
	a->phys_state = up ? 5 : 3;
	a->link_layer = IBV_LINK_LAYER_ETHERNET;
	query_fill_speed(a, speed);
}

/** The device has one port. @return 0: its stack runs; or a positive errno. */
static int query_start_port(struct ibv_context *context, uint32_t port_num)
{
	return port_num != 1 ? EINVAL : fail_errno(device_start(device_of(context)));
}

int query_port(
	struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr, size_t attr_len)
{
	struct ibv_port_attr full;
	int rc = query_start_port(context, port_num);

	if (rc != 0)
		return rc;
	query_fill_port(device_of(context), &full);
	memset(attr, 0, attr_len);
	memcpy(attr, &full, attr_len < sizeof full ? attr_len : sizeof full);
	return 0;
}

/* What programs of before verbs_context.query_port have: all up to `flags`. */
int query_port_compat(
	struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr)
{
	return query_port(
		context, port_num, (void *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* In 100 Mb/s. A link that does not tell its speed has what active_speed says then: 2.5 Gb/s. */
int query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *speed)
{
	uint16_t mtu;
	uint32_t mbps;
	bool up;
	int rc = query_start_port(context, port_num);

	if (rc != 0)
		return rc;
	stack_link(device_of(context)->stack, &mtu, &mbps, &up);
	*speed = mbps == 0 ? 25 : ((uint64_t)mbps + 99) / 100;
	return 0;
}

int query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	if (port_num != 1 || index != 0) {
		errno = EINVAL;
		return -1;
	}
	*pkey = 0xffff;
	return 0;
}

int query_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	if (port_num == 1 && pkey == 0xffff)
		return 0;
	errno = EINVAL;
	return -1;
}
