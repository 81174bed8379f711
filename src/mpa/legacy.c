/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/legacy.h"

#include "base/bytes.h"

#define SMB_DIRECT_PORT 5445
#define WORDS_LEN       8

bool mpa_legacy_applies(uint8_t legacy, uint16_t port)
{
	return legacy == MPA_LEGACY_ALWAYS ||
	       (legacy == MPA_LEGACY_SMB_PORT && port == SMB_DIRECT_PORT);
}

static bool mpa_legacy_is_depth(uint32_t n)
{
	return n != 0 && n < MPA_DEPTH_UNKNOWN;
}

bool mpa_legacy_depths(const uint8_t *private_data, size_t len, uint16_t *ird, uint16_t *ord)
{
	uint32_t a, b;

	if (len != WORDS_LEN)
		return false;
	a = load_be32(private_data);
	b = load_be32(private_data + 4);
	if (!mpa_legacy_is_depth(a) || !mpa_legacy_is_depth(b)) {
		a = load_le32(private_data);
		b = load_le32(private_data + 4);
	}
	if (!mpa_legacy_is_depth(a) || !mpa_legacy_is_depth(b))
		return false;
	*ird = (uint16_t)a;
	*ord = (uint16_t)b;
	return true;
}
