/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/html_page.h"

void html_page_text(FILE *out, const char *text)
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

void html_page_begin(FILE *out, const char *heading, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n<title>", out);
	html_page_text(out, title);
	fputs("</title>\n<style>body { font-family: sans-serif; margin: 2em } pre { background: "
	      "#f4f4f4; padding: 1em; overflow: auto } svg { max-width: 100%; height: auto } "
	      "td, th { padding: 0 1em 0 0; text-align: right } "
	      "td:first-child { text-align: left }</style>\n"
	      "</head>\n<body>\n<h1>",
		out);
	html_page_text(out, heading);
	putc(' ', out);
	html_page_text(out, title);
	fputs("</h1>\n", out);
}

void html_page_end(FILE *out)
{
	fputs("</body>\n</html>\n", out);
}
