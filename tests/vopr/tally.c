/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/tally.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const ops[TALLY_OPS] = {[RDMAP_WC_SEND] = "Send",
	[RDMAP_WC_WRITE] = "Write",
	[RDMAP_WC_READ] = "Read",
	[RDMAP_WC_LOCAL_INV] = "Invalidate",
	[RDMAP_WC_BIND_MW] = "Bind",
	[RDMAP_WC_FETCH_ADD] = "FetchAdd",
	[RDMAP_WC_CMP_SWAP] = "CmpSwap",
	[RDMAP_WC_RECV] = "Receive",
	[RDMAP_WC_RECV_IMM] = "Receive of Immediate"};

static const char *const statuses[TALLY_STATUSES] = {[RDMAP_WC_SUCCESS] = "SUCCESS",
	[RDMAP_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
	[RDMAP_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
	[RDMAP_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
	[RDMAP_WC_MW_BIND_ERR] = "MW_BIND_ERR",
	[RDMAP_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
	[RDMAP_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
	[RDMAP_WC_REM_OP_ERR] = "REM_OP_ERR",
	[RDMAP_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
	[RDMAP_WC_FATAL_ERR] = "FATAL_ERR",
	[RDMAP_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR"};

#define DONE    (1u << RDMAP_WC_SUCCESS)
#define FLUSHED (1u << RDMAP_WC_WR_FLUSH_ERR)
#define OWN     (1u << RDMAP_WC_LOC_PROT_ERR)
#define REFUSED (1u << RDMAP_WC_REM_ACCESS_ERR)
#define ALONE   (1u << RDMAP_WC_RETRY_EXC_ERR)

/** What some hundred programs reach, whatever they are. */
static const unsigned reached[TALLY_OPS] = {[RDMAP_WC_SEND] = DONE | FLUSHED | OWN |
							      1u << RDMAP_WC_REM_INV_REQ_ERR |
							      1u << RDMAP_WC_REM_OP_ERR | ALONE,
	[RDMAP_WC_WRITE] = DONE | FLUSHED | OWN | REFUSED | ALONE,
	[RDMAP_WC_READ] = DONE | FLUSHED | OWN | REFUSED | ALONE,
	[RDMAP_WC_LOCAL_INV] = DONE | FLUSHED | OWN,
	[RDMAP_WC_BIND_MW] = DONE | FLUSHED | 1u << RDMAP_WC_MW_BIND_ERR,
	[RDMAP_WC_FETCH_ADD] = DONE | FLUSHED | OWN | REFUSED | ALONE,
	[RDMAP_WC_CMP_SWAP] = DONE | FLUSHED | OWN | REFUSED | ALONE,
	[RDMAP_WC_RECV] = DONE | FLUSHED | OWN | 1u << RDMAP_WC_LOC_LEN_ERR,
	[RDMAP_WC_RECV_IMM] = DONE};

static const char *const others[TALLY_OTHERS] = {
	[TALLY_EVENT_ANY] = "CQs that tell of any completion",
	[TALLY_EVENT_SOLICITED] = "CQs that tell of a solicited message",
	[TALLY_EVENT_FAILED] = "CQs that tell of a failure as of a solicited message",
	[TALLY_FOUND] = "Accesses to memory on demand",
	[TALLY_MISSING] = "Accesses to memory on demand that is not there",
	[TALLY_UD_SENT] = "UD: Sends",
	[TALLY_UD_RECEIVED] = "UD: receives",
	[TALLY_UD_DROPPED] = "UD: datagrams dropped",
	[TALLY_UD_FAILED] = "UD: Sends that failed"};

void tally_event(struct tally *t, enum model_arm asked, const struct rdmap_wc *wc)
{
	if (asked == MODEL_ARM_ANY)
		t->other[TALLY_EVENT_ANY]++;
	else if (wc->status == RDMAP_WC_SUCCESS)
		t->other[TALLY_EVENT_SOLICITED]++;
	else
		t->other[TALLY_EVENT_FAILED]++;
}

void tally_add(struct tally *to, const struct tally *from)
{
	for (unsigned i = 0; i < TALLY_OTHERS; i++)
		to->other[i] += from->other[i];
	for (unsigned op = 0; op < TALLY_OPS; op++)
		for (unsigned s = 0; s < TALLY_STATUSES; s++)
			to->n[op][s] += from->n[op][s];
}

void tally_print(const struct tally *t)
{
	for (unsigned op = 0; op < TALLY_OPS; op++) {
		printf("%s:", ops[op]);
		for (unsigned s = 0; s < TALLY_STATUSES; s++)
			if (t->n[op][s])
				printf(" %" PRIu64 " %s", t->n[op][s], statuses[s]);
		putchar('\n');
	}
	for (unsigned i = 0; i < TALLY_OTHERS; i++)
		printf("%s: %" PRIu64 "\n", others[i], t->other[i]);
}

unsigned tally_missing(const struct tally *t, uint64_t floor)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < TALLY_OTHERS; i++) {
		if (t->other[i] >= floor)
			continue;
		printf("%s: %" PRIu64 ", fewer than %" PRIu64 "\n", others[i], t->other[i], floor);
		missing++;
	}
	for (unsigned op = 0; op < TALLY_OPS; op++) {
		for (unsigned s = 0; s < TALLY_STATUSES; s++) {
			if (!(reached[op] & 1u << s) || t->n[op][s] >= floor)
				continue;
			printf("%s: %" PRIu64 " %s, fewer than %" PRIu64 "\n", ops[op], t->n[op][s],
				statuses[s], floor);
			missing++;
		}
	}
	return missing;
}
