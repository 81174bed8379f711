/* SPDX-License-Identifier: BSD-2-Clause */
/* What the doctor does by what a peer's port mapper answers. */
#include "iwpm/mapper.h"
#include "tools/doctor.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define FROM   40000
#define SERVED 7174

static struct {
	enum iwpm_outcome answer; /* of the peer's mapper */
	uint16_t mapped;
	bool off, local;
	unsigned locks, asked, cancelled;
	unsigned good, notes, wrong, advice;
} w;

/* ---- what is around the doctor ------------------------------------------------------------ */

static bool doctor_map_is_local(struct llp_stack *s, const struct ip_addr *a)
{
	return w.local;
}

static int doctor_map_source(
	struct llp_stack *s, const struct ip_addr *remote, struct ip_addr *local)
{
	*local = *remote;
	return 0;
}

static uint16_t doctor_map_port_choose(
	struct llp_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote)
{
	return FROM;
}

static const struct llp_stack_ops doctor_map_llp_ops = {.is_local = doctor_map_is_local,
	.source = doctor_map_source,
	.port_choose = doctor_map_port_choose};
static struct llp_stack doctor_map_llp = {.ops = &doctor_map_llp_ops};

struct engine *net_engine(struct net *n)
{
	return NULL;
}

struct llp_stack *net_llp(struct net *n)
{
	return &doctor_map_llp;
}

struct iwpm *net_mapper(struct net *n)
{
	return w.off ? NULL : (struct iwpm *)&w;
}

uint64_t net_now(const struct net *n)
{
	return 0;
}

void engine_lock(struct engine *e)
{
	assert_int_equal(w.locks++, 0);
}

void engine_unlock(struct engine *e)
{
	assert_int_equal(w.locks--, 1);
}

uint64_t iwpm_ask(struct iwpm *m, struct iwpm_query *q, const struct ip_endpoint *local,
	const struct ip_endpoint *remote, iwpm_query_fn *fn, uint64_t now)
{
	assert_int_equal(w.locks, 1);
	assert_int_equal(local->port, FROM);
	assert_int_equal(remote->port, SERVED);
	w.asked++;
	*q = (struct iwpm_query){.fn = fn, .local = *local, .remote = *remote, .mapped = *remote};
	return 1;
}

void iwpm_cancel(struct iwpm_query *q)
{
	assert_int_equal(w.locks, 1);
	w.cancelled++;
}

bool doctor_wait(struct doctor *d, unsigned ms, bool (*done)(void *ctx), void *ctx)
{
	struct iwpm_query *q = ctx; /* which it begins with */

	assert_false(done(ctx));
	if (w.answer == IWPM_MAPPED)
		q->mapped.port = w.mapped;
	q->fn(q, w.answer);
	return done(ctx);
}

#define DOCTOR_COUNTS(name, n)                            \
	void name(struct doctor *d, const char *fmt, ...) \
	{                                                 \
		w.n++;                                    \
	}

DOCTOR_COUNTS(doctor_good, good)
DOCTOR_COUNTS(doctor_note, notes)
DOCTOR_COUNTS(doctor_wrong, wrong)
DOCTOR_COUNTS(doctor_advise, advice)

/* ---- tests -------------------------------------------------------------------------------- */

static struct config config;
static struct doctor d;

/** @return doctor_map_port(). */
static bool map_port(enum config_port_mapper setting, enum iwpm_outcome answer, uint16_t mapped)
{
	memset(&w, 0, sizeof w);
	w.answer = answer;
	w.mapped = mapped;
	config.port_mapper = setting;
	d = (struct doctor){.config = &config, .port = SERVED};
	return doctor_map_port(&d, "192.0.2.1");
}

static void a_mapped_port_is_where_to_connect_to(void **state)
{
	assert_true(map_port(PORT_MAPPER_AUTO, IWPM_MAPPED, 50000));
	assert_int_equal(d.port, 50000);
	assert_int_equal(d.from, FROM);
	assert_int_equal(w.good, 1);
	assert_int_equal(w.cancelled, 1);
	assert_true(map_port(PORT_MAPPER_REQUIRED, IWPM_MAPPED, SERVED));
	assert_int_equal(d.port, SERVED);
	assert_int_equal(w.good + w.notes + w.wrong, 0);
}

static void without_an_answer_the_port_is_as_it_is(void **state)
{
	static const enum iwpm_outcome none[] = {IWPM_ABSENT, IWPM_UNANSWERED, IWPM_SILENT};

	for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++) {
		assert_true(map_port(PORT_MAPPER_AUTO, none[i], 0));
		assert_int_equal(d.port, SERVED);
		assert_int_equal(w.good + w.notes + w.wrong, 0);
		assert_false(map_port(PORT_MAPPER_REQUIRED, none[i], 0));
		assert_int_equal(w.wrong, 1);
		assert_int_equal(w.advice, 1);
		assert_int_equal(w.cancelled, 1);
	}
}

static void what_the_mapper_does_not_know_is_told(void **state)
{
	assert_true(map_port(PORT_MAPPER_AUTO, IWPM_REJECTED, 0));
	assert_int_equal(w.notes, 1);
	assert_int_equal(w.wrong, 0);
	assert_false(map_port(PORT_MAPPER_REQUIRED, IWPM_REJECTED, 0));
	assert_int_equal(w.wrong, 1);
	assert_int_equal(w.advice, 1);
}

static void nobody_is_asked_where_there_is_nothing_to_ask(void **state)
{
	memset(&w, 0, sizeof w);
	w.off = true;
	d = (struct doctor){.config = &config, .port = SERVED};
	assert_true(doctor_map_port(&d, "192.0.2.1"));
	w.off = false;
	w.local = true;
	assert_true(doctor_map_port(&d, "192.0.2.1"));
	assert_int_equal(w.asked, 0);
	assert_int_equal(d.port, SERVED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapped_port_is_where_to_connect_to),
		cmocka_unit_test(without_an_answer_the_port_is_as_it_is),
		cmocka_unit_test(what_the_mapper_does_not_know_is_told),
		cmocka_unit_test(nobody_is_asked_where_there_is_nothing_to_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
