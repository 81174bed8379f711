/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/world.h"

#include "support/alloc_fault.h"
#include "tcp/stack.h"
#include "vopr/terms.h"

#include <errno.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/** What a message waits for its receive: longer than a program whose hosts all stand still, time
 * and again. */
#define WAITS_MS 100000000

void world_trace(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->trace)
		return;
	fprintf(w->trace, "%12.6f  ", (double)sim_now(w->s) / 1e9);
	va_start(ap, fmt);
	vfprintf(w->trace, fmt, ap);
	va_end(ap);
	fputc('\n', w->trace);
}

bool world_must(struct world *w, int r, const char *what)
{
	uint64_t failed = alloc_fault_failed();

	/* Once for each allocation that failed, at most. */
	if (r == -ENOMEM && failed != w->no_memory)
		world_trace(w, "%s: no memory", what);
	else if (r < 0)
		model_fail(&w->m, "%s: %s", what, strerror(-r));
	w->no_memory = failed;
	return r >= 0;
}

static struct sim_host *host_create(const struct world *w, unsigned i)
{
	const struct profile *p = &w->program->profile;
	char address[32];
	struct sim_host_config c = {
		.poll = p->driven ? SIM_MS : 0,
		.address = address,
		.mtu = p->mtu,
		.no_offload = p->software_checksums,
		.tcp = {.time_wait_ms = 1000,
			.user_timeout_ms = 60000,
			.keepalive_ms = 10000,
			.max_connections = 512,
			.congestion_control = p->congestion_control},
		.rnic = {.mpa = {.revision = 2,
				 .crc = !p->crc_off,
				 .markers = p->markers,
				 .peer_to_peer = p->peer_to_peer,
				 .in_order = p->in_order,
				 .tell_acked = p->acked,
				 .send_imm = p->send_imm,
				 .rtr = MPA_RTR_WRITE | MPA_RTR_READ},
			.rnr_timeout_ms = p->waits ? WAITS_MS : 0,
			.pairing_port = p->pairs > 0 || p->ud ? WORLD_PAIR_PORT : 0,
			.ud = p->ud ? &w->host[i].uds.net : NULL,
			.ud_port = WORLD_UD_PORT},
		.tls = w->tls,
	};

	if (p->mtu >= 1280 && p->seed & 1)
		snprintf(address, sizeof address, "fd00::%x/64", i + 1);
	else
		snprintf(address, sizeof address, "10.0.0.%u/24", i + 1);
	return sim_host_create(w->s, &c);
}

static void device_event(void *arg, const struct rnic_event *ev)
{
	static const enum model_event of[] = {[RNIC_EVENT_QP_FATAL] = MODEL_EVENT_FATAL,
		[RNIC_EVENT_QP_REQUEST_ERROR] = MODEL_EVENT_REQUEST,
		[RNIC_EVENT_QP_ACCESS_ERROR] = MODEL_EVENT_ACCESS,
		[RNIC_EVENT_QP_LAST_WQE] = MODEL_EVENT_LAST};
	struct world_host *h = arg;
	struct world_qp *q = ev->context;

	world_trace(h->w, "host %u: event %u", h->index, ev->type);
	switch (ev->type) {
	case RNIC_EVENT_QP_FATAL:
	case RNIC_EVENT_QP_REQUEST_ERROR:
	case RNIC_EVENT_QP_ACCESS_ERROR:
	case RNIC_EVENT_QP_LAST_WQE:
		model_event(&q->model, of[ev->type]);
		break;
	case RNIC_EVENT_CQ_ERROR:
		world_cq_failed(ev->context);
		break;
	case RNIC_EVENT_SQ_DRAINED:
		world_qp_drained(q);
		break;
	case RNIC_EVENT_QP_ESTABLISHED:
		world_pair_joined(q);
		break;
	case RNIC_EVENT_SRQ_LIMIT:
		model_rq_limit_event(&((struct world_srq *)ev->context)->rq);
		break;
	default:
		model_fail(&h->w->m, "host %u: event %u, for no reason", h->index, ev->type);
	}
}

/** It is not told whose memory it looks for, so one world at a time. */
static struct world *on_demand;

static bool page_in(const void *addr, size_t len, bool write)
{
	const struct model_key k = {.on_demand = true};
	struct world *w = on_demand;
	uintptr_t at = (uintptr_t)addr - (uintptr_t)w->memory, in = at % MODEL_ARENA;
	bool there;

	if (at / MODEL_ARENA >= w->n || len > MODEL_ARENA - in) {
		model_fail(&w->m, "memory is looked for where no region is");
		return false;
	}
	there = model_is_there(
		&k, (uint32_t)in, (uint32_t)len, write ? MODEL_LOCAL_WRITE : MODEL_REMOTE_READ);
	w->told.other[there ? TALLY_FOUND : TALLY_MISSING]++;
	return there;
}

static void host_begin(struct world *w, unsigned i)
{
	struct world_host *h = &w->host[i];

	h->w = w;
	h->index = i;
	h->memory = w->memory + (size_t)i * MODEL_ARENA;
	world_uds_prepare(h);
	h->host = host_create(w, i);
	h->rnic = sim_host_rnic(h->host);
	rnic_set_event_handler(h->rnic, device_event, h);
	rnic_set_page_in(h->rnic, page_in);
	for (unsigned p = 0; p < WORLD_PDS; p++)
		world_must(w, rnic_pd_alloc(h->rnic, &h->pd[p]), "pd_alloc");
	for (unsigned c = 0; c < w->cqs; c++) {
		h->cq[c].h = h;
		h->cq[c].by_notification = c == 0;
		world_cq_create(&h->cq[c]);
	}
	world_arm(&h->cq[0]);
	for (unsigned q = 0; q < WORLD_QPS; q++) {
		h->qp[q].h = h;
		h->qp[q].slot = q;
	}
	model_fill(&w->m, i, 0, MODEL_ARENA, prng_u64(&w->r));
	world_uds_begin(h);
	world_listen(h);
}

void world_create(struct world *w, const struct program *p, const struct world_options *o)
{
	uint8_t *memory[MODEL_HOSTS] = {0};

	*w = (struct world){.program = p,
		.trace = o->trace,
		.deliberate = o->deliberate,
		.n = p->profile.hosts,
		.cqs = p->profile.small_cq ? WORLD_CQS : WORLD_CQS - 1};
	w->r.state = p->profile.seed ^ 0x766f7072;
	w->wire.state = p->profile.seed ^ 0x7564;
	w->tls = p->profile.tls ? terms_begin(p->profile.seed) : NULL;
	w->s = sim_create(&(struct sim_config){.seed = p->profile.seed,
		.packets = p->profile.small_pool ? 1023 : 4095,
		.copies = 4095,
		.no_packet = alloc_fault_now,
		.room = p->profile.mtu > 1500 ? 9216 : 0});
	w->memory = calloc(w->n, MODEL_ARENA);
	if (!w->memory)
		abort();
	for (unsigned i = 0; i < w->n; i++)
		memory[i] = w->memory + (size_t)i * MODEL_ARENA;
	model_init(&w->m, memory);
	w->m.waits = p->profile.waits && p->profile.in_order;
	w->m.faultless = p->profile.faults == 0;
	on_demand = w;
	for (unsigned i = 0; i < w->n; i++)
		host_begin(w, i);
	world_network_create(w, o->pcap);
}

static void host_end(struct world_host *h)
{
	struct world *w = h->w;

	world_objects_destroy(h);
	world_uds_end(h);
	rnic_ep_destroy(h->listener);
	for (unsigned c = 0; c < w->cqs; c++)
		world_must(w, rnic_cq_destroy(h->cq[c].cq), "cq_destroy");
	for (unsigned p = 0; p < WORLD_PDS; p++)
		world_must(w, rnic_pd_dealloc(h->pd[p]), "pd_dealloc");
}

void world_destroy(struct world *w, char wrong[256])
{
	for (unsigned i = 0; i < w->n; i++)
		host_end(&w->host[i]);
	w->over = true;
	/* TIME_WAIT and what lingers, such as a Terminate that was not acknowledged: when the last
	 * cut is over that takes what TCP waits for a peer, 100 s. */
	sim_run(w->s, 300 * SIM_S, NULL, NULL);
	for (unsigned i = 0; i < w->n; i++) {
		unsigned n = (unsigned)tcp_stack_stats(sim_host_tcp(w->host[i].host))->connections;

		if (n)
			model_fail(&w->m, "host %u: %u TCP connections are left", i, n);
	}
	if (w->pcap)
		sim_pcapng_close(w->pcap);
	memcpy(wrong, w->m.wrong, sizeof w->m.wrong);
	sim_destroy(w->s);
	model_fini(&w->m);
	for (unsigned i = 0; i < w->n; i++)
		world_uds_free(&w->host[i]);
	free(w->memory);
}
