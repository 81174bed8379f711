/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_mpa.h"

#include "host/config_value.h"

#include <string.h>

enum config_peer {
	CONFIG_PEER_AUTO,
	CONFIG_PEER_RFC,
	CONFIG_PEER_SIW,
	CONFIG_PEER_CXGB4,
	CONFIG_PEER_IRDMA,
	CONFIG_PEER_QED,
	CONFIG_PEER_SMBDIRECT,
};

const struct config_word config_mpa_peers[] = {
	{"auto", CONFIG_PEER_AUTO, false},
	{"rfc", CONFIG_PEER_RFC, false},
	{"siw", CONFIG_PEER_SIW, false},
	{"cxgb4", CONFIG_PEER_CXGB4, false},
	{"irdma", CONFIG_PEER_IRDMA, false},
	{"qed", CONFIG_PEER_QED, false},
	{"smbdirect", CONFIG_PEER_SMBDIRECT, false},
	{0},
};

#define CONFIG_RTR_ALL (MPA_RTR_WRITE | MPA_RTR_READ | MPA_RTR_SEND)

/* All take CRCs and none wants markers from us unasked. docs/peers.md has reasons and sources. */
static const struct mpa_config config_mpa_presets[] = {
	[CONFIG_PEER_AUTO] = {.revision = 2,
		.crc = MPA_CRC_PREFERRED,
		.rtr = CONFIG_RTR_ALL,
		.rtr_order = {MPA_RTR_WRITE, MPA_RTR_READ, MPA_RTR_SEND},
		.peer_to_peer = true,
		.send_imm = true},
	[CONFIG_PEER_RFC] = {.revision = 2,
		.crc = MPA_CRC_PREFERRED,
		.rtr = CONFIG_RTR_ALL,
		.peer_to_peer = true,
		.legacy = MPA_LEGACY_NEVER},
	/*
	 * It has no RTR Send, resets if there are more private data, and loses an FPDU right behind
	 * its reply.
	 */
	[CONFIG_PEER_SIW] = {.revision = 2,
		.crc = MPA_CRC_PREFERRED,
		.rtr = MPA_RTR_WRITE | MPA_RTR_READ,
		.peer_to_peer = true,
		.private_max = 256,
		.settle_ms = 10},
	/* Its own default is the Read. */
	[CONFIG_PEER_CXGB4] = {.revision = 2,
		.crc = MPA_CRC_PREFERRED,
		.rtr = MPA_RTR_WRITE | MPA_RTR_READ,
		.rtr_order = {MPA_RTR_READ, MPA_RTR_WRITE},
		.peer_to_peer = true,
		.private_max = 256},
	[CONFIG_PEER_IRDMA] = {.revision = 2,
		.crc = MPA_CRC_PREFERRED,
		.rtr = MPA_RTR_WRITE | MPA_RTR_READ,
		.rtr_order = {MPA_RTR_READ, MPA_RTR_WRITE},
		.peer_to_peer = true},
	[CONFIG_PEER_QED] = {.revision = 2,
		.crc = MPA_CRC_PREFERRED,
		.rtr = CONFIG_RTR_ALL,
		.rtr_order = {MPA_RTR_READ, MPA_RTR_WRITE, MPA_RTR_SEND},
		.peer_to_peer = true},
	[CONFIG_PEER_SMBDIRECT] = {.revision = 1,
		.crc = MPA_CRC_PREFERRED,
		.rtr = CONFIG_RTR_ALL,
		.legacy = MPA_LEGACY_ALWAYS},
};

const char *config_mpa_peer(struct config *c, const char *v)
{
	const struct config_word *peer = config_value_word(config_mpa_peers, v);
	const struct config before = *c;

	if (!peer)
		return CONFIG_UNEXPECTED;
	c->mpa = config_mpa_presets[peer->value];
	for (unsigned i = 0; i < config_num_keys; i++) {
		const struct config_key *k = &config_keys[i];

		if (k->of_peer && (c->given >> i & 1) != 0)
			memcpy((char *)c + k->offset, (const char *)&before + k->offset, k->size);
	}
	return NULL;
}

const char *config_mpa_rtr(struct config *c, const char *v)
{
	static const struct config_word words[] = {{"write", MPA_RTR_WRITE, false},
		{"read", MPA_RTR_READ, false}, {"send", MPA_RTR_SEND, false}, {0}};
	uint8_t mask = 0, order[3] = {0};
	unsigned n = 0;
	char list[32];
	char *save = NULL;

	if (strcmp(v, "none") != 0) {
		if (!config_value_text(v, list, sizeof list) || v[0] == ',' ||
			v[strlen(v) - 1] == ',' || strstr(v, ",,"))
			return CONFIG_UNEXPECTED;
		for (char *w = strtok_r(list, ", \t", &save); w;
			w = strtok_r(NULL, ", \t", &save)) {
			const struct config_word *type = config_value_word(words, w);

			if (!type || (mask & type->value) != 0)
				return CONFIG_UNEXPECTED;
			order[n++] = (uint8_t)type->value;
			mask |= (uint8_t)type->value;
		}
	}
	c->mpa.rtr = mask;
	memcpy(c->mpa.rtr_order, order, sizeof order);
	c->mpa.peer_to_peer = mask != 0;
	return NULL;
}
