/* SPDX-License-Identifier: BSD-2-Clause */
#include "iwpm/message.h"

#include "base/bytes.h"

enum {
	IWPM_KIND = 0, /**< version, type, IP version: 2, 2 and 4 bits */
	IWPM_TIME = 1,
	IWPM_MAPPED_PORT = 2, /**< Request: the CP's mapped port; else reserved */
	IWPM_ACCEPTING_PORT = 4,
	IWPM_CONNECTING_PORT = 6,
	IWPM_HANDLE = 8,
	IWPM_CONNECTING_ADDR = 16, /**< addresses have 16 octets; IPv4 has the first four */
	IWPM_ACCEPTING_ADDR = 32,
	IWPM_MAPPED_ADDR = 48, /**< Request only */
};

enum { IWPM_VERSION_SHIFT = 6, IWPM_TYPE_SHIFT = 4, IWPM_TYPE_MASK = 3, IWPM_FAMILY_MASK = 15 };

/* What is behind the four octets of IPv4 is not looked at: iwpmd sends whatever was there. */
static struct ip_endpoint iwpm_message_endpoint(
	const uint8_t *addr, const uint8_t *port, unsigned family)
{
	return (struct ip_endpoint){
		.addr = family == 4 ? ip_addr_from_v4(addr) : ip_addr_from_v6(addr),
		.port = load_be16(port)};
}

bool iwpm_message_get(struct iwpm_message *m, const uint8_t *data, size_t len)
{
	unsigned family;

	if (len < IWPM_ANSWER_LEN || data[IWPM_KIND] >> IWPM_VERSION_SHIFT != 0)
		return false;
	family = data[IWPM_KIND] & IWPM_FAMILY_MASK;
	*m = (struct iwpm_message){.type = data[IWPM_KIND] >> IWPM_TYPE_SHIFT & IWPM_TYPE_MASK,
		.time = data[IWPM_TIME],
		.handle = load_be64(data + IWPM_HANDLE)};
	if ((family != 4 && family != 6) || (m->type == IWPM_REQUEST && len < IWPM_MESSAGE_MAX))
		return false;
	m->accepting = iwpm_message_endpoint(
		data + IWPM_ACCEPTING_ADDR, data + IWPM_ACCEPTING_PORT, family);
	m->connecting = iwpm_message_endpoint(
		data + IWPM_CONNECTING_ADDR, data + IWPM_CONNECTING_PORT, family);
	if (m->type == IWPM_REQUEST)
		m->mapped = iwpm_message_endpoint(
			data + IWPM_MAPPED_ADDR, data + IWPM_MAPPED_PORT, family);
	/* Our form of IPv4 must not get in through IPv6. */
	return family == 4 ||
	       !(ip_addr_is_v4(&m->accepting.addr) || ip_addr_is_v4(&m->connecting.addr) ||
		       ip_addr_is_v4(&m->mapped.addr));
}

static void iwpm_message_put_endpoint(
	uint8_t *addr, uint8_t *port, const struct ip_endpoint *e, bool v4)
{
	/* The interface in it means nothing to a peer. */
	struct ip_addr bare = ip_addr_with_scope(&e->addr, 0);

	store_be16(port, e->port);
	memcpy(addr, v4 ? bare.b + 12 : bare.b, v4 ? 4 : 16);
}

size_t iwpm_message_put(const struct iwpm_message *m, uint8_t out[IWPM_MESSAGE_MAX])
{
	bool v4 = ip_addr_is_v4(&m->accepting.addr);

	memset(out, 0, IWPM_MESSAGE_MAX);
	out[IWPM_KIND] = (uint8_t)(m->type << IWPM_TYPE_SHIFT | (v4 ? 4 : 6));
	out[IWPM_TIME] = m->time;
	store_be64(out + IWPM_HANDLE, m->handle);
	iwpm_message_put_endpoint(
		out + IWPM_ACCEPTING_ADDR, out + IWPM_ACCEPTING_PORT, &m->accepting, v4);
	iwpm_message_put_endpoint(
		out + IWPM_CONNECTING_ADDR, out + IWPM_CONNECTING_PORT, &m->connecting, v4);
	if (m->type != IWPM_REQUEST)
		return IWPM_ANSWER_LEN;
	iwpm_message_put_endpoint(out + IWPM_MAPPED_ADDR, out + IWPM_MAPPED_PORT, &m->mapped, v4);
	return IWPM_MESSAGE_MAX;
}
