/* SPDX-License-Identifier: BSD-2-Clause */
/* Start-up frames that we send: where they are written to, whatever is written. */
#include "mpa/startup.h"
#include "proofs/prove.h"

void *memcpy(void *to, const void *from, size_t len)
{
	assert(__CPROVER_w_ok(to, len) && __CPROVER_r_ok(from, len));
	return to;
}

/* Any frame that we are told to send: within the room for it, or refused. */
void proof_startup_room(void)
{
	uint8_t out[MPA_FRAME_MAX], data[MPA_PRIVATE_MAX];
	struct mpa_start st = {.revision = nondet_u8(),
		.enhanced = nondet_bool(),
		.private_data = data,
		.private_len = nondet_u16()};
	size_t most = MPA_PRIVATE_MAX - (st.enhanced ? MPA_ENHANCED_LEN : 0);
	int len = mpa_startup_build(MPA_FRAME_REQUEST, &st, out);

	assert((len < 0) == (st.private_len > most));
	assert(len <= MPA_FRAME_MAX);
}
