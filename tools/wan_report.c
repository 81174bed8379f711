/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/wan_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

static const char *const wan_report_direction_text[] = {"a to b", "b to a"};
static const char *const wan_report_direction_key[] = {"a_to_b", "b_to_a"};

/* ---- the configuration ---------------------------------------------------------------------- */

static json_t *wan_report_path_json(const struct wan_path_config *c)
{
	static const char *const unit[] = {"endless", "bytes", "frames", "ns"};

	return json_pack("{sI si sI sI sb sf sf sI sf sf ss sI si}", "rate", (json_int_t)c->rate,
		"overhead", (int)c->overhead, "delay_ns", (json_int_t)c->delay, "jitter_ns",
		(json_int_t)c->jitter, "jitter_reorders", (int)c->jitter_reorders, "loss",
		wan_loss_share(&c->loss), "reorder", c->reorder, "reorder_by_ns",
		(json_int_t)c->reorder_by, "duplicate", c->duplicate, "corrupt", c->corrupt,
		"queue_unit", unit[c->queue_unit], "queue", (json_int_t)c->queue, "mtu",
		(int)c->mtu);
}

static void wan_report_print_json(json_t *j)
{
	if (!j)
		return;
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(j);
}

static void wan_report_print_queue(const struct wan_path_config *c)
{
	if (c->rate == 0)
		return;
	switch (c->queue_unit) {
	case WAN_QUEUE_BYTES:
		printf(", queue %" PRIu64 " bytes", c->queue);
		break;
	case WAN_QUEUE_FRAMES:
		printf(", queue %" PRIu64 " frames", c->queue);
		break;
	case WAN_QUEUE_TIME:
		printf(", queue %g ms", (double)c->queue / 1e6);
		break;
	default:
		printf(", endless queue");
	}
}

static void wan_report_print_path(unsigned d, const struct wan_path_config *c)
{
	printf("%s: ", wan_report_direction_text[d]);
	if (c->rate != 0)
		printf("%g Mbit/s, ", (double)c->rate / 1e6);
	printf("%g ms", (double)c->delay / 1e6);
	if (c->jitter != 0)
		printf(" +- %g ms", (double)c->jitter / 1e6);
	wan_report_print_queue(c);
	if (wan_loss_share(&c->loss) > 0)
		printf(", loss %.4g %%", wan_loss_share(&c->loss) * 100);
	if (c->reorder > 0)
		printf(", %.4g %% late by up to %g ms", c->reorder * 100,
			(double)c->reorder_by / 1e6);
	if (c->duplicate > 0)
		printf(", %.4g %% twice", c->duplicate * 100);
	if (c->corrupt > 0)
		printf(", %.4g %% corrupted", c->corrupt * 100);
	if (c->mtu != 0)
		printf(", mtu %u", c->mtu);
	putchar('\n');
}

void wan_report_ready(const struct wan_report *r, struct wan_bridge *b, const char *const device[2])
{
	if (r->json) {
		wan_report_print_json(json_pack("{sb ss ss so so}", "ready", 1, "a", device[0], "b",
			device[1], wan_report_direction_key[0],
			wan_report_path_json(wan_path_config(wan_bridge_path(b, 0))),
			wan_report_direction_key[1],
			wan_report_path_json(wan_path_config(wan_bridge_path(b, 1)))));
		return;
	}
	printf("carrying frames between %s and %s\n", device[0], device[1]);
	for (unsigned d = 0; d < 2; d++)
		wan_report_print_path(d, wan_path_config(wan_bridge_path(b, d)));
	fflush(stdout);
}

/* ---- statistics ----------------------------------------------------------------------------- */

static uint64_t wan_report_dropped(const struct wan_path_stats *p, const struct wan_bridge_stats *s)
{
	uint64_t n = s->oversize + s->missed + s->refused;

	for (int f = WAN_DROP_LOSS; f < WAN_NUM_FATES; f++)
		n += p->fate[f];
	return n;
}

static json_t *wan_report_drops_json(
	const struct wan_path_stats *p, const struct wan_bridge_stats *s)
{
	return json_pack("{sI sI sI sI sI sI sI}", "loss", (json_int_t)p->fate[WAN_DROP_LOSS],
		"queue", (json_int_t)p->fate[WAN_DROP_QUEUE], "mtu",
		(json_int_t)p->fate[WAN_DROP_MTU], "memory", (json_int_t)p->fate[WAN_DROP_MEMORY],
		"oversize", (json_int_t)s->oversize, "missed", (json_int_t)s->missed, "refused",
		(json_int_t)s->refused);
}

static json_t *wan_report_totals_json(struct wan_bridge *b, unsigned d)
{
	const struct wan_path_stats *p = wan_path_get_stats(wan_bridge_path(b, d));
	const struct wan_bridge_stats *s = wan_bridge_get_stats(b, d);

	return json_pack("{sI sI sI sI so sI sI sI sI sI sI sI sI}", "frames_in",
		(json_int_t)p->frames_in, "bytes_in", (json_int_t)p->bytes_in, "frames_out",
		(json_int_t)p->frames_out, "bytes_out", (json_int_t)s->bytes_out, "dropped",
		wan_report_drops_json(p, s), "duplicated", (json_int_t)p->duplicated, "corrupted",
		(json_int_t)p->corrupted, "reordered", (json_int_t)p->reordered, "queue_bytes_max",
		(json_int_t)p->queue_bytes_max, "queue_ns_max", (json_int_t)p->queue_ns_max,
		"late_ns_p50", (json_int_t)histogram_quantile(&s->lateness, 500000), "late_ns_p99",
		(json_int_t)histogram_quantile(&s->lateness, 990000), "late_ns_max",
		(json_int_t)s->lateness.max);
}

static void wan_report_print_totals(struct wan_bridge *b, unsigned d)
{
	const struct wan_path_stats *p = wan_path_get_stats(wan_bridge_path(b, d));
	const struct wan_bridge_stats *s = wan_bridge_get_stats(b, d);

	printf("%s: %" PRIu64 " frames, %" PRIu64 " bytes in; %" PRIu64 " frames, %" PRIu64
	       " bytes out\n",
		wan_report_direction_text[d], p->frames_in, p->bytes_in, p->frames_out,
		s->bytes_out);
	printf("  dropped %" PRIu64 ": loss %" PRIu64 ", queue %" PRIu64 ", mtu %" PRIu64
	       ", memory %" PRIu64 ", oversize %" PRIu64 ", missed %" PRIu64 ", refused %" PRIu64
	       "\n",
		wan_report_dropped(p, s), p->fate[WAN_DROP_LOSS], p->fate[WAN_DROP_QUEUE],
		p->fate[WAN_DROP_MTU], p->fate[WAN_DROP_MEMORY], s->oversize, s->missed,
		s->refused);
	printf("  duplicated %" PRIu64 ", corrupted %" PRIu64 ", reordered %" PRIu64
	       "; queue at most %" PRIu64 " bytes, %.3f ms\n",
		p->duplicated, p->corrupted, p->reordered, p->queue_bytes_max,
		(double)p->queue_ns_max / 1e6);
	printf("  sent late by %.1f us at the median, %.1f us at 99 %%, %.1f us at most\n",
		(double)histogram_quantile(&s->lateness, 500000) / 1e3,
		(double)histogram_quantile(&s->lateness, 990000) / 1e3,
		(double)s->lateness.max / 1e3);
}

void wan_report_totals(const struct wan_report *r, struct wan_bridge *b)
{
	double seconds = (double)wan_bridge_elapsed(b) / 1e9;

	if (r->json) {
		wan_report_print_json(json_pack("{sf so so}", "seconds", seconds,
			wan_report_direction_key[0], wan_report_totals_json(b, 0),
			wan_report_direction_key[1], wan_report_totals_json(b, 1)));
		return;
	}
	printf("after %.3f s\n", seconds);
	for (unsigned d = 0; d < 2; d++)
		wan_report_print_totals(b, d);
	fflush(stdout);
}

void wan_report_interval(struct wan_report *r, struct wan_bridge *b)
{
	uint64_t now = wan_bridge_elapsed(b), span = now - r->at;
	double seconds = span != 0 ? (double)span / 1e9 : 1;
	json_t *parts[2];

	if (!r->json)
		printf("%10.3f s  ", (double)now / 1e9);
	for (unsigned d = 0; d < 2; d++) {
		const struct wan_path_stats *p = wan_path_get_stats(wan_bridge_path(b, d));
		const struct wan_bridge_stats *s = wan_bridge_get_stats(b, d);
		double rate = (double)(s->bytes_out - r->bytes[d]) * 8 / seconds;
		double frames = (double)(p->frames_out - r->frames[d]) / seconds;

		if (r->json)
			parts[d] = json_pack("{sf sf sI so}", "bits_per_second", rate,
				"frames_per_second", frames, "queue_bytes",
				(json_int_t)p->queue_bytes, "dropped", wan_report_drops_json(p, s));
		else
			printf("%s%s %9.3f Mbit/s %8.0f frames/s, %" PRIu64 " dropped so far",
				d == 0 ? "" : ";  ", wan_report_direction_text[d], rate / 1e6,
				frames, wan_report_dropped(p, s));
		r->bytes[d] = s->bytes_out;
		r->frames[d] = p->frames_out;
	}
	r->at = now;
	if (r->json)
		wan_report_print_json(json_pack("{sf so so}", "at", (double)now / 1e9,
			wan_report_direction_key[0], parts[0], wan_report_direction_key[1],
			parts[1]));
	else
		putchar('\n');
	fflush(stdout);
}
