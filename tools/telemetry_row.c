/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_row.h"

static uint64_t telemetry_row_number(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

static void telemetry_row_text(char *to, size_t size, const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	size_t n = 0;

	for (; text && text[n] && n + 1 < size; n++)
		to[n] = text[n] >= 0x20 && text[n] < 0x7f ? text[n] : '?';
	to[n] = '\0';
}

void telemetry_row_read_process(struct telemetry_row *r, const json_t *o)
{
	r->pid = (pid_t)telemetry_row_number(o, "pid");
	telemetry_row_text(r->program, sizeof r->program, o, "program");
	telemetry_row_text(r->device, sizeof r->device, o, "device");
}

void telemetry_row_read_qp(struct telemetry_row *r, const json_t *o)
{
	r->qp = (uint32_t)telemetry_row_number(o, "qp");
	telemetry_row_read_state(r, o);
	r->sends = (uint32_t)telemetry_row_number(o, "send_completed");
	r->receives = (uint32_t)telemetry_row_number(o, "recv_completed");
	r->send_depth = (uint32_t)telemetry_row_number(o, "send_posted") - r->sends;
	r->receive_depth = (uint32_t)telemetry_row_number(o, "recv_posted") - r->receives;
}

void telemetry_row_read_connection(struct telemetry_row *r, const json_t *o)
{
	r->connected = true;
	telemetry_row_text(r->local, sizeof r->local, o, "local");
	telemetry_row_text(r->remote, sizeof r->remote, o, "remote");
	telemetry_row_text(r->cc, sizeof r->cc, o, "congestion_control");
	r->srtt = telemetry_row_number(o, "srtt_ns");
	r->min_rtt = telemetry_row_number(o, "min_rtt_ns");
	r->cwnd = telemetry_row_number(o, "cwnd");
	r->pacing_rate = telemetry_row_number(o, "pacing_rate");
	r->mss = telemetry_row_number(o, "mss");
	r->queued = telemetry_row_number(o, "queued");
	r->unread = telemetry_row_number(o, "unread");
	r->bytes_acked = telemetry_row_number(o, "bytes_acked");
	r->bytes_received = telemetry_row_number(o, "bytes_received");
	r->retransmits = telemetry_row_number(o, "retransmits");
	r->timeouts = telemetry_row_number(o, "timeouts");
	r->out_of_order = telemetry_row_number(o, "out_of_order");
}

void telemetry_row_read_state(struct telemetry_row *r, const json_t *o)
{
	telemetry_row_text(r->state, sizeof r->state, o, "state");
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
