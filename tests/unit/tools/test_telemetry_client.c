/* SPDX-License-Identifier: BSD-2-Clause */
/* The client of uiwarp stat, top and ctl, and processes that answer as a script has it. */
#include "answering.h"
#include "host/telemetry.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool count(void *ctx, struct json_reader *r)
{
	json_reader_skip(r);
	++*(unsigned *)ctx;
	return true;
}

/* ---- what is said ------------------------------------------------------------------------ */

static void a_value_is_answered(void **state)
{
	unsigned n = begin((struct script){
		.say = {GREETING, "{\"/a\":{\"b\":7}}", "{\"/c\":{\"error\":\"no\"}}",
			"{\"/d\":[8]}", "{\"/e\":{\"error\":\"not now\",\"b\":7}}",
			"{\"/f\":{\"error\":8}}"},
		.greets = true});
	struct json_reader r;
	uint64_t number = 0;
	json_t *answer;
	char text[8];

	open_all(1);
	answer = telemetry_client_ask(of(n), "/a");
	assert_int_equal(json_integer_value(json_object_get(answer, "b")), 7);
	assert_false(telemetry_client_error(answer, "error", text, sizeof text));
	json_decref(answer);
	answer = telemetry_client_ask(of(n), "/c");
	assert_true(telemetry_client_error(answer, "error", text, sizeof text));
	assert_string_equal(text, "no");
	json_decref(answer);
	assert_true(telemetry_client_read(of(n), "/d", &r));
	assert_true(json_reader_array(&r) && json_reader_element(&r));
	assert_true(json_reader_number(&r, &number));
	assert_int_equal(number, 8);
	assert_string_equal(of(n)->refused, "");
	assert_true(telemetry_client_read(of(n), "/e", &r));
	assert_string_equal(of(n)->refused, "not now");
	assert_true(telemetry_client_read(of(n), "/f", &r));
	assert_string_equal(of(n)->refused, "");
	/* It has said all that it says. */
	assert_null(telemetry_client_ask(of(n), "/g"));
	assert_int_equal(of(n)->fd, -1);
}

static bool lists(struct telemetry_client *c)
{
	struct json_list list = {.n = 0};
	bool good = telemetry_client_list(c, "/l", &list);

	assert_true(good || list.size == 0);
	json_list_free(&list);
	return good;
}

static void assert_listed(struct telemetry_client *c, size_t size)
{
	struct json_list list = {.n = 0};

	assert_true(telemetry_client_list(c, "/l", &list));
	assert_int_equal(list.n, size);
	json_list_free(&list);
}

static void pages_are_put_together(void **state)
{
	static const char first[] = "{\"/l\":{\"total\":3,\"items\":[1,{\"a\":[]}],\"next\":2}}",
			  second[] = "{\"/l\":{\"items\":[3]}}",
			  none[] = "{\"/l\":{\"error\":\"" TELEMETRY_UNKNOWN "\"}}";
	unsigned n = begin(
		(struct script){.say = {GREETING, first, second, first, second, none, none,
					"{\"/l\":{\"error\":\"not \\u001bnow\"}}", first, second},
			.greets = true});
	unsigned items = 0;

	open_all(1);
	assert_listed(of(n), 3);
	assert_true(telemetry_client_each(of(n), "/l", count, &items));
	assert_int_equal(items, 3);
	/* One that has no such list is asked for more. */
	assert_listed(of(n), 0);
	assert_string_equal(of(n)->refused, "");
	assert_true(telemetry_client_each(of(n), "/l", count, &items));
	assert_int_equal(items, 3);
	/* One that does not tell it is, too, and that is no empty list. */
	assert_false(lists(of(n)));
	assert_string_equal(of(n)->refused, "not ?now");
	assert_listed(of(n), 3);
}

/** Who goes round in circles is not followed. */
static void pages_end(void **state)
{
	static const char *const answers[] = {"{\"/l\":{\"items\":[1],\"next\":5}}",
		"{\"/l\":{\"items\":[2],\"next\":5}}", "{\"/l\":{\"items\":[3],\"next\":-1}}"};
	unsigned n = begin((struct script){
		.say = {GREETING, answers[0], answers[1], answers[2], answers[0], answers[1]},
		.greets = true});
	unsigned items = 0;

	open_all(1);
	assert_listed(of(n), 2);
	assert_listed(of(n), 1);
	assert_true(telemetry_client_each(of(n), "/l", count, &items));
	assert_int_equal(items, 2);
}

/** Of a hostile user, perhaps: neither pages nor items are followed for ever. */
static void a_list_without_an_end_is_left(void **state)
{
	static char many[65400];
	const char *const items[] = {"", "7", many};

	for (size_t i = 0; i + 1 < sizeof many; i++)
		many[i] = i % 2 ? ',' : '7';
	for (unsigned i = 0; i < sizeof items / sizeof items[0]; i++) {
		unsigned count_of = 0,
			 n = begin((struct script){
				 .say = {GREETING}, .grows = items[i], .greets = true});

		open_all(1);
		assert_false(telemetry_client_each(of(n), "/l", count, &count_of));
		assert_string_equal(of(n)->refused, "its list has no end");
		assert_true(of(n)->excessive);
		assert_false(of(n)->greeted);
		assert_in_range(count_of, 0, TELEMETRY_CLIENT_ITEMS);
		assert_false(lists(renewed(n)));
		assert_string_equal(of(n)->refused, "its list has no end");
		assert_false(of(n)->greeted);
		telemetry_clients_close(&clients);
		end(n);
	}
}

/* ---- what is kept ------------------------------------------------------------------------ */

static size_t in_use;

static void *counting_malloc(size_t size)
{
	void *p = malloc(size);

	in_use += malloc_usable_size(p) + sizeof(size_t);
	return p;
}

static void counting_free(void *p)
{
	if (p)
		in_use -= malloc_usable_size(p) + sizeof(size_t);
	free(p);
}

/** Whatever is in it, a tree is no larger than was counted; and not much smaller. */
static void trees_are_counted(void **state)
{
	static const char *const items[] = {"1", "-1.5e3", "true", "\"\"", "\"abc\"",
		"\"\\\"{[,:\"", "\"\\\\\"", "{}", "[]", "[[]]", "[{}]", "{\"a\":{}}", "[1,2,3]",
		"{\"a\":\"b\"}", "{\"\":1}",
		"{\"qp\":131073,\"state\":\"RTS\",\"local\":\"10.0.0.1:7\"}", "[true,false,null]",
		"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9}"};
	static char text[1 << 17];
	json_malloc_t was_malloc;
	json_free_t was_free;

	json_get_alloc_funcs(&was_malloc, &was_free);
	json_set_alloc_funcs(counting_malloc, counting_free);
	for (unsigned i = 0; i < sizeof items / sizeof items[0]; i++) {
		size_t len = (size_t)snprintf(text, sizeof text, "[%s", items[i]), counted;
		json_t *tree;

		for (unsigned n = 1; n < 1000; n++)
			len += (size_t)snprintf(text + len, sizeof text - len, ",%s", items[i]);
		text[len++] = ']';
		in_use = 0;
		counted = telemetry_client_tree(text, len);
		tree = json_loadb(text, len, 0, NULL);
		assert_int_equal(json_array_size(tree), 1000);
		assert_in_range(in_use, 1, counted);
		if (items[i][0] == '{')
			assert_in_range(counted, 1, 3 * in_use);
		json_decref(tree);
	}
	json_set_alloc_funcs(was_malloc, was_free);
}

/** Many in one another are little text, and few long ones few items: neither fills the memory. */
static void who_tells_more_than_is_kept_is_left(void **state)
{
	static char nested[60002], item[30003], honest[40000];
	const char *const grows[] = {nested, item};

	memset(item, 'A', sizeof item - 1);
	item[0] = item[sizeof item - 2] = '"';
	nested[0] = '[';
	for (size_t i = 1; i + 1 < sizeof nested; i++)
		nested[i] = "[],"[(i - 1) % 3];
	nested[sizeof nested - 2] = ']';
	snprintf(honest, sizeof honest, "{\"/l\":{\"items\":[\"%038000d\"]}}", 7);
	for (unsigned i = 0; i < 2; i++) {
		unsigned n = begin(
			(struct script){.say = {GREETING}, .grows = grows[i], .greets = true});
		unsigned other =
			begin((struct script){.say = {GREETING, honest, honest}, .greets = true});

		open_all(2);
		clients.most = 60000;
		assert_false(lists(of(n)));
		assert_string_equal(of(n)->refused, "it tells more than is kept");
		assert_false(of(n)->greeted);
		/* That is nothing to another one, whose answers were forgotten meanwhile. */
		assert_listed(of(other), 1);
		telemetry_clients_renew(&clients);
		assert_listed(of(other), 1);
		telemetry_clients_close(&clients);
		end(n);
		end(other);
	}
}

/** A list is kept as text, and not as the tree of a page that it came in. */
static void a_list_takes_little_more_than_its_text(void **state)
{
	static char page[50000];
	unsigned n, len = (unsigned)snprintf(page, sizeof page, "{\"/l\":{\"items\":[7");

	for (unsigned i = 1; i < 20000; i++)
		len += (unsigned)snprintf(page + len, sizeof page - len, ",7");
	snprintf(page + len, sizeof page - len, "]}}");
	n = begin((struct script){
		.say = {GREETING, page, page, page, page, page, page, page, page, page, page},
		.greets = true});
	open_all(1);
	/* Room for one tree of it. */
	clients.most = telemetry_client_tree(page, len) + 600000;
	for (unsigned i = 0; i < 10; i++)
		assert_listed(of(n), 20000);
	assert_in_range(of(n)->kept, 10 * 40000, 10 * 55000);
}

/** Nobody is asked where nobody can be: that is not the same as that nobody is there. */
static void who_cannot_be_asked_is_counted(void **state)
{
	char path[128], other[128];
	int fd;

	snprintf(other, sizeof other, "%s.link", directory);
	begin((struct script){.say = {GREETING}, .greets = true});
	assert_int_equal(symlink(directory, other), 0);
	assert_int_equal(telemetry_clients_open(&clients, other, NULL), 0);
	assert_int_equal(clients.n, 0);
	assert_int_equal(clients.unasked, 1);
	assert_true(clients.error == -ENOTDIR || clients.error == -ELOOP);
	assert_string_equal(clients.failed, server[0].name);
	telemetry_clients_close(&clients);
	assert_int_equal(unlink(other), 0);
	/* The dead are no fault. */
	snprintf(path, sizeof path, "%s/telemetry.1", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	open_all(1);
	assert_int_equal(clients.unasked, 0);
	assert_int_equal(unlink(path), 0);
	telemetry_clients_close(&clients);
	assert_int_equal(telemetry_clients_open(&clients, "/nonexistent", NULL), 0);
	assert_int_equal(clients.error, -ENOENT);
	assert_string_equal(clients.failed, "");
}

/** By another environment than ours, such as cron's: it is found all the same. */
static void all_places_of_the_user_are_looked_into(void **state)
{
	char runtime[] = "/tmp/uiw-client.XXXXXX", uiwarp[64];
	struct telemetry_asked asked[2] = {{0}};
	struct slot_places p;

	servers = 0;
	assert_non_null(mkdtemp(runtime));
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	assert_int_equal(slot_find_places(&p), 0);
	/* The one in /tmp. */
	assert_true((size_t)snprintf(directory, sizeof directory, "%s",
			    p.path[geteuid() == 0 ? p.n - 1 : 0]) < sizeof directory);
	begin((struct script){.say = {GREETING}, .greets = true});
	asked[0].pid = server[0].pid;
	assert_int_equal(telemetry_clients_open(&clients, NULL, asked), 0);
	assert_int_equal(clients.n, 1);
	assert_string_equal(clients.places.path[clients.client[0].place], directory);
	telemetry_clients_close(&clients);
	end(0);
	telemetry_socket_sweep(directory, server[0].name);
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(uiwarp, sizeof uiwarp, "%s/uiwarp", runtime);
	rmdir(uiwarp);
	assert_int_equal(rmdir(runtime), 0);
}

/** It has no words for a terminal. */
static void an_error_is_plain_text(void **state)
{
	static const char says[] =
		"{\"/a\":{\"error\":\"\\u001b[2Jno\\u009b\\n\",\"failed\":\"\\u0007\"}}";
	unsigned n = begin((struct script){.say = {GREETING, says, says}, .greets = true});
	struct json_reader r;
	char text[32];
	json_t *answer;

	open_all(1);
	assert_true(telemetry_client_read(of(n), "/a", &r));
	assert_string_equal(of(n)->refused, "?[2Jno???");
	answer = telemetry_client_ask(of(n), "/a");
	assert_true(telemetry_client_error(answer, "error", text, sizeof text));
	assert_string_equal(text, "?[2Jno???");
	assert_true(telemetry_client_error(answer, "failed", text, 1));
	assert_string_equal(text, "");
	assert_true(telemetry_client_error(answer, "failed", text, sizeof text));
	assert_string_equal(text, "?");
	json_decref(answer);
}

/** @param greets as its greeting has it, or nonsense. */
static bool can_say(const char *greets, size_t len)
{
	char greeting[128], *text = malloc(len);
	json_t *answer;
	unsigned n;

	assert_non_null(text);
	memset(text, ' ', len);
	memcpy(text, "{\"/a\":1}", 8);
	snprintf(greeting, sizeof greeting, "{\"max_output_len\":%s}", greets);
	n = begin((struct script){.say = {greeting, text}, .len = len, .greets = true});
	open_all(1);
	answer = telemetry_client_ask(of(n), "/a");
	/* It is not asked further, but is no slow one. */
	assert_true(answer || of(n)->fd == -1);
	telemetry_clients_close(&clients);
	end(n);
	free(text);
	json_decref(answer);
	return answer;
}

static void answers_are_as_long_as_was_said(void **state)
{
	assert_true(can_say("100000", 100000));
	assert_false(can_say("100000", 100001));
	assert_true(can_say("65536", 65536));
	assert_false(can_say("65536", 65537));
	/* What makes no sense leaves it as it is. */
	for (unsigned i = 0; i < 6; i++) {
		static const char *const greets[] = {
			"0", "-1", "9223372036854775807", "1e9", "\"100000\"", "null"};

		assert_true(can_say(greets[i], 65536));
		assert_false(can_say(greets[i], 65537));
	}
}

/** Who says no JSON, or no object, is not asked further: unless it has just gone, that is told. */
static void what_is_no_answer_is_none(void **state)
{
	static char deep[60000];
	static const struct {
		const char *say;
		size_t len;
	} bad[] = {{"", 0}, {"{", 0}, {"{}", 0}, {"[]", 0}, {"null", 0}, {"7", 0}, {"\"a\"", 0},
		{"{\"a\":}", 0}, {"{\"a\":1", 0}, {"{\"a\":1}}", 0}, {"{\"a\":1}\0", 8},
		{"{\"a\":\"\xff\xfe\"}", 0}, {"{\"a\":\"\\ud800\"}", 0}, {"{\"a\":1e999}", 0},
		{"{\"a\":18446744073709551615}", 0}, {"\0\0\0\0", 4}, {deep, sizeof deep - 1}};
	struct json_reader r;

	memset(deep, '[', sizeof deep - 1);
	memcpy(deep, "{\"a\":", 5);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		unsigned n = begin((struct script){
				 .say = {GREETING, bad[i].say}, .len = bad[i].len, .greets = true}),
			 items = 0;

		open_all(1);
		assert_null(telemetry_client_ask(of(n), "/a"));
		assert_false(of(n)->greeted);
		assert_string_equal(of(n)->refused,
			*bad[i].say || bad[i].len ? "what it tells is no answer" : "");
		assert_null(telemetry_client_ask(of(n), "/a"));
		assert_false(telemetry_client_read(of(n), "/a", &r));
		/* The other reader takes what is whole as far as it is read, and has no tree. */
		renewed(n);
		if (!telemetry_client_each(of(n), "/a", count, &items))
			assert_false(of(n)->greeted);
		assert_int_equal(items, 0);
		telemetry_clients_close(&clients);
		end(n);
	}
}

static void a_page_that_is_cut_off_ends_a_list(void **state)
{
	static const char cut[] = "{\"/l\":{\"items\":[1,2,",
			  whole[] = "{\"/l\":{\"items\":[1,2]}}";
	unsigned n = begin((struct script){.say = {GREETING, cut}, .greets = true}), items = 0;
	unsigned other = begin((struct script){.say = {GREETING, whole}, .greets = true});

	open_all(2);
	assert_false(telemetry_client_each(of(n), "/l", count, &items));
	assert_false(of(n)->greeted);
	assert_true(telemetry_client_each(of(other), "/l", count, &items));
	assert_false(lists(of(n)));
	assert_false(lists(renewed(n)));
}

static void who_greets_with_nonsense_is_left(void **state)
{
	static const char *const say[] = {"", "{", "null,", "\xff"};

	for (unsigned i = 0; i < sizeof say / sizeof say[0]; i++)
		begin((struct script){.say = {say[i]}, .greets = true});
	assert_int_equal(telemetry_clients_open(&clients, directory, NULL), 0);
	for (unsigned i = 0; i < servers; i++) {
		assert_false(of(i)->greeted);
		assert_int_equal(of(i)->fd, -1);
		assert_null(telemetry_client_ask(of(i), "/a"));
	}
}

/** In the middle of a list; it serves others, and perhaps us again. */
static void who_ends_the_connection_is_asked_again(void **state)
{
	unsigned n = begin((struct script){
		.say = {GREETING, "{\"/l\":{\"items\":[1,2],\"next\":2}}"}, .greets = true});
	unsigned items = 0;

	open_all(1);
	assert_false(lists(of(n)));
	assert_int_equal(of(n)->fd, -1);
	assert_false(telemetry_client_each(renewed(n), "/l", count, &items));
	assert_int_equal(items, 2);
	renewed(n);
	end(n);
	assert_null(telemetry_client_ask(&clients.client[0], "/l"));
	telemetry_clients_renew(&clients);
	telemetry_clients_renew(&clients);
	assert_int_equal(clients.n, 0);
}

/* ---- who says nothing ---------------------------------------------------------------------- */

static void await_stop(unsigned n)
{
	int status;

	assert_int_equal(waitpid(server[n].pid, &status, WUNTRACED), server[n].pid);
	assert_true(WIFSTOPPED(status));
}

/** It is left, and comes again when it is continued; the others are there all the time. */
static void one_that_is_stopped_is_passed_over(void **state)
{
	static const struct script s = {
		.say = {GREETING, "{\"/a\":1}", "{\"/a\":2}"}, .greets = true};
	struct script stops = s;
	unsigned n, other = begin(s);

	stops.stops_before = 1;
	n = begin(stops);
	open_all(2);
	assert_true(of(n)->greeted && of(other)->greeted);
	assert_null(telemetry_client_ask(of(n), "/a"));
	await_stop(n);
	assert_int_equal(of(n)->fd, -EAGAIN);
	for (unsigned i = 0; i < 100; i++)
		telemetry_clients_renew(&clients);
	assert_false(of(n)->greeted);
	assert_true(of(n)->fd >= 0);
	json_decref(telemetry_client_ask(of(other), "/a"));
	assert_true(of(other)->greeted);
	assert_int_equal(kill(server[n].pid, SIGCONT), 0);
	renewed(n);
}

static bool twice(void *ctx)
{
	unsigned *calls = ctx;

	return ++*calls < 2;
}

/** The caller has its turns while one is waited for, and then wants no more of it. */
static void the_caller_ends_a_wait(void **state)
{
	unsigned calls = 0,
		 n = begin((struct script){
			 .say = {GREETING, "{\"/a\":1}"}, .greets = true, .stops_before = 1});

	open_all(1);
	clients.meanwhile = twice;
	clients.ctx = &calls;
	assert_null(telemetry_client_ask(of(n), "/a"));
	assert_int_equal(calls, 2);
	telemetry_clients_renew(&clients);
	assert_int_equal(calls, 2);
	await_stop(n);
}

/** Stopped before they greet, and nobody else. */
static void those_that_are_stopped_are_told_of(void **state)
{
	struct telemetry_asked asked[4] = {{0}};

	for (unsigned i = 0; i < 3; i++) {
		begin((struct script){.say = {GREETING}, .greets = true});
		asked[i].pid = server[i].pid;
		assert_int_equal(kill(server[i].pid, SIGSTOP), 0);
		await_stop(i);
	}
	open_all(3);
	for (unsigned i = 0; i < 3; i++)
		assert_true(!of(i)->greeted && of(i)->waited);
	telemetry_clients_close(&clients);
	assert_int_equal(kill(server[1].pid, SIGCONT), 0);
	assert_int_equal(telemetry_clients_open(&clients, directory, asked), -ESRCH);
	assert_int_equal(clients.n, 3);
	assert_false(of(0)->greeted || of(2)->greeted);
	assert_true(of(1)->greeted);
	telemetry_clients_close(&clients);
	asked[0] = asked[1];
	asked[1].pid = 0;
	assert_int_equal(telemetry_clients_open(&clients, directory, asked), 0);
	assert_int_equal(clients.n, 1);
}

/** Nothing in it will ever say something. */
static void one_that_sleeps_is_passed_over(void **state)
{
	unsigned n = begin((struct script){.greets = false});

	open_all(1);
	assert_true(!of(n)->greeted && of(n)->waited);
}

/** It has work, or no core, and answers late. */
static void one_that_is_busy_is_waited_for(void **state)
{
	struct script s = {.say = {GREETING, "{\"/a\":1}"}, .greets = true, .spins_before = 1};
	unsigned n = begin(s);
	json_t *answer;

	open_all(1);
	answer = telemetry_client_ask(of(n), "/a");
	assert_int_equal(json_integer_value(answer), 1);
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_value_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_are_put_together, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_without_an_end_is_left, setup, teardown),
		cmocka_unit_test(trees_are_counted),
		cmocka_unit_test_setup_teardown(
			who_tells_more_than_is_kept_is_left, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_list_takes_little_more_than_its_text, setup, teardown),
		cmocka_unit_test_setup_teardown(who_cannot_be_asked_is_counted, setup, teardown),
		cmocka_unit_test(all_places_of_the_user_are_looked_into),
		cmocka_unit_test_setup_teardown(an_error_is_plain_text, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_are_as_long_as_was_said, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_answer_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_page_that_is_cut_off_ends_a_list, setup, teardown),
		cmocka_unit_test_setup_teardown(who_greets_with_nonsense_is_left, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_ends_the_connection_is_asked_again, setup, teardown),
		cmocka_unit_test_setup_teardown(
			one_that_is_stopped_is_passed_over, setup, teardown),
		cmocka_unit_test_setup_teardown(the_caller_ends_a_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(
			those_that_are_stopped_are_told_of, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_sleeps_is_passed_over, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_is_busy_is_waited_for, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
