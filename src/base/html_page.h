/* SPDX-License-Identifier: BSD-2-Clause */
/** @file html_page.h A report for browsers, in one file that needs no other. */
#ifndef BASE_HTML_PAGE_H
#define BASE_HTML_PAGE_H

#include <stdio.h>

/** Write @p text, of which nothing is a tag. Also for SVG. */
void html_page_text(FILE *out, const char *text);

/** Up to the heading: @p heading, then @p title, which is the page's too. */
void html_page_begin(FILE *out, const char *heading, const char *title);

/** After the last of it. */
void html_page_end(FILE *out);

#endif
