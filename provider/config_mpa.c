/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config_mpa.h"

#include "base/number.h"
#include "provider/config_parse.h"

#include <string.h>

/* What was given by its own key: a preset leaves it alone. */
enum given {
	GIVEN_CRC = 1,
	GIVEN_MARKERS = 2,
	GIVEN_REVISION = 4,
	GIVEN_RTR = 8,
	GIVEN_FPDU = 16,
};

/* ---- peers ------------------------------------------------------------------------------- */

#define ALL_RTR (MPA_RTR_WRITE | MPA_RTR_READ | MPA_RTR_SEND)

/* All take CRCs and none wants markers from us unasked. docs/peers.md has reasons and sources. */
static const struct peer {
	const char *name;
	struct mpa_config mpa;
} peers[] = {
	{"auto", {.revision = 2, .crc = MPA_CRC_PREFERRED, .rtr = ALL_RTR, .peer_to_peer = true}},
	{"rfc", {.revision = 2,
			.crc = MPA_CRC_PREFERRED,
			.rtr = ALL_RTR,
			.peer_to_peer = true,
			.legacy = MPA_LEGACY_NEVER}},
	/* It knows no Send, resets on more private data, and loses an FPDU right behind its reply.
	 */
	{"siw", {.revision = 2,
			.crc = MPA_CRC_PREFERRED,
			.rtr = MPA_RTR_WRITE | MPA_RTR_READ,
			.peer_to_peer = true,
			.private_max = 256,
			.settle_ms = 10}},
	/* Its own default is the Read. */
	{"cxgb4", {.revision = 2,
			  .crc = MPA_CRC_PREFERRED,
			  .rtr = MPA_RTR_WRITE | MPA_RTR_READ,
			  .rtr_order = {MPA_RTR_READ, MPA_RTR_WRITE},
			  .peer_to_peer = true,
			  .private_max = 256}},
	{"irdma", {.revision = 2,
			  .crc = MPA_CRC_PREFERRED,
			  .rtr = MPA_RTR_WRITE | MPA_RTR_READ,
			  .rtr_order = {MPA_RTR_READ, MPA_RTR_WRITE},
			  .peer_to_peer = true}},
	{"qed", {.revision = 2,
			.crc = MPA_CRC_PREFERRED,
			.rtr = ALL_RTR,
			.rtr_order = {MPA_RTR_READ, MPA_RTR_WRITE, MPA_RTR_SEND},
			.peer_to_peer = true}},
	{"smbdirect", {.revision = 1,
			      .crc = MPA_CRC_PREFERRED,
			      .rtr = ALL_RTR,
			      .legacy = MPA_LEGACY_ALWAYS}},
};

static void apply_peer(struct config *c, const struct mpa_config *preset)
{
	struct mpa_config m = *preset;

	if (c->mpa_given & GIVEN_CRC)
		m.crc = c->mpa.crc;
	if (c->mpa_given & GIVEN_MARKERS)
		m.markers = c->mpa.markers;
	if (c->mpa_given & GIVEN_REVISION)
		m.revision = c->mpa.revision;
	if (c->mpa_given & GIVEN_RTR) {
		m.rtr = c->mpa.rtr;
		m.peer_to_peer = c->mpa.peer_to_peer;
		memcpy(m.rtr_order, c->mpa.rtr_order, sizeof m.rtr_order);
	}
	if (c->mpa_given & GIVEN_FPDU)
		m.fpdu_max = c->mpa.fpdu_max;
	m.in_order = c->mpa.in_order; /* no preset has a say in that */
	c->mpa = m;
}

void config_mpa_init(struct config *c)
{
	c->mpa = peers[0].mpa;
	c->mpa_given = 0;
}

const char *config_mpa_peer(struct config *c, const char *v)
{
	for (unsigned i = 0; i < sizeof peers / sizeof peers[0]; i++) {
		if (strcmp(v, peers[i].name) == 0) {
			apply_peer(c, &peers[i].mpa);
			return NULL;
		}
	}
	return "auto, rfc, siw, cxgb4, irdma, qed or smbdirect";
}

/* ---- one by one -------------------------------------------------------------------------- */

const char *config_mpa_crc(struct config *c, const char *v)
{
	/* In the order of enum mpa_crc_use; "on" is an older name. */
	static const char *const words[] = {"off", "preferred", "required", "on", NULL};
	int i = config_parse_word(v, words);

	if (i < 0)
		return "preferred, required or off";
	c->mpa.crc = (uint8_t)(i == 3 ? MPA_CRC_PREFERRED : i);
	c->mpa_given |= GIVEN_CRC;
	return NULL;
}

const char *config_mpa_markers(struct config *c, const char *v)
{
	const char *wrong = config_parse_switch(v, &c->mpa.markers);

	if (wrong == NULL)
		c->mpa_given |= GIVEN_MARKERS;
	return wrong;
}

const char *config_mpa_placement(struct config *c, const char *v)
{
	static const char *const words[] = {"auto", "in-order", NULL};
	int i = config_parse_word(v, words);

	if (i < 0)
		return "auto or in-order";
	c->mpa.in_order = i == 1;
	return NULL;
}

const char *config_mpa_revision(struct config *c, const char *v)
{
	uint64_t n;

	if (!number_parse(v, 1, 2, &n))
		return "1 (RFC 5044) or 2 (RFC 6581)";
	c->mpa.revision = (uint8_t)n;
	c->mpa_given |= GIVEN_REVISION;
	return NULL;
}

static uint8_t rtr_of(const char *word)
{
	if (strcmp(word, "write") == 0)
		return MPA_RTR_WRITE;
	if (strcmp(word, "read") == 0)
		return MPA_RTR_READ;
	return strcmp(word, "send") == 0 ? MPA_RTR_SEND : 0;
}

const char *config_mpa_rtr(struct config *c, const char *v)
{
	const char *right = "none, or a list of write, read and send, such as write,read";
	uint8_t mask = 0, order[3] = {0};
	unsigned n = 0;
	char list[32];
	char *save = NULL;

	if (strcmp(v, "none") != 0) {
		if (config_parse_text(v, list, sizeof list) != 0 || v[0] == ',' ||
			v[strlen(v) - 1] == ',' || strstr(v, ",,") != NULL)
			return right;
		for (char *w = strtok_r(list, ", \t", &save); w != NULL;
			w = strtok_r(NULL, ", \t", &save)) {
			uint8_t bit = rtr_of(w);

			if (bit == 0 || (mask & bit) != 0)
				return right;
			mask |= bit;
			order[n++] = bit;
		}
	}
	c->mpa.rtr = mask;
	memcpy(c->mpa.rtr_order, order, sizeof order);
	c->mpa.peer_to_peer = mask != 0;
	c->mpa_given |= GIVEN_RTR;
	return NULL;
}

const char *config_mpa_fpdu(struct config *c, const char *v)
{
	uint64_t n = 0;

	/* RFC 5044 section 4.5: a MULPDU is never less than 128 octets. */
	if (strcmp(v, "segment") != 0 && !number_parse(v, 160, 65535, &n))
		return "segment, or a number of bytes from 160 to 65535";
	c->mpa.fpdu_max = (uint16_t)n;
	c->mpa_given |= GIVEN_FPDU;
	return NULL;
}
