/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/describe_mapper.h"

#include "iwpm/message.h"

static const char *const describe_mapper_types[] = {[IWPM_REQUEST] = "Request",
	[IWPM_ACCEPT] = "Accept",
	[IWPM_ACK] = "Ack",
	[IWPM_REJECT] = "Reject"};

static bool describe_mapper_get(const struct packet *p, struct iwpm_message *m)
{
	return iwpm_message_get(m, p->text, p->captured);
}

void describe_mapper(struct line *l, const struct packet *p)
{
	struct iwpm_message m;

	line_add(l, "port mapper ");
	if (!describe_mapper_get(p, &m)) {
		line_add(l, "%u octets that are no message%s", p->len,
			p->captured < p->len ? ", or cut off by the snap length" : "");
		return;
	}
	line_add(l, "%s %016llx ", describe_mapper_types[m.type], (unsigned long long)m.handle);
	switch (m.type) {
	case IWPM_REQUEST:
		line_add(l, "for ");
		line_add_endpoint(l, &m.accepting);
		line_add(l, " from ");
		line_add_endpoint(l, &m.connecting);
		line_add(l, " mapped to ");
		line_add_endpoint(l, &m.mapped);
		break;
	case IWPM_ACCEPT:
	case IWPM_ACK:
		line_add(l, "mapped to ");
		line_add_endpoint(l, &m.accepting);
		break;
	case IWPM_REJECT:
		line_add(l, "of ");
		line_add_endpoint(l, &m.accepting);
		break;
	}
}

static void describe_mapper_endpoint(json_t *o, const char *key, const struct ip_endpoint *e)
{
	struct line l = {0};

	line_add_endpoint(&l, e);
	json_object_set_new(o, key, json_string(l.text));
}

void describe_mapper_json(json_t *o, const struct packet *p)
{
	struct iwpm_message m;
	struct line handle = {0};

	if (!describe_mapper_get(p, &m)) {
		json_object_set_new(o, "octets", json_integer(p->len));
		return;
	}
	line_add(&handle, "%016llx", (unsigned long long)m.handle);
	json_object_set_new(o, "type", json_string(describe_mapper_types[m.type]));
	json_object_set_new(o, "handle", json_string(handle.text));
	describe_mapper_endpoint(o, "accepting", &m.accepting);
	describe_mapper_endpoint(o, "connecting", &m.connecting);
	if (m.type == IWPM_REQUEST)
		describe_mapper_endpoint(o, "mapped", &m.mapped);
}
