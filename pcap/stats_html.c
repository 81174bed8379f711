/* SPDX-License-Identifier: BSD-2-Clause */
/* A report for browsers, in one file that needs no other. */
#include "pcap/stats.h"

#include <stdlib.h>

static void stats_html_put(FILE *out, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		default:
			putc(*text, out);
		}
}

void stats_html_begin(const struct stats *t, const char *name)
{
	fputs("<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n<title>",
		t->html);
	stats_html_put(t->html, name);
	fputs("</title>\n<style>body { font-family: sans-serif; margin: 2em } pre { background: "
	      "#f4f4f4; "
	      "padding: 1em; overflow: auto } svg { max-width: 100%; height: auto }</style>\n"
	      "</head>\n<body>\n<h1>iWARP in ",
		t->html);
	stats_html_put(t->html, name);
	fputs("</h1>\n", t->html);
}

void stats_html(const struct stats *t, const struct connection *c, enum connection_end how)
{
	const struct stats_connection *own = c->own;
	struct stats told = {0};
	char *text = NULL;
	size_t len;

	told.out = open_memstream(&text, &len);
	if (!told.out)
		return;
	stats_report(&told, c, how);
	if (fclose(told.out) != 0)
		return;
	fprintf(t->html, "<h2 id='c%llu'>Connection %llu</h2>\n<pre>", (unsigned long long)c->id,
		(unsigned long long)c->id);
	stats_html_put(t->html, text);
	fputs("</pre>\n", t->html);
	free(text);
	if (own->timeseq)
		timeseq_print(own->timeseq, t->html);
	else
		fprintf(t->html,
			"<p>Plots are drawn of the first %d connections only: select it.</p>\n",
			STATS_HTML_PLOTS);
}

void stats_html_end(const struct stats *t)
{
	fputs("</body>\n</html>\n", t->html);
}
