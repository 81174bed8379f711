/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/html_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** What is no tag stays none, and nothing is fetched from elsewhere. */
static void a_page(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	html_page_begin(out, "About", "<script> & co");
	html_page_text(out, "a < b > c & d");
	html_page_end(out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strncmp(text, "<!DOCTYPE html>", 15), 0);
	assert_non_null(strstr(text, "<title>&lt;script&gt; &amp; co</title>"));
	assert_non_null(strstr(text, "<h1>About &lt;script&gt; &amp; co</h1>"));
	assert_non_null(strstr(text, "a &lt; b &gt; c &amp; d</body>\n</html>\n"));
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "src="));
	assert_null(strstr(text, "http"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
