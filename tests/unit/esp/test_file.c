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

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

/** The host whose file it is. */
static bool has(void *ctx, const struct ip_addr *a)
{
	struct ip_addr our = addr("10.0.0.1"), our6 = addr("fd00::1");

	return ip_addr_equal(a, &our) || ip_addr_equal(a, &our6);
}

static const struct esp_host host = {has, NULL};

static int parse(const char *text, size_t len, struct esp_file **f)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	int rc;

	assert_non_null(in);
	why[0] = '\0';
	rc = esp_file_parse(in, "the/path", &host, f, why, sizeof why);
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
	assert_int_equal(esp_file_parse(in, "the/path", &host, &f, why, sizeof why), -EIO);
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

static void the_first_policy_that_fits_is_found(void **state)
{
	struct esp_file *f =
		good("ip xfrm policy add src 10.0.0.0/24 dst 10.0.0.0/24 proto tcp dir "
		     "out priority 2\n"
		     "ip xfrm policy add " HOSTS "proto tcp dport 1 dir out priority 3\n"
		     "ip xfrm policy add " HOSTS "proto tcp dport 2 dir out priority 1\n"
		     "ip xfrm policy add " HOSTS "dir out priority 4\n"
		     "ip xfrm policy add src ::/0 dst ::/0 dir in\n");
	struct ip_flow to = {.src = addr("10.0.0.1"), .dst = addr("10.0.0.2"), .proto = 6};

	to.dst_port = 1;
	assert_int_equal(esp_file_policy(f, &to, true)->priority, 2);
	to.dst_port = 2;
	assert_int_equal(esp_file_policy(f, &to, true)->priority, 1);
	assert_null(esp_file_policy(f, &to, false));
	to.proto = 17;
	assert_int_equal(esp_file_policy(f, &to, true)->priority, 4);
	to.dst = addr("10.0.0.3");
	assert_null(esp_file_policy(f, &to, true));
	esp_file_free(f);
}

/** So many hosts that what all of them need together is more than one may have. */
#define MESH_HOSTS 80

static void one_file_serves_a_whole_mesh(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct esp_file *f;

	assert_non_null(out);
	for (unsigned a = 1; a <= MESH_HOSTS; a++)
		for (unsigned b = 1; b <= MESH_HOSTS; b++)
			if (a != b)
				fprintf(out,
					"ip xfrm state add src 10.0.0.%u dst 10.0.0.%u spi "
					"%u " AEAD
					"ip xfrm policy add src 10.0.0.%u dst 10.0.0.%u dir out "
					"tmpl proto esp\n"
					"ip xfrm policy add src 10.0.0.%u dst 10.0.0.%u dir in "
					"tmpl proto esp\n",
					a, b, 256 + a, a, b, a, b);
	assert_int_equal(fclose(out), 0);
	f = good(text);
	assert_int_equal(f->n_states, 2 * (MESH_HOSTS - 1));
	assert_int_equal(f->n_policies, 2 * (MESH_HOSTS - 1));
	for (unsigned i = 0; i < f->n_states; i++) {
		struct esp_state *s = &f->state[i];

		assert_int_equal(s->outbound, has(NULL, &s->src));
		assert_int_equal(esp_file_find(f, s->spi, &s->dst), i);
		assert_true(has(NULL, s->outbound ? &s->src : &s->dst));
	}
	esp_file_free(f);
	free(text);
}

/** A policy is left aside only if no packet can ever be one of its. */
static void policies_that_may_be_for_us_are_kept(void **state)
{
	struct esp_file *f =
		good("ip xfrm policy add src 10.0.0.2 dst 10.0.0.1 dir out\n"
		     "ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 dir in\n"
		     "ip xfrm policy add src fd00::2 dst fd00::1 dir out\n"
		     "ip xfrm policy add src 10.0.0.2 dst 224.0.0.1 dir in priority 1\n"
		     "ip xfrm policy add src fd00::2 dst ff02::1 dir in priority 2\n"
		     "ip xfrm policy add src :: dst ff02::16 dir out priority 3\n"
		     "ip xfrm policy add src 10.0.0.2/31 dst 10.0.0.9 dir out "
		     "priority 4\n"
		     "ip xfrm policy add src fd00::9 dst fd00::1 dir in priority 5\n");

	assert_int_equal(f->n_policies, 5);
	for (unsigned i = 0; i < f->n_policies; i++)
		assert_int_equal(f->policy[i].priority, i + 1);
	esp_file_free(f);
	/* What is wrong of others is wrong. */
	bad("ip xfrm policy add src 10.0.0.2 dst 10.0.0.3 dir\n", "line 1: ");
}

static void errors_name_the_line(void **state)
{
	static char text[ESP_STATES_MAX * 200];
	size_t len = 0;

	bad("# one\n\nip xfrm state add spi\n", "line 3: expected a number");
	memset(text, 'x', 2000);
	bad(text, "line 1: the line is longer");
	for (unsigned i = 0; i <= ESP_POLICIES_MAX; i++)
		len += (size_t)snprintf(
			text + len, sizeof text - len, "ip xfrm policy add " HOSTS "dir out\n");
	bad(text, "line 4097: expected at most 4096 policies");
	for (unsigned i = len = 0; i <= ESP_STATES_MAX; i++)
		len += (size_t)snprintf(text + len, sizeof text - len,
			"ip xfrm state add " HOSTS "spi %u " AEAD, 256 + i);
	bad(text, "line 4097: expected at most 4096 SAs");
}

/** It would keep packets waiting while it is read. */
static void a_file_has_an_end(void **state)
{
	char *text = malloc(ESP_LINES_MAX + 2);
	struct esp_file *f;

	assert_non_null(text);
	memset(text, '\n', ESP_LINES_MAX + 1);
	text[ESP_LINES_MAX + 1] = '\0';
	bad(text, "line 1048577: expected at most 1048576 lines");
	assert_int_equal(parse(text, ESP_LINES_MAX, &f), 0);
	esp_file_free(f);
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
	assert_int_equal(esp_file_read(path, &host, &f, why, sizeof why), 0);
	esp_file_free(f);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(esp_file_read(path, &host, &f, why, sizeof why), -EACCES);
	assert_non_null(strstr(why, "chmod 600"));
	unlink(path);
	assert_int_equal(esp_file_read(path, &host, &f, why, sizeof why), -ENOENT);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sas_are_in_the_order_of_the_file),
		cmocka_unit_test(half_a_file_is_none),
		cmocka_unit_test(policies_are_by_priority_and_then_in_order),
		cmocka_unit_test(the_first_policy_that_fits_is_found),
		cmocka_unit_test(one_file_serves_a_whole_mesh),
		cmocka_unit_test(policies_that_may_be_for_us_are_kept),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(a_file_has_an_end),
		cmocka_unit_test(only_its_owner_may_read_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
