/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments that the input chooses. */
#include "verbs_world.h"

#define SGES 16

void verbs_any_bytes(void *to, size_t len)
{
	size_t got;
	const uint8_t *p = fuzz_bytes(verbs_world.in, len, &got);

	memset(to, 0, len);
	memcpy(to, p, got);
}

/** In the arena, at its ends, beside it, or nowhere. */
uint64_t verbs_any_address(void)
{
	uintptr_t arena = (uintptr_t)verbs_world.arena;
	uint8_t how = fuzz_u8(verbs_world.in);

	switch (how & 15) {
	case 13:
		return arena + VERBS_ARENA - (how >> 4);
	case 14:
		return how & 16 ? arena - 1u - (how >> 4) : arena + VERBS_ARENA + (how >> 4);
	case 15:
		/* No address of this machine. */
		return how & 16 ? UINT64_MAX - (how >> 5) : UINT64_C(0xdead000000000000);
	case 12:
		return 0;
	default:
		return arena + fuzz_u16(verbs_world.in) % VERBS_ARENA;
	}
}

/** With at least half of the arena behind it. */
uint64_t verbs_good_address(void)
{
	return (uintptr_t)verbs_world.arena + fuzz_u16(verbs_world.in) % (VERBS_ARENA / 2);
}

uint64_t verbs_any_length(void)
{
	uint8_t how = fuzz_u8(verbs_world.in);

	switch (how & 15) {
	case 13:
		return fuzz_u32(verbs_world.in);
	case 14:
		return fuzz_u64(verbs_world.in);
	case 15:
		return UINT64_MAX >> (how >> 4) * 4;
	default:
		return how & 8 ? fuzz_u16(verbs_world.in) % 8192u : how;
	}
}

void *verbs_any_object(enum verbs_kind kind)
{
	return verbs_world.object[kind][fuzz_u8(verbs_world.in) % VERBS_SLOTS];
}

uint32_t verbs_any_key(void)
{
	uint8_t how = fuzz_u8(verbs_world.in);
	struct ibv_mr *mr = verbs_world.object[VERBS_MR][(how >> 2) % VERBS_SLOTS];
	struct ibv_mw *mw = verbs_world.object[VERBS_MW][(how >> 2) % VERBS_SLOTS];

	if ((how & 3) < 2 && mr)
		return mr->lkey ^ (how >> 7);
	return (how & 3) == 2 && mw ? mw->rkey ^ (how >> 7) : fuzz_u32(verbs_world.in);
}

uint64_t verbs_next_id(uint8_t of)
{
	uint64_t id = verbs_world.wr_id++ % VERBS_IDS;

	verbs_world.open[id] = of;
	return id;
}

void verbs_forget(uint8_t of)
{
	for (uint64_t i = 0; i < VERBS_IDS && i < verbs_world.wr_id; i++)
		if (verbs_world.open[i] == of)
			verbs_world.open[i] = 0;
}

struct ibv_sge *verbs_any_list(bool good)
{
	struct ibv_sge *sge = malloc(SGES * sizeof *sge);
	unsigned n = fuzz_u8(verbs_world.in) % (SGES + 1);

	MUST(sge);
	memset(sge, 0, SGES * sizeof *sge);
	for (unsigned i = 0; i < n; i++) {
		sge[i].addr = good ? verbs_good_address() : verbs_any_address();
		sge[i].length = (uint32_t)verbs_any_length();
		sge[i].lkey = verbs_any_key();
	}
	return sge;
}

int verbs_any_count(void)
{
	uint8_t how = fuzz_u8(verbs_world.in);

	return how < 0xf0 ? how % 3 : (int)(int8_t)how * (how & 1 ? 1 : -100);
}
