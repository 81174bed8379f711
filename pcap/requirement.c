/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/requirement.h"

static const struct requirement requirement_table[REQUIREMENTS] = {
#define REQUIREMENT(name, id, rfc, section, level, text) \
	[REQ_##name] = {id, rfc, section, level, text},
#include "requirements.inc"
#undef REQUIREMENT
};

const struct requirement *requirement(enum requirement_id id)
{
	return &requirement_table[id];
}
