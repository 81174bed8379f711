/* SPDX-License-Identifier: BSD-2-Clause */
#include "database_case.h"

#include <string.h>

struct esp_database db;
uint64_t now;
char why[600];

/** Others each time. */
static void fill(void *ctx, void *to, size_t len)
{
	static uint8_t n;

	memset(to, ++n, len);
}

struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static bool host_has(void *ctx, const struct ip_addr *a)
{
	struct ip_addr our = addr(OUR), our2 = addr(OUR2), our6 = addr("fd00::1");

	return ip_addr_equal(a, &our) || ip_addr_equal(a, &our2) || ip_addr_equal(a, &our6);
}

int update(const char *text)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	const struct esp_host host = {host_has, NULL};
	struct esp_file *f;
	int rc;

	assert_non_null(in);
	if (esp_file_parse(in, "path", &host, &f, why, sizeof why) != 0)
		fail_msg("%s", why);
	fclose(in);
	rc = esp_database_update(&db, f, now, why, sizeof why);
	if (rc)
		esp_file_free(f);
	return rc;
}

int set_up(void **state)
{
	now = 0;
	esp_database_init(&db, &(struct random_source){.fill = fill});
	return 0;
}

int tear_down(void **state)
{
	esp_database_fini(&db);
	return 0;
}

struct ip_flow flow(const char *src, const char *dst, uint8_t proto, uint16_t port)
{
	return (struct ip_flow){.src = addr(src),
		.dst = addr(dst),
		.proto = proto,
		.src_port = 9,
		.dst_port = port};
}

int64_t leaves(const char *dst, uint8_t proto, uint16_t port)
{
	struct ip_flow f = flow(strchr(dst, ':') ? "fd00::1" : OUR, dst, proto, port);
	struct esp_sa *sa;

	/* Twice: the second answer is a remembered one. */
	(void)esp_database_output(&db, &f, &sa);
	switch (esp_database_output(&db, &f, &sa)) {
	case ESP_PROTECT:
		return sa ? (int64_t)sa->config.spi : -2;
	case ESP_BYPASS:
		return 0;
	default:
		return -1;
	}
}

enum esp_arrival arrives(const char *src, uint8_t proto, uint32_t spi)
{
	struct ip_addr our = addr(OUR);
	struct ip_flow f = flow(src, OUR, proto, 7);

	return esp_database_input(&db, &f, spi ? esp_database_find(&db, &our, spi) : NULL);
}
