/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_row.h"

#include "tools/terminal_text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/** A member of an object, and where it goes. */
struct telemetry_row_member {
	const char *key;
	uint16_t len, offset;
	uint8_t size; /**< of the field */
	bool text;    /**< else a number */
};

#define TELEMETRY_ROW_MEMBER(key, field, text)                               \
	{                                                                    \
		key, sizeof(key) - 1, offsetof(struct telemetry_row, field), \
			sizeof(((struct telemetry_row *)NULL)->field), text  \
	}
#define TELEMETRY_ROW_TEXT(key, field)   TELEMETRY_ROW_MEMBER(key, field, true)
#define TELEMETRY_ROW_NUMBER(key, field) TELEMETRY_ROW_MEMBER(key, field, false)

/** In the order in which they are written. What is posted becomes what has not completed. */
static const struct telemetry_row_member telemetry_row_members[] = {
	TELEMETRY_ROW_NUMBER("pid", pid),
	TELEMETRY_ROW_TEXT("socket", socket),
	TELEMETRY_ROW_TEXT("directory", directory),
	TELEMETRY_ROW_NUMBER("started_ns", started),
	TELEMETRY_ROW_TEXT("program", program),
	TELEMETRY_ROW_TEXT("device", device),
	TELEMETRY_ROW_NUMBER("qp", qp),
	TELEMETRY_ROW_TEXT("state", state),
	TELEMETRY_ROW_NUMBER("send_posted", send_depth),
	TELEMETRY_ROW_NUMBER("send_completed", sends),
	TELEMETRY_ROW_NUMBER("recv_posted", receive_depth),
	TELEMETRY_ROW_NUMBER("recv_completed", receives),
	TELEMETRY_ROW_TEXT("local", local),
	TELEMETRY_ROW_TEXT("remote", remote),
	TELEMETRY_ROW_TEXT("congestion_control", cc),
	TELEMETRY_ROW_NUMBER("srtt_ns", srtt),
	TELEMETRY_ROW_NUMBER("min_rtt_ns", min_rtt),
	TELEMETRY_ROW_NUMBER("cwnd", cwnd),
	TELEMETRY_ROW_NUMBER("mss", mss),
	TELEMETRY_ROW_NUMBER("queued", queued),
	TELEMETRY_ROW_NUMBER("unread", unread),
	TELEMETRY_ROW_NUMBER("pacing_rate", pacing_rate),
	TELEMETRY_ROW_NUMBER("bytes_acked", bytes_acked),
	TELEMETRY_ROW_NUMBER("bytes_received", bytes_received),
	TELEMETRY_ROW_NUMBER("retransmits", retransmits),
	TELEMETRY_ROW_NUMBER("timeouts", timeouts),
	TELEMETRY_ROW_NUMBER("out_of_order", out_of_order),
};
#define TELEMETRY_ROW_MEMBERS (sizeof telemetry_row_members / sizeof telemetry_row_members[0])

/** Members mostly come in our order: @p next is where to begin. @return NULL: nobody wants it. */
static const struct telemetry_row_member *telemetry_row_find(
	const struct json_reader_key *key, size_t *next)
{
	size_t at = *next;

	for (size_t i = 0; i < TELEMETRY_ROW_MEMBERS; i++) {
		const struct telemetry_row_member *m = &telemetry_row_members[at];

		at = at + 1 < TELEMETRY_ROW_MEMBERS ? at + 1 : 0;
		if (m->len == key->len && memcmp(m->key, key->text, m->len) == 0) {
			*next = at;
			return m;
		}
	}
	return NULL;
}

static void telemetry_row_read_text(struct json_reader *j, char *to, size_t size)
{
	if (json_reader_string(j, to, size))
		terminal_text(to);
}

static void telemetry_row_read_number(struct json_reader *j, void *to, size_t size)
{
	uint64_t value;

	if (!json_reader_number(j, &value))
		return;
	if (size == sizeof(uint32_t))
		*(uint32_t *)to = (uint32_t)value;
	else
		*(uint64_t *)to = value;
}

bool telemetry_row_read_member(struct telemetry_row *r, struct json_reader *j,
	const struct json_reader_key *key, size_t *next)
{
	const struct telemetry_row_member *m = telemetry_row_find(key, next);

	if (!m)
		return false;
	if (m->offset == offsetof(struct telemetry_row, remote))
		r->connected = true;
	if (m->text)
		telemetry_row_read_text(j, (char *)r + m->offset, m->size);
	else
		telemetry_row_read_number(j, (char *)r + m->offset, m->size);
	return true;
}

void telemetry_row_read_end(struct telemetry_row *r)
{
	r->send_depth -= r->sends;
	r->receive_depth -= r->receives;
}

void telemetry_row_read(struct telemetry_row *r, struct json_reader *j)
{
	struct json_reader_key key;
	size_t next = 0;

	*r = (struct telemetry_row){.pid = 0};
	if (!json_reader_object(j))
		return;
	while (json_reader_member(j, &key))
		if (!telemetry_row_read_member(r, j, &key, &next))
			json_reader_skip(j);
	telemetry_row_read_end(r);
}

int telemetry_row_compare_process(const struct telemetry_row *a, const struct telemetry_row *b)
{
	int d = (a->pid > b->pid) - (a->pid < b->pid);

	if (!d)
		d = strcmp(a->socket, b->socket);
	if (!d)
		d = strcmp(a->directory, b->directory);
	return d ? d : (a->started > b->started) - (a->started < b->started);
}

const char *telemetry_row_process(const struct telemetry_row *r, char text[TELEMETRY_NAME])
{
	return telemetry_socket_process(r->socket, r->pid, text);
}

void telemetry_row_connect(struct telemetry_row *qp, const struct telemetry_row *c)
{
	struct telemetry_row both = *c;

	both.qp = qp->qp;
	memcpy(both.state, qp->state, sizeof both.state);
	both.sends = qp->sends;
	both.receives = qp->receives;
	both.send_depth = qp->send_depth;
	both.receive_depth = qp->receive_depth;
	*qp = both;
}

void telemetry_row_disconnect(struct telemetry_row *qp)
{
	*qp->local = *qp->remote = '\0';
	qp->connected = false;
}

static void telemetry_row_write_connection(const struct telemetry_row *r, struct json_text *j)
{
	json_text_string(j, "local", r->local);
	json_text_string(j, "remote", r->remote);
	json_text_string(j, "congestion_control", r->cc);
	json_text_number(j, "srtt_ns", r->srtt);
	json_text_number(j, "min_rtt_ns", r->min_rtt);
	json_text_number(j, "cwnd", r->cwnd);
	json_text_number(j, "pacing_rate", r->pacing_rate);
	json_text_number(j, "mss", r->mss);
	json_text_number(j, "queued", r->queued);
	json_text_number(j, "unread", r->unread);
	json_text_number(j, "bytes_acked", r->bytes_acked);
	json_text_number(j, "bytes_received", r->bytes_received);
	json_text_number(j, "retransmits", r->retransmits);
	json_text_number(j, "timeouts", r->timeouts);
	json_text_number(j, "out_of_order", r->out_of_order);
}

void telemetry_row_write(const struct telemetry_row *r, struct json_text *j)
{
	json_text_integer(j, "pid", r->pid);
	if (*r->socket)
		json_text_string(j, "socket", r->socket);
	if (*r->directory)
		json_text_string(j, "directory", r->directory);
	if (r->started)
		json_text_number(j, "started_ns", r->started);
	json_text_string(j, "program", r->program);
	json_text_string(j, "device", r->device);
	if (r->qp)
		json_text_number(j, "qp", r->qp);
	json_text_string(j, "state", r->state);
	if (r->qp) {
		json_text_number(j, "send_posted", (uint32_t)(r->sends + r->send_depth));
		json_text_number(j, "send_completed", r->sends);
		json_text_number(j, "recv_posted", (uint32_t)(r->receives + r->receive_depth));
		json_text_number(j, "recv_completed", r->receives);
	}
	if (r->connected)
		telemetry_row_write_connection(r, j);
}
