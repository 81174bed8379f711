/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report.h"

#include "base/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define MBIT 1e6

static double seconds(const struct sim_scenario *x, uint64_t at)
{
	return ((double)at - (double)x->began) / (double)SIM_S;
}

static const char *cc_name(const struct sim_scenario *x, unsigned i)
{
	struct sim_flow_state f;

	sim_flow_get(x->flow[i], &f);
	return f.connected ? f.sender.congestion_control : "?";
}

static const char *how_it_is(const struct sim_flow_state *f)
{
	if (f->failed)
		return "; FAILED";
	return f->connected ? "" : "; NOT CONNECTED";
}

static void print_flow(const struct sim_scenario *x, unsigned i, FILE *to)
{
	const struct sim_scenario_config *c = &x->cfg;
	double all = sim_scenario_goodput(x, i, c->flow[i].start, c->duration);
	double settled =
		sim_scenario_goodput(x, i, RTE_MAX(c->settle, c->flow[i].start), c->duration);
	struct sim_flow_state f;

	sim_flow_get(x->flow[i], &f);
	fprintf(to, "flow %u %s %s: %.2f Mbit/s, after %.0f s %.2f (%.2f %% of the line's %.2f)\n",
		i, c->flow[i].kind == SIM_FLOW_RDMA ? "rdma" : "stream", cc_name(x, i), all / MBIT,
		(double)c->settle / (double)SIM_S, settled / MBIT,
		100 * settled / sim_scenario_capacity(x, i), sim_scenario_capacity(x, i) / MBIT);
	fprintf(to,
		"  %" PRIu64 " segments, %" PRIu64 " sent again, %" PRIu64 " timeouts, %" PRIu64
		" recoveries; cwnd %u, srtt %.3f ms%s\n",
		f.sender.segments_out, f.sender.retransmits, f.sender.timeouts,
		f.sender.fast_recoveries, f.sender.cwnd, (double)f.sender.srtt / (double)SIM_MS,
		how_it_is(&f));
	fprintf(to,
		"  %" PRIu64 " probes, %" PRIu64 " D-SACKs; taken back: %" PRIu64
		" recoveries, %" PRIu64 " timeouts\n",
		f.sender.tlp_probes, f.sender.dsacks, f.sender.spurious_recoveries,
		f.sender.spurious_timeouts);
}

/** What should be nothing: a simulation that runs out of memory shows the wrong thing. */
static void print_shortage(const struct sim_scenario *x, FILE *to)
{
	uint64_t empty = 0, unkept = 0, reneged = 0, paws = 0;

	for (unsigned i = 0; i < x->cfg.n_flows; i++) {
		const struct tcp_stats *s = tcp_stack_stats(sim_host_tcp(x->to[i]));

		empty += s->pool_empty + tcp_stack_stats(sim_host_tcp(x->from[i]))->pool_empty;
		unkept += s->out_of_order_drops + s->no_memory;
		reneged += s->reneged;
		paws += s->paws_drops;
	}
	if (paws)
		fprintf(to, "%" PRIu64 " segments dropped for old timestamps\n", paws);
	if (empty || unkept || reneged || x->sim->no_packet)
		fprintf(to,
			"short of memory: %" PRIu64 " times in hosts; %" PRIu64
			" segments not kept out of order, %" PRIu64 " reneged; %" PRIu64
			" lost by the network\n",
			empty, unkept, reneged, x->sim->no_packet);
}

void sim_report_print(struct sim_scenario *x, FILE *to)
{
	const struct sim_queue_stats *q = sim_queue_stats(x->forward.queue);
	const double limit = (double)x->cfg.queue;
	uint64_t last = x->cfg.settle;

	for (unsigned i = 0; i < x->cfg.n_flows; i++) {
		print_flow(x, i, to);
		last = RTE_MAX(last, x->cfg.flow[i].start);
	}
	fprintf(to,
		"queue: %.1f %% full on average, %.1f %% at most; %" PRIu64 " drops, %" PRIu64
		" marks\n",
		100 * sim_queue_mean(x->forward.queue) / limit, 100 * (double)q->max_bytes / limit,
		q->drops, q->marks);
	print_shortage(x, to);
	if (x->cfg.n_flows > 1) {
		uint64_t from = last + (x->cfg.duration - last) / 2;

		fprintf(to, "Jain's index from %.0f s on: %.4f\n", (double)from / (double)SIM_S,
			sim_scenario_fairness(x, from, x->cfg.duration));
	}
}

/* ---- plots ------------------------------------------------------------------------------- */

enum panel { GOODPUT, PACING, WINDOW, ROUND_TRIP, QUEUE, PANELS };

/** What is drawn of one flow, and against what: all columns have as many rows. */
enum column { AT, DELIVERED, PACED, CWND, FLIGHT, SRTT, MIN_RTT, WAITING, COLUMNS };

struct points {
	size_t n;
	double *v[COLUMNS];
};

static double *numbers(size_t n)
{
	double *v = calloc(n + 1, sizeof *v);

	if (!v)
		abort();
	return v;
}

/** Zero of something that is never zero says that it is not known. */
static double known(uint64_t value, double unit)
{
	return value ? (double)value / unit : NAN;
}

static void fill_row(
	const struct sim_scenario *x, const struct sim_sample *s, struct points *p, size_t i)
{
	const struct tcp_info *t = &s->flow.sender;
	double time = i ? (double)(s->at - s[-1].at) / (double)SIM_S : 0;

	p->v[AT][i] = seconds(x, s->at);
	p->v[DELIVERED][i] = NAN;
	if (time > 0)
		p->v[DELIVERED][i] = ((double)s->flow.delivered - (double)s[-1].flow.delivered) *
				     8 / time / MBIT;
	p->v[PACED][i] = known(t->pacing_rate * 8, MBIT);
	p->v[CWND][i] = known(t->cwnd, 1e6);
	p->v[FLIGHT][i] = s->flow.connected ? t->flight / 1e6 : NAN;
	p->v[SRTT][i] = known(t->srtt, (double)SIM_MS);
	p->v[MIN_RTT][i] = known(t->min_rtt, (double)SIM_MS);
	p->v[WAITING][i] = (double)s->queue_bytes / 1e6;
}

static struct points points_of(const struct sim_scenario *x, unsigned flow)
{
	const struct sim_sample *v;
	struct points p = {.n = sim_sampler_get(x->sampler[flow], &v)};

	for (unsigned c = 0; c < COLUMNS; c++)
		p.v[c] = numbers(p.n);
	for (size_t i = 0; i < p.n; i++)
		fill_row(x, &v[i], &p, i);
	return p;
}

static void points_free(struct points *p)
{
	for (unsigned c = 0; c < COLUMNS; c++)
		free(p->v[c]);
}

static void series(struct plot_panel *panel, const char *name, unsigned color,
	const struct points *p, enum column c)
{
	if (panel->n < PLOT_SERIES)
		panel->series[panel->n++] =
			(struct plot_series){name, PLOT_LINE, color, p->n, p->v[AT], p->v[c]};
}

int sim_report_plot(const struct sim_scenario *x, const char *title, const char *path)
{
	struct plot_panel panel[PANELS] = {
		[GOODPUT] = {.label = "goodput, Mbit/s"},
		[PACING] = {.label = "pacing rate, Mbit/s"},
		[WINDOW] = {.label = "cwnd, MB"},
		[ROUND_TRIP] = {.label = "smoothed round trip, ms"},
		[QUEUE] = {.label = "bottleneck's queue, MB"},
	};
	struct points p[SIM_SCENARIO_FLOWS];
	int r;

	for (unsigned i = 0; i < x->cfg.n_flows; i++) {
		p[i] = points_of(x, i);
		series(&panel[GOODPUT], cc_name(x, i), i, &p[i], DELIVERED);
		series(&panel[PACING], NULL, i, &p[i], PACED);
		series(&panel[WINDOW], NULL, i, &p[i], CWND);
		series(&panel[ROUND_TRIP], NULL, i, &p[i], SRTT);
	}
	if (x->cfg.n_flows == 1) { /* there is room to say more */
		series(&panel[WINDOW], "in flight", 1, &p[0], FLIGHT);
		series(&panel[ROUND_TRIP], "least", 1, &p[0], MIN_RTT);
	}
	series(&panel[QUEUE], NULL, 5, &p[0], WAITING);
	r = plot_write(
		path, title, "time, s", 0, (double)x->cfg.duration / (double)SIM_S, panel, PANELS);
	for (unsigned i = 0; i < x->cfg.n_flows; i++)
		points_free(&p[i]);
	return r;
}

/** Entries of one kind as points; both ends of a range. */
static void trace_series(const struct sim_scenario *x, struct plot_panel *p,
	const struct sim_trace *t, enum sim_trace_kind kind, struct plot_series s)
{
	const struct sim_trace_entry *v;
	size_t n = sim_trace_get(t, &v);
	double *xs = numbers(n), *ys = numbers(n);

	s.n = 0;
	for (size_t i = 0; i < n; i++) {
		if (v[i].kind != kind)
			continue;
		xs[s.n] = seconds(x, v[i].at);
		ys[s.n++] = (double)(kind == SIM_TRACE_ACK ? v[i].lo : v[i].hi) / 1e6;
	}
	s.x = xs;
	s.y = ys;
	p->series[p->n++] = s;
}

int sim_report_plot_trace(const struct sim_scenario *x, const struct sim_trace *t,
	const char *title, const char *path)
{
	struct plot_panel p = {.label = "sequence number, MB", .not_from_zero = true};
	const struct sim_trace_entry *v;
	size_t n = sim_trace_get(t, &v);
	int r;

	if (!n)
		return -ENODATA;
	trace_series(x, &p, t, SIM_TRACE_SACK,
		(struct plot_series){.name = "SACK", .kind = PLOT_DOTS, .color = 2});
	trace_series(x, &p, t, SIM_TRACE_DATA,
		(struct plot_series){.name = "sent", .kind = PLOT_DOTS, .color = 0});
	trace_series(x, &p, t, SIM_TRACE_AGAIN,
		(struct plot_series){.name = "sent again", .kind = PLOT_DOTS, .color = 1});
	trace_series(x, &p, t, SIM_TRACE_ACK,
		(struct plot_series){.name = "ACK", .kind = PLOT_STEPS, .color = 5});
	r = plot_write(path, title, "time, s", seconds(x, v[0].at), seconds(x, v[n - 1].at), &p, 1);
	for (unsigned i = 0; i < p.n; i++) {
		free((void *)(uintptr_t)p.series[i].x);
		free((void *)(uintptr_t)p.series[i].y);
	}
	return r;
}

double sim_report_cubic_model(const struct sim_scenario *x, double p, uint64_t rtt)
{
	const double c = 0.4, beta = 0.7, s = (double)rtt / (double)SIM_S;
	struct sim_flow_state f;
	double cubic, reno, goodput, line = sim_scenario_capacity(x, 0);

	sim_flow_get(x->flow[0], &f);
	/* Equation 6, in segments. */
	cubic = pow(c * (3 + beta) / (4 * (1 - beta)), 0.25) * pow(s, 0.75) / pow(p, 0.75);
	/* Section 4.3 gives the average window of AIMD(3 (1 - beta) / (1 + beta), beta), which is
	 * that of Reno. */
	reno = sqrt(3.0 / 2 / p);
	goodput = fmax(cubic, reno) * f.sender.emss * 8 / s;
	return fmin(goodput, line);
}
