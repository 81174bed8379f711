/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/plot.h"

#include "base/html_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* In pixels. */
#define WIDTH  960
#define HEIGHT 240 /* of a panel's area */
#define LEFT   90
#define RIGHT  20
#define TOP    40
#define GAP    46

static const char *const plot_palette[] = {
	"#1f6fb4", "#d1495b", "#2e933c", "#b07aa1", "#e08e2b", "#4c4c4c", "#17a2a2", "#8c564b"};

/** A panel's area on paper and in its own units. */
struct frame {
	double x_min, x_max, y_min, y_max;
	int top;
};

static double plot_px(const struct frame *f, double x)
{
	return LEFT + (x - f->x_min) / (f->x_max - f->x_min) * WIDTH;
}

static double plot_py(const struct frame *f, double y)
{
	return f->top + HEIGHT - (y - f->y_min) / (f->y_max - f->y_min) * HEIGHT;
}

static bool plot_in_x(const struct frame *f, double x)
{
	return x >= f->x_min && x <= f->x_max;
}

static void plot_find_range(const struct plot_panel *p, struct frame *f)
{
	double lo = INFINITY, hi = -INFINITY;

	for (unsigned s = 0; s < p->n; s++) {
		const struct plot_series *r = &p->series[s];

		for (size_t i = 0; i < r->n; i++) {
			if (isnan(r->y[i]) || !plot_in_x(f, r->x[i]))
				continue;
			lo = fmin(lo, r->y[i]);
			hi = fmax(hi, r->y[i]);
		}
	}
	if (!p->not_from_zero || lo > hi)
		lo = 0;
	f->y_min = lo;
	f->y_max = hi > lo ? lo + (hi - lo) * 1.05 : lo + 1;
}

/** 1, 2 or 5 times a power of ten, so that about @p n steps fill the range. */
static double plot_tick_step(double range, double n)
{
	double raw = range / n, ten = pow(10, floor(log10(raw)));

	return (raw <= ten ? 1 : raw <= 2 * ten ? 2 : raw <= 5 * ten ? 5 : 10) * ten;
}

static void plot_draw_axes(FILE *o, const struct frame *f, const char *label)
{
	double step = plot_tick_step(f->y_max - f->y_min, 5);

	for (double y = ceil(f->y_min / step) * step; y <= f->y_max; y += step)
		fprintf(o,
			"<path d='M%d %.1fh%d' stroke='#ddd'/><text x='%d' y='%.1f' "
			"text-anchor='end'>%.10g</text>\n",
			LEFT, plot_py(f, y), WIDTH, LEFT - 6, plot_py(f, y) + 4,
			fabs(y) < step / 1e6 ? 0 : y);
	step = plot_tick_step(f->x_max - f->x_min, 10);
	for (double x = ceil(f->x_min / step) * step; x <= f->x_max * (1 + 1e-12); x += step)
		fprintf(o,
			"<path d='M%.1f %dv%d' stroke='#ddd'/><text x='%.1f' y='%d' "
			"text-anchor='middle'>%.10g</text>\n",
			plot_px(f, x), f->top, HEIGHT, plot_px(f, x), f->top + HEIGHT + 15,
			fabs(x) < step / 1e6 ? 0 : x);
	fprintf(o, "<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#888'/>\n", LEFT,
		f->top, WIDTH, HEIGHT);
	fprintf(o, "<text transform='translate(16 %d) rotate(-90)' text-anchor='middle'>",
		f->top + HEIGHT / 2);
	html_page_text(o, label);
	fputs("</text>\n", o);
}

/** Many points on one pixel are one point. */
static void plot_draw_dots(FILE *o, const struct frame *f, const struct plot_series *s)
{
	double last_x = -1, last_y = -1;

	fputs("<path stroke-linecap='round' stroke-width='1.6' d='", o);
	for (size_t i = 0; i < s->n; i++) {
		double x, y;

		if (isnan(s->y[i]) || !plot_in_x(f, s->x[i]))
			continue;
		x = round(plot_px(f, s->x[i]) * 2) / 2;
		y = round(plot_py(f, s->y[i]) * 2) / 2;
		if (x == last_x && y == last_y)
			continue;
		fprintf(o, "M%g %gh0", x, y);
		last_x = x;
		last_y = y;
	}
	fprintf(o, "' stroke='%s' fill='none'/>\n", plot_palette[s->color % 8]);
}

/** Of many points in one column of pixels: the first, the lowest, the highest and the last. */
static void plot_draw_line(FILE *o, const struct frame *f, const struct plot_series *s)
{
	double column = -1, lo = 0, hi = 0, last = 0;
	const char *verb = "M";

	fprintf(o, "<path stroke='%s' stroke-width='1.2' fill='none' d='",
		plot_palette[s->color % 8]);
	for (size_t i = 0; i < s->n; i++) {
		double x, y;

		if (isnan(s->y[i]) || !plot_in_x(f, s->x[i])) {
			verb = "M";
			continue;
		}
		x = round(plot_px(f, s->x[i]) * 2) / 2;
		y = plot_py(f, s->y[i]);
		if (x == column && *verb != 'M') {
			lo = fmin(lo, y);
			hi = fmax(hi, y);
			last = y;
			if (i + 1 < s->n)
				continue;
		}
		if (lo < hi)
			fprintf(o, "V%.1fV%.1fV%.1f", lo, hi, last);
		if (s->kind == PLOT_STEPS && *verb != 'M')
			fprintf(o, "H%.1fV%.1f", x, y);
		else
			fprintf(o, "%s%.1f %.1f", verb, x, y);
		verb = "L";
		column = x;
		lo = hi = last = y;
	}
	fputs("'/>\n", o);
}

static void plot_draw_legend(FILE *o, const struct frame *f, const struct plot_panel *p)
{
	int x = LEFT + 8;

	for (unsigned i = 0; i < p->n; i++) {
		const char *name = p->series[i].name;
		int len = 0;

		if (!name)
			continue;
		fprintf(o, "<text x='%d' y='%d' fill='%s' font-weight='bold'>", x, f->top + 14,
			plot_palette[p->series[i].color % 8]);
		html_page_text(o, name);
		fputs("</text>\n", o);
		while (name[len])
			len++;
		x += 7 * len + 16;
	}
}

static void plot_draw_panel(FILE *o, struct frame *f, const struct plot_panel *p)
{
	plot_find_range(p, f);
	plot_draw_axes(o, f, p->label);
	for (unsigned i = 0; i < p->n; i++)
		(p->series[i].kind == PLOT_DOTS ? plot_draw_dots : plot_draw_line)(
			o, f, &p->series[i]);
	plot_draw_legend(o, f, p);
}

void plot_print(FILE *o, const char *title, const char *x_label, double x_min, double x_max,
	const struct plot_panel *panel, unsigned n_panels)
{
	const int height = TOP + (int)n_panels * (HEIGHT + GAP) + 6;

	fprintf(o,
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' "
		"height='%d' "
		"font-family='sans-serif' font-size='12'>\n"
		"<rect width='100%%' height='100%%' fill='white'/>\n"
		"<text x='%d' y='22' font-size='15'>",
		LEFT + WIDTH + RIGHT, height, LEFT + WIDTH + RIGHT, height, LEFT);
	html_page_text(o, title);
	fputs("</text>\n", o);
	for (unsigned i = 0; i < n_panels; i++) {
		struct frame f = {.x_min = x_min,
			.x_max = x_max > x_min ? x_max : x_min + 1,
			.top = TOP + (int)i * (HEIGHT + GAP)};

		plot_draw_panel(o, &f, &panel[i]);
	}
	fprintf(o, "<text x='%d' y='%d' text-anchor='middle'>", LEFT + WIDTH / 2, height - 6);
	html_page_text(o, x_label);
	fputs("</text>\n</svg>\n", o);
}

int plot_write(const char *path, const char *title, const char *x_label, double x_min, double x_max,
	const struct plot_panel *panel, unsigned n_panels)
{
	FILE *o = fopen(path, "w");

	if (!o)
		return -errno;
	plot_print(o, title, x_label, x_min, x_max, panel, n_panels);
	return fclose(o) ? -errno : 0;
}
