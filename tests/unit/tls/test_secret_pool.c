/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for secrets: apart from each other, wiped, and in no core dump. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/secret_pool.h"

#include "support/advice.h"

#include <string.h>

#define PLACES 200
/** More than a place has for itself while it is free: the rest of it must be zeros. */
#define LINKED sizeof(void *)

static const size_t sizes[] = {1, 64, sizeof(struct tls_secrets), 1024, TLS_SECRET_PLACE_MAX};

static void places_do_not_overlap(void **state)
{
	for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		struct tls_secret_pool p;
		uint8_t *place[PLACES];

		tls_secret_pool_init(&p, sizes[k]);
		for (unsigned i = 0; i < PLACES; i++) {
			place[i] = tls_secret_pool_get(&p);
			assert_non_null(place[i]);
			assert_int_equal((uintptr_t)place[i] % 64, 0);
			memset(place[i], (int)i, sizes[k]);
		}
		for (unsigned i = 0; i < PLACES; i++)
			for (size_t j = 0; j < sizes[k]; j++)
				assert_int_equal(place[i][j], (uint8_t)i);
		for (unsigned i = 0; i < PLACES; i++)
			tls_secret_pool_put(&p, place[i]);
		tls_secret_pool_fini(&p);
	}
}

static void what_is_given_back_is_wiped(void **state)
{
	struct tls_secret_pool p;
	uint8_t *place;

	tls_secret_pool_init(&p, 200);
	place = tls_secret_pool_get(&p);
	memset(place, 0x5a, 200);
	tls_secret_pool_put(&p, place);
	for (size_t i = LINKED; i < 200; i++)
		assert_int_equal(place[i], 0);
	/* Last in, first out. */
	assert_ptr_equal(tls_secret_pool_get(&p), place);
	tls_secret_pool_put(&p, place);
	tls_secret_pool_put(&p, NULL);
	tls_secret_pool_fini(&p);
}

static void none_of_it_is_dumped(void **state)
{
	struct tls_secret_pool p;
	uint8_t *place;

	if (!advice_is_heeded())
		skip();
	tls_secret_pool_init(&p, 1024);
	place = tls_secret_pool_get(&p);
	assert_true(advice_shows(place, "dd"));
	assert_true(advice_shows(place + 1023, "dd"));
	assert_false(advice_shows(&p, "dd"));
	tls_secret_pool_put(&p, place);
	tls_secret_pool_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_do_not_overlap),
		cmocka_unit_test(what_is_given_back_is_wiped),
		cmocka_unit_test(none_of_it_is_dumped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
