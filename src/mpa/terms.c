/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/terms.h"

const char *mpa_terms_of(const struct mpa_config *ours, enum mpa_role role,
	const struct mpa_start *peer, struct mpa_terms *t)
{
	*t = (struct mpa_terms){
		.crc = ours->crc != MPA_CRC_OFF || peer->crc,
		.tx_markers = peer->markers,
		.rx_markers = ours->markers,
	};
	if (role == MPA_INITIATOR && ours->crc == MPA_CRC_REQUIRED && !peer->crc)
		return "the reply does not agree to CRCs, which are required here";
	return NULL;
}
