/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/counters.h"

#include "dpdk-port/port.h"
#include "esp/boundary.h"
#include "host/thread.h"
#include "ip/ip.h"
#include "sock/sock.h"
#include "tcp/tcp.h"
#include "tls/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** Each counter of each layer is in the table, and once: a new one must be added there. */
static void all_are_there_once(void **state)
{
	static const size_t size[COUNTERS_LAYERS] = {
		[COUNTERS_PORT] = sizeof(struct port_stats),
		[COUNTERS_IP] = sizeof(struct ip_stats),
		[COUNTERS_ESP] = sizeof(struct esp_stats),
		[COUNTERS_TCP] = sizeof(struct tcp_stats),
		[COUNTERS_SOCK] = sizeof(struct sock_stats),
		[COUNTERS_TLS] = sizeof(struct tls_stats),
		[COUNTERS_ENGINE] = sizeof(struct engine_thread_stats),
	};

	for (unsigned layer = 0; layer < COUNTERS_LAYERS; layer++) {
		uint64_t *stats = calloc(1, size[layer]);

		for (unsigned i = 0; i < counters_count; i++)
			if (counters[i].layer == layer)
				stats[counters[i].offset / sizeof *stats]++;
		for (size_t i = 0; i < size[layer] / sizeof *stats; i++)
			if (stats[i] != 1)
				fail_msg("%s: the counter at %zu is there %d times",
					counters_layer_name((enum counters_layer)layer),
					i * sizeof *stats, (int)stats[i]);
		free(stats);
	}
}

static void names_and_help_are_fit_for_export(void **state)
{
	for (unsigned i = 0; i < counters_count; i++) {
		const struct counter *c = &counters[i];

		assert_true(islower((unsigned char)c->name[0]));
		assert_int_equal(strspn(c->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(c->name));
		assert_true(strlen(c->help) > 5);
		assert_null(strpbrk(c->help, "\n\\"));
		assert_false(c->gauge && c->drop);
	}
}

static void values_are_found(void **state)
{
	const struct tcp_stats stats = {.retransmits = 7};

	for (unsigned i = 0; i < counters_count; i++)
		if (counters[i].layer == COUNTERS_TCP)
			assert_int_equal(counters_value(&counters[i], &stats),
				strcmp(counters[i].name, "retransmits") == 0 ? 7 : 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_there_once),
		cmocka_unit_test(names_and_help_are_fit_for_export),
		cmocka_unit_test(values_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
