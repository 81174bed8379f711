/* SPDX-License-Identifier: BSD-2-Clause */
/* DDP segments: RFC 5041 sections 4 and 5. */
#include "pcap/check.h"

/* A wrong MSN that is right if it is counted or written otherwise. */
static const char *check_msn_meaning(
	const struct check_fpdu *x, const struct ddp_segment *s, uint32_t due)
{
	uint32_t all = 1;

	for (unsigned i = 0; i < DDP_QUEUES; i++)
		all += x->me->messages[i];
	if (s->msn == __builtin_bswap32(due))
		return ": it looks little-endian";
	if (s->msn == all && !x->me->gap)
		return ": it is counted over all queues";
	return s->msn == due - 1 && due == 1 ? ": it is counted from 0" : "";
}

/*
 * The sender may go on behind the wrong number that it has sent, or where it would be without: that
 * is one fault.
 */
static void check_queue_take_back(struct check_fpdu *x, struct ddp_queue *q)
{
	const struct ddp_segment *s = &x->f->segment;
	const struct ddp_queue *due = &x->me->due.rx[s->qn];

	if (x->me->queue_wrong[s->qn] && s->msn == due->msn && s->mo == due->mo)
		*q = *due;
	x->me->queue_wrong[s->qn] = false;
}

static void check_queue_fail(struct check_fpdu *x, const struct ddp_queue *q)
{
	const struct ddp_segment *s = &x->f->segment;

	x->me->queue_wrong[s->qn] = true;
	x->me->due.rx[s->qn] = (struct ddp_queue){
		.msn = q->msn,
		.mo = s->msn == q->msn ? q->mo : s->mo, /* of another MSN, it is right */
	};
	ddp_advance(&x->me->due, s);
}

static void check_sequence(struct check_fpdu *x)
{
	const struct ddp_segment *s = &x->f->segment;
	struct ddp_queue *q = &x->me->ddp.rx[s->qn];

	/* After a hole the numbers are taken as they come; they tell what was in it. */
	if (!x->me->queue_known[s->qn]) {
		if (s->qn == RDMAP_QN_READ && x->me->requests_counted)
			x->unseen_requests = s->msn - q->msn;
		*q = (struct ddp_queue){.msn = s->msn, .mo = s->mo};
	}
	x->me->queue_known[s->qn] = true;
	check_queue_take_back(x, q);
	switch (ddp_check_untagged(&x->me->ddp, s)) {
	case DDP_ERROR_MSN_RANGE:
		check_fail_header(x, DDP_AT_MSN, 4, q->msn == 1 ? REQ_DDP_4_3_9 : REQ_DDP_4_3_8,
			"MSN %u on queue %u; %u is due%s", s->msn, s->qn, q->msn,
			check_msn_meaning(x, s, q->msn));
		check_queue_fail(x, q);
		break;
	case DDP_ERROR_INVALID_MO:
		check_fail_header(x, DDP_AT_MO, 4, q->mo == 0 ? REQ_DDP_4_3_12 : REQ_DDP_5_2_6,
			"MO %u on queue %u; %u is due", s->mo, s->qn, q->mo);
		check_queue_fail(x, q);
		break;
	case DDP_ERROR_TOO_LONG:
		check_fail_header(x, DDP_AT_MO, 4, REQ_DDP_5_2_3, "MO %u and %u octets of payload",
			s->mo, s->len);
		break;
	default:
		break;
	}
	/* Whatever it said, that is where its sender goes on. */
	*q = (struct ddp_queue){.msn = s->msn, .mo = s->mo};
	ddp_advance(&x->me->ddp, s);
}

static void check_untagged(struct check_fpdu *x)
{
	const struct ddp_segment *s = &x->f->segment;
	struct check_message *m, *due;
	bool alike;

	if (s->qn >= DDP_QUEUES)
		return; /* RDMAP's part says which it should be */
	m = &x->me->untagged[s->qn];
	due = &x->me->untagged_due[s->qn];
	check_sequence(x);
	x->me->messages[s->qn] += s->last;
	alike = !m->open || s->mo == 0 || (m->ulp == s->ulp && m->ulp32 == s->ulp32) ||
		(due->open && due->ulp == s->ulp && due->ulp32 == s->ulp32);
	*due = (struct check_message){.open = !alike, .ulp = m->ulp, .ulp32 = m->ulp32};
	if (!alike)
		check_fail_header(x, DDP_AT_ULP, 5, REQ_DDP_4_3_4,
			"RsvdULP %02x %08x, in the same message %02x %08x before", s->ulp, s->ulp32,
			m->ulp, m->ulp32);
	*m = (struct check_message){.open = !s->last, .ulp = s->ulp, .ulp32 = s->ulp32};
}

static bool check_tagged_goes_on(const struct check_message *m, const struct ddp_segment *s)
{
	return m->ulp == s->ulp && m->ulp32 == s->stag && m->next == s->to;
}

/* It does not go on with the message that is open: what of it is wrong? */
static void check_tagged_fail(struct check_fpdu *x, const struct check_message *m)
{
	const struct ddp_segment *s = &x->f->segment;

	if (s->ulp != m->ulp) {
		check_fail_header(x, DDP_AT_ULP, 1, REQ_DDP_4_2_4,
			"RsvdULP %02x, in the same message %02x before", s->ulp, m->ulp);
		return;
	}
	x->misplaced = true;
	if (s->stag != m->ulp32)
		check_fail_header(x, DDP_AT_STAG, 4, REQ_DDP_4_2_8,
			"STag 0x%x, in the same message 0x%x before", s->stag, m->ulp32);
	else
		check_fail_header(x, DDP_AT_TO, 8, REQ_DDP_5_2_8, "TO 0x%llx; 0x%llx is due",
			(unsigned long long)s->to, (unsigned long long)m->next);
}

static void check_tagged(struct check_fpdu *x)
{
	const struct ddp_segment *s = &x->f->segment;
	struct check_message *m = &x->me->tagged, *due = &x->me->tagged_due;
	bool alike = !m->open || s->len == 0 || check_tagged_goes_on(m, s) ||
		     (due->open && check_tagged_goes_on(due, s));

	if (s->len != 0 && s->len - 1 > UINT64_MAX - s->to)
		check_fail(x, REQ_DDP_7_1_14, "TO 0x%llx and %u octets of payload",
			(unsigned long long)s->to, s->len);
	if (!alike)
		check_tagged_fail(x, m);
	*due = *m;
	due->open = !alike;
	due->next += s->len;
	*m = (struct check_message){
		.open = !s->last, .ulp = s->ulp, .ulp32 = s->stag, .next = s->to + s->len};
}

bool check_segment(struct check_fpdu *x)
{
	const struct ddp_segment *s = &x->f->segment;
	uint8_t control = x->f->fpdu.ulpdu.len == 0 ? 0 : *mpa_cursor_at(&x->f->fpdu.ulpdu.at);

	if (!x->f->header)
		return false;
	if (x->f->ddp == DDP_ERROR_SHORT) {
		check_fail(x, REQ_DDP_4_4_1, "a ULPDU of %u octets", x->f->fpdu.ulpdu.len);
		return false;
	}
	if (x->f->ddp != DDP_OK) {
		check_fail(x, REQ_DDP_4_1_9, "DV is %u", control & DDP_CONTROL_VERSION);
		return false;
	}
	if (control & DDP_CONTROL_RESERVED)
		check_fail_header(x, DDP_AT_CONTROL, 1, REQ_DDP_4_1_8,
			"DDP's control octet is 0x%02x", control);
	if (s->len == 0 && !s->last && (s->tagged ? !x->me->tagged.open : s->mo == 0))
		check_fail(x, REQ_DDP_5_2_9,
			"a segment without payload begins a message and does "
			"not end it");
	if (s->tagged)
		check_tagged(x);
	else
		check_untagged(x);
	return true;
}
