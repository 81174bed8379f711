/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stat_case.h What a process tells, from texts of JSON. */
#ifndef TESTS_UNIT_TOOLS_STAT_CASE_H
#define TESTS_UNIT_TOOLS_STAT_CASE_H

#include "tools/stat_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

/** A process with one of everything, and no regions. */
static const char about_text[] =
	"{\"info\":{\"pid\":7,\"program\":\"a\\n\\u001bb\",\"device\":\"uiw0\"},"
	"\"socket\":\"telemetry.7\",\"directory\":\"/run/"
	"uiwarp\",\"stats\":{\"tcp\":{\"retransmits\":12},"
	"\"drops\":{\"tcp_bad_cksum\":5}},"
	"\"rnic\":{\"terminates\":[{\"layer\":1,\"type\":2,\"code\":3,\"sent\":4,\"received\":0}]}"
	"}";

static const char *const list_text[STAT_LISTS] = {
	[STAT_CONNECTIONS] =
		("[{\"local\":\"l\",\"remote\":\"r\",\"qp\":3,\"cwnd\":10,\"mss\":1460,"
		 "\"srtt_ns\":5,\"pacing_rate\":6,\"queued\":7,\"unread\":8,\"bytes_acked\":9,"
		 "\"bytes_received\":11,\"retransmits\":12,\"out_of_order\":13}]"),
	[STAT_QPS] = ("[{\"qp\":3,\"state\":\"RTS\",\"send_posted\":1,\"send_completed\":1,"
		      "\"recv_completed\":2,\"local\":\"l\"}]"),
	[STAT_CQS] = "[{\"cq\":1,\"depth\":2,\"size\":3,\"more\":[]}]",
	[STAT_MRS] = "[]",
};

/** A list has the items of an array. */
static inline void fill_list(struct json_list *l, const char *array)
{
	json_t *all = json_loads(array, 0, NULL), *item;
	size_t i;

	assert_non_null(all);
	json_array_foreach(all, i, item) assert_true(json_list_add(l, item));
	json_decref(all);
}

static inline struct stat_process process(void)
{
	struct stat_process p = {.about = json_loads(about_text, 0, NULL)};

	assert_non_null(p.about);
	for (unsigned i = 0; i < STAT_LISTS; i++) {
		fill_list(&p.list[i], list_text[i]);
		p.told[i] = true;
	}
	return p;
}

#endif
