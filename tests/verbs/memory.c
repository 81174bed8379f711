/* SPDX-License-Identifier: BSD-2-Clause */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define LEN (PROGRAM_SLOTS * (size_t)PROGRAM_SLOT)

/** The pattern of all that nobody has written to. */
static const uint8_t *program_pattern(size_t at)
{
	static _Thread_local uint8_t pattern[2 * LEN];

	for (size_t i = 0; pattern[0] == 0 && i < sizeof pattern; i++)
		pattern[sizeof pattern - 1 - i] = (uint8_t)(i * 31 + i / 251 + 7) | 1;
	return pattern + at;
}

void program_memory_open(struct program_memory *m, int access)
{
	m->at = aligned_alloc(4096, LEN);
	NEED(m->at);
	/* Sources differ from what is there before. */
	memcpy(m->at, program_pattern(access & IBV_ACCESS_LOCAL_WRITE ? 0 : 12345), LEN);
	m->mr = ibv_reg_mr(program.pd, m->at, LEN, access);
	NEED(m->mr);
}

void program_memory_close(struct program_memory *m)
{
	NEED(ibv_dereg_mr(m->mr) == 0);
	free(m->at);
}

unsigned program_slot_take(const struct program_memory *m, bool *busy)
{
	unsigned slot = program_below(PROGRAM_SLOTS);

	for (unsigned i = 0; i < PROGRAM_SLOTS; i++, slot = (slot + 1) % PROGRAM_SLOTS) {
		if (busy[slot])
			continue;
		busy[slot] = true;
		memcpy(program_slot(m, slot), program_pattern(slot * (size_t)PROGRAM_SLOT),
			PROGRAM_SLOT);
		return slot;
	}
	return PROGRAM_SLOTS;
}

void program_slot_check(const struct program_memory *m, unsigned slot, uint32_t at,
	const uint8_t *text, uint32_t len, bool maybe)
{
	const uint8_t *is = program_slot(m, slot);
	const uint8_t *was = program_pattern(slot * (size_t)PROGRAM_SLOT);

	for (uint32_t i = 0; i < PROGRAM_SLOT; i++) {
		bool inside = i >= at && i - at < len;

		NEED((inside && is[i] == text[i - at]) || (is[i] == was[i] && (!inside || maybe)));
	}
}

void program_receive_check(const struct program_receives *q, const struct program_receive *r,
	const uint8_t *text, uint32_t len, bool maybe)
{
	uint8_t is[PROGRAM_SLOT], must[PROGRAM_SLOT];
	const uint8_t *slot = program_slot(&q->memory, r->slot);

	memcpy(is, slot, PROGRAM_SLOT);
	memcpy(must, program_pattern(r->slot * (size_t)PROGRAM_SLOT), PROGRAM_SLOT);
	for (int i = 0; i < r->sges && len; i++) {
		size_t at = (uint8_t *)(uintptr_t)r->sge[i].addr - slot;
		uint32_t n = len < r->sge[i].length ? len : r->sge[i].length;

		for (uint32_t k = 0; maybe && k < n; k++)
			if (is[at + k] == must[at + k])
				is[at + k] = text[k];
		memcpy(must + at, text, n);
		text += n;
		len -= n;
	}
	NEED(memcmp(is, must, PROGRAM_SLOT) == 0);
}
