/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of SAs and policies: order, duplicates, limits, who may read them, sentences. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AEAD  "aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 128\n"
#define HOSTS "src 10.0.0.1 dst 10.0.0.2 "

static char why[600];

static int parse(const char *text, size_t len, struct esp_file **f)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	int rc;

	assert_non_null(in);
	why[0] = '\0';
	rc = esp_file_parse(in, "the/path", f, why, sizeof why);
	fclose(in);
	return rc;
}

static struct esp_file *good(const char *text)
{
	struct esp_file *f;

	if (parse(text, strlen(text), &f) != 0)
		fail_msg("%s", why);
	return f;
}

static void bad(const char *text, const char *reason)
{
	struct esp_file *f;

	assert_int_equal(parse(text, strlen(text), &f), -EINVAL);
	assert_null(f);
	if (!strstr(why, reason) || !strstr(why, "ipsec \"the/path\" line "))
		fail_msg("\"%s\" does not say \"%s\"", why, reason);
}

static ssize_t read_a_line_then_fail(void *cookie, char *to, size_t len)
{
	static const char line[] = "ip xfrm policy setdefault in accept out accept\n";
	bool *begun = cookie;

	if (*begun) {
		errno = EIO;
		return -1;
	}
	*begun = true;
	assert_true(len >= sizeof line - 1);
	memcpy(to, line, sizeof line - 1);
	return sizeof line - 1;
}

/* What follows might have been the policies. */
static void half_a_file_is_none(void **state)
{
	bool begun = false;
	FILE *in = fopencookie(&begun, "r", (cookie_io_functions_t){.read = read_a_line_then_fail});
	struct esp_file *f;

	assert_non_null(in);
	assert_int_equal(esp_file_parse(in, "the/path", &f, why, sizeof why), -EIO);
	assert_null(f);
	assert_string_equal(why, "ipsec \"the/path\" line 1: what follows cannot be read");
	fclose(in);
}

static void sas_are_in_the_order_of_the_file(void **state)
{
	struct esp_file *f = good(
		"# two\n\nip xfrm state add " HOSTS "spi 0x200 " AEAD "ip xfrm state add " HOSTS
		"spi 0x100 " AEAD "ip xfrm state add src 10.0.0.2 dst 10.0.0.1 spi 0x100 " AEAD);

	assert_int_equal(f->n_states, 3);
	assert_int_equal(f->state[0].spi, 0x200);
	assert_int_equal(f->state[1].spi, 0x100);
	assert_int_equal(f->state[1].key[15], 15);
	assert_false(f->accept_in || f->accept_out);
	esp_file_free(f);
	esp_file_free(NULL);
	bad("ip xfrm state add " HOSTS "spi 0x200 " AEAD "ip xfrm state add " HOSTS "spi 512 " AEAD,
		"line 2: another SA");
}

static void policies_are_by_priority_and_then_in_order(void **state)
{
	struct esp_file *f = good("ip xfrm policy add " HOSTS "proto 1 dir out priority 5\n"
				  "ip xfrm policy add " HOSTS "proto 2 dir out\n"
				  "ip xfrm policy setdefault in accept\n"
				  "ip xfrm policy add " HOSTS "proto 3 dir out priority 5\n"
				  "ip xfrm policy setdefault out accept\n"
				  "ip xfrm policy add " HOSTS "proto 4 dir out");

	assert_int_equal(f->n_policies, 4);
	assert_int_equal(f->policy[0].selector.proto, 2);
	assert_int_equal(f->policy[1].selector.proto, 4);
	assert_int_equal(f->policy[2].selector.proto, 1);
	assert_int_equal(f->policy[3].selector.proto, 3);
	assert_true(f->accept_in && f->accept_out);
	esp_file_free(f);
}

static void errors_name_the_line(void **state)
{
	char *text = calloc(1, 1 << 18);

	assert_non_null(text);
	bad("# one\n\nip xfrm state add spi\n", "line 3: expected a number");
	memset(text, 'x', 2000);
	bad(text, "line 1: the line is longer");
	for (unsigned i = text[0] = 0; i <= ESP_POLICIES_MAX; i++)
		strcat(text, "ip xfrm policy add " HOSTS "dir out\n");
	bad(text, "line 1025: expected at most 1024 policies");
	for (unsigned i = text[0] = 0; i <= ESP_STATES_MAX; i++)
		snprintf(text + strlen(text), 200, "ip xfrm state add " HOSTS "spi %u " AEAD,
			256 + i);
	bad(text, "line 1025: expected at most 1024 SAs");
	free(text);
}

static void only_its_owner_may_read_it(void **state)
{
	char path[] = "/tmp/uiw-esp.XXXXXX";
	int fd = mkstemp(path);
	struct esp_file *f;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "\n", 1), 1);
	close(fd);
	assert_int_equal(esp_file_read(path, &f, why, sizeof why), 0);
	esp_file_free(f);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(esp_file_read(path, &f, why, sizeof why), -EACCES);
	assert_non_null(strstr(why, "chmod 600"));
	unlink(path);
	assert_int_equal(esp_file_read(path, &f, why, sizeof why), -ENOENT);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sas_are_in_the_order_of_the_file),
		cmocka_unit_test(half_a_file_is_none),
		cmocka_unit_test(policies_are_by_priority_and_then_in_order),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(only_its_owner_may_read_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
