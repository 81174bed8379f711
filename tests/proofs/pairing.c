/* SPDX-License-Identifier: BSD-2-Clause */
/* The hello of a pairing (docs/connect.md) there and back. */
#include "proofs/prove.h"
#include "rnic/pairing_wire.h"

/* Any hello. */
void proof_hello_round_trip(void)
{
	struct pairing_hello h = {.refusal = nondet_u8(),
				     .to_qp = nondet_u32(),
				     .from_qp = nondet_u32(),
				     .psn = nondet_u32()},
			     got;
	uint8_t p[PAIRING_HELLO_LEN];

	assume(h.refusal < PAIRING_REFUSALS && h.to_qp <= PAIRING_NUMBER_MASK &&
		h.from_qp <= PAIRING_NUMBER_MASK && h.psn <= PAIRING_NUMBER_MASK);
	pairing_put_hello(p, &h);
	assert(pairing_get_hello(p, sizeof p, &got));
	assert(got.refusal == h.refusal && got.to_qp == h.to_qp);
	assert(got.from_qp == h.from_qp && got.psn == h.psn);
}

/* Any bytes of any length: nothing beyond them is read; what is taken is written the same. */
void proof_hello_canonical(void)
{
	uint8_t memory[PAIRING_HELLO_LEN + 1], again[PAIRING_HELLO_LEN];
	size_t len = nondet_size();
	const uint8_t *p;
	struct pairing_hello h;

	assume(len <= sizeof memory);
	p = memory + sizeof memory - len;
	if (!pairing_get_hello(p, len, &h))
		return;
	assert(len == PAIRING_HELLO_LEN);
	pairing_put_hello(again, &h);
	assert(memcmp(again, p, len) == 0);
}
