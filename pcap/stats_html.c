/* SPDX-License-Identifier: BSD-2-Clause */
/* A report for browsers, in one file that needs no other. */
#include "base/html_page.h"
#include "pcap/stats.h"

#include <stdlib.h>

void stats_html_begin(const struct stats *t, const char *name)
{
	html_page_begin(t->html, "iWARP in", name);
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
	html_page_text(t->html, text);
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
	html_page_end(t->html);
}
