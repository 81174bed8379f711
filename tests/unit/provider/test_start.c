/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the preloaded library starts the provider, and what happens when it cannot. The tests look
 * from outside at programs that have it; these are the same file with an argument.
 */
#include "support/child.h"
#include "support/child_fork.h"
#include "unit/provider/stub/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the programs: each prints what it sees ----------------------------------------------------
 */

static int program_idle(void)
{
	char c;
	int fd = open("/dev/null", O_RDWR);

	printf("read %d ", (int)read(fd, &c, 1));
	close(fd);
	printf("loaded %d", is_mapped("libuiwarp.so"));
	return 0;
}

static int program_list(void)
{
	printf("loaded %d ", is_mapped("libuiwarp.so"));
	errno = ENOTTY;
	printf("ours %d ", count_devices("uiw0"));
	printf("errno %d ", errno == ENOTTY);
	printf("ours %d real %d", count_devices("uiw0"), count_devices("real0"));
	if (reach_provider() != NULL)
		printf(" starts %u", reach_provider()->starts);
	return 0;
}

/* A program that is started so does not name us. */
static int program_list_later(void)
{
	unsetenv("LD_PRELOAD");
	return program_list();
}

static int program_open(void)
{
	int fd = open(CM_PATH, O_RDWR | O_CLOEXEC);

	printf("open %d ", fd >= 0);
	printf("starts %u", reach_provider() != NULL ? reach_provider()->starts : 0);
	return 0;
}

static pthread_barrier_t together;

static void *count_ours(void *arg)
{
	pthread_barrier_wait(&together);
	return count_devices("uiw0") == 1 ? NULL : arg;
}

static int program_threads(void)
{
	pthread_t t[8];
	int without = 0;
	void *r;

	pthread_barrier_init(&together, NULL, 8);
	for (int i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, count_ours, &together) != 0)
			return 1;
	for (int i = 0; i < 8; i++) {
		pthread_join(t[i], &r);
		without += r != NULL;
	}
	printf("without %d starts %u", without, reach_provider()->starts);
	return 0;
}

static int program_reenter(void)
{
	struct stub_provider *p;

	printf("ours %d ", count_devices("uiw0"));
	p = reach_provider();
	printf("starts %u below: devices %d, open %d", p->starts, p->reentered_devices,
		p->reentered_fd >= 0 && access(CM_PATH, F_OK) != 0);
	return 0;
}

static struct {
	struct ibv_context context;
	struct ibv_pd pd;
	int cm;
} left;

/* After the stack's own handler of exit(). */
__attribute__((destructor)) static void clean_up(void)
{
	unsigned calls;

	if (left.context.device == NULL)
		return;
	calls = reach_provider()->stub.calls;
	errno = 0;
	printf("pd %d ", ibv_alloc_pd(&left.context) == NULL && errno == ENODEV);
	printf("ended %d ", ibv_dealloc_pd(&left.pd) == 0 && ibv_close_device(&left.context) == 0);
	errno = 0;
	printf("write %d ", write(left.cm, "x", 1) == -1 && errno == ENODEV);
	errno = 0;
	printf("open %d ", ibv_open_device(left.context.device) == NULL && errno == ENODEV);
	printf("close %d ", close(left.cm));
	printf("ours %d ", count_devices("uiw0"));
	printf("calls %u", reach_provider()->stub.calls - calls);
}

static void last_words(void)
{
	printf("handler %d ", ibv_dealloc_pd(&left.pd));
}

static int program_exit(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	left.cm = open(CM_PATH, O_RDWR | O_CLOEXEC);
	left.context.device = list[2];
	left.pd.context = &left.context;
	ibv_free_device_list(list);
	/* Registered later than the library's, so called before it: all is there still. */
	atexit(last_words);
	return 7;
}

static int program_fork(void)
{
	int before = count_devices("uiw0"), status;
	pid_t pid = child_fork();

	if (pid == 0)
		_exit(count_devices("uiw0") == 0 && count_devices("real0") == 1 ? 0 : 1);
	waitpid(pid, &status, 0);
	printf("before %d child %d after %d", before, status, count_devices("uiw0"));
	return 0;
}

/* A child that is the first to come to verbs starts a provider of its own. */
static int program_fork_first(void)
{
	pid_t pid = child_fork();
	int status;

	if (pid == 0)
		_exit(count_devices("uiw0") == 1 ? 0 : 1);
	waitpid(pid, &status, 0);
	printf("child %d parent %d", status, count_devices("uiw0"));
	return 0;
}

/* What needs more of our device than the configuration. */
static bool use(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context context = {.device = list[2]};

	ibv_free_device_list(list);
	return ibv_alloc_pd(&context) != NULL;
}

/* Listed is not used: each process has a provider that begins for itself. */
static int program_fork_listed(void)
{
	bool listed = count_devices("uiw0") == 1;
	int first, second;
	pid_t pid = child_fork();

	if (pid == 0)
		_exit(use() && count_devices("uiw0") == 1 ? 0 : 1);
	waitpid(pid, &first, 0);
	pid = child_fork();
	if (pid == 0)
		_exit(use() ? 0 : 1);
	waitpid(pid, &second, 0);
	printf("listed %d children %d %d parent %d", listed, first, second, use());
	return 0;
}

static int program_fork_used(void)
{
	bool used = use();
	int status;
	pid_t pid = child_fork();

	if (pid == 0)
		_exit(count_devices("uiw0") == 0 ? 0 : 1);
	waitpid(pid, &status, 0);
	printf("used %d child %d after %d", used, status, use());
	return 0;
}

/* Children have nothing to end; what vfork() makes even has the memory of its parent. */
static int program_end(void)
{
	bool ours = count_devices("uiw0") == 1;
	int child = 0, twin = 0;
	pid_t pid = child_fork();

	if (pid == 0)
		_exit(3);
	waitpid(pid, &child, 0);
	pid = vfork();
	if (pid == 0)
		_exit(4);
	waitpid(pid, &twin, 0);
	_exit(ours && WEXITSTATUS(child) == 3 && WEXITSTATUS(twin) == 4 ? 6 : 1);
}

/* What a child of vfork() closes, as Python's subprocess does, is not its parent's. */
static int program_vfork_closes(void)
{
	int fd = open(CM_PATH, O_RDWR | O_CLOEXEC), null = open("/dev/null", O_RDWR);
	unsigned calls = reach_provider()->stub.calls;
	pid_t pid = vfork();

	if (pid == 0) {
		dup2(null, fd);
		close(fd);
		close_range(3, ~0U, 0);
		closefrom(3);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("calls %u ", reach_provider()->stub.calls - calls);
	printf("write %d ", (int)write(fd, "x", 1));
	close(fd);
	printf("calls %u", reach_provider()->stub.calls - calls);
	return 0;
}

static int program_end_in_c(void)
{
	_Exit(count_devices("uiw0") == 1 ? 6 : 1);
}

static int program_end_idle(void)
{
	_exit(6);
}

static const struct program {
	const char *name;
	int (*run)(void);
} programs[] = {
	{"idle", program_idle},
	{"list", program_list},
	{"list-later", program_list_later},
	{"open", program_open},
	{"threads", program_threads},
	{"reenter", program_reenter},
	{"exit", program_exit},
	{"fork", program_fork},
	{"fork-first", program_fork_first},
	{"fork-listed", program_fork_listed},
	{"fork-used", program_fork_used},
	{"vfork-closes", program_vfork_closes},
	{"end", program_end},
	{"end-in-c", program_end_in_c},
	{"end-idle", program_end_idle},
};

/* ---- from outside ------------------------------------------------------------------------------
 */

static char preload[4096];
static struct child c;

#define CONFIGURED "UIWARP_SET=any=thing"

/** Run a program with our library from @p dir and one more variable or two. */
static void run_from(const char *dir, const char *program, const char *set, const char *more)
{
	const char *const argv[] = {"/proc/self/exe", program, NULL};
	const char *env[] = {preload, set, more, NULL};

	snprintf(preload, sizeof preload, "LD_PRELOAD=%s/libuiwarp-preload.so", dir);
	child_run(&c, argv, env);
}

static void run(const char *program, const char *set, const char *more)
{
	run_from(getenv("STUB_DIR"), program, set, more);
}

static void assert_says(int status, const char *out, const char *err)
{
	assert_int_equal(child_exit(&c), status);
	assert_string_equal(c.out, out);
	assert_string_equal(c.err, err);
}

static void without_a_configuration_nothing_starts(void **state)
{
	static const char told[] =
		"uiwarp: libuiwarp-preload.so is in LD_PRELOAD, but neither UIWARP_CONFIG nor "
		"UIWARP_SET is there: start the program with \"uiwarp run\"\n";

	run("list", "UIWARP_SET", NULL);
	assert_says(0, "loaded 0 ours 0 errno 1 ours 0 real 1", told);
	run("list", "UIWARP_SET=", "UIWARP_CONFIG=");
	assert_says(0, "loaded 0 ours 0 errno 1 ours 0 real 1", told);
	/* Not by name: as with /etc/ld.so.preload. The loader has done its work before main(). */
	run("list-later", "UIWARP_SET", NULL);
	assert_says(0, "loaded 0 ours 0 errno 1 ours 0 real 1", "");
	run("idle", "UIWARP_SET", NULL);
	assert_says(0, "read 0 loaded 0", "");
}

static void a_program_without_verbs_does_not_pay_for_them(void **state)
{
	run("idle", CONFIGURED, NULL);
	assert_says(0, "read 0 loaded 0", "");
}

static void the_first_verb_starts_it_once(void **state)
{
	run("list", CONFIGURED, NULL);
	assert_says(0, "loaded 0 ours 1 errno 1 ours 1 real 1 starts 1", "");
	run("list", "UIWARP_CONFIG=/a/file", NULL);
	assert_says(0, "loaded 0 ours 1 errno 1 ours 1 real 1 starts 1", "");
	run("open", CONFIGURED, NULL);
	assert_says(0, "open 1 starts 1", "");
}

static void of_many_threads_one_starts_it_and_all_see_it(void **state)
{
	run("threads", CONFIGURED, NULL);
	assert_says(0, "without 0 starts 1", "");
}

static void what_it_calls_itself_meanwhile_passes_through(void **state)
{
	run("reenter", CONFIGURED, "STUB_START=reenter");
	assert_says(0, "ours 1 starts 1 below: devices 2, open 0", "");
}

static void a_start_that_fails_is_said_once_and_the_program_goes_on(void **state)
{
	run("list", CONFIGURED, "STUB_START=fail");
	assert_says(
		0, "loaded 0 ours 0 errno 1 ours 0 real 1 starts 1", "uiwarp: the stub fails\n");
}

static void libraries_of_two_builds_are_told_apart(void **state)
{
	run("list", CONFIGURED, "STUB_START=mismatch");
	assert_says(0, "loaded 0 ours 0 errno 1 ours 0 real 1 starts 0",
		"uiwarp: libuiwarp.so and libuiwarp-preload.so do not belong together; install "
		"both from one build\n");
}

static void copy(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char buf[65536];
	size_t n;

	assert_true(in != NULL && out != NULL);
	while ((n = fread(buf, 1, sizeof buf, in)) > 0)
		assert_int_equal(fwrite(buf, 1, n, out), n);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

static void a_provider_that_is_missing_or_broken_is_one_sentence(void **state)
{
	char dir[] = "/tmp/uiwarp-start-XXXXXX";
	char ours[4096], theirs[64], provider[64], expected[256];
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(ours, sizeof ours, "%s/libuiwarp-preload.so", getenv("STUB_DIR"));
	snprintf(theirs, sizeof theirs, "%s/libuiwarp-preload.so", dir);
	snprintf(provider, sizeof provider, "%s/libuiwarp.so", dir);
	copy(ours, theirs);
	run_from(dir, "list", CONFIGURED, NULL);
	snprintf(expected, sizeof expected, "uiwarp: there is no libuiwarp.so beside %s\n", theirs);
	assert_says(0, "loaded 0 ours 0 errno 1 ours 0 real 1", expected);
	run_from(dir, "open", CONFIGURED, NULL);
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.err, "\n"), 1);

	f = fopen(provider, "w");
	assert_non_null(f);
	fputs("no library", f);
	fclose(f);
	run_from(dir, "list", CONFIGURED, NULL);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "loaded 0 ours 0 errno 1 ours 0 real 1");
	assert_int_equal(strncmp(c.err, "uiwarp: /tmp/", 13), 0);
	assert_int_equal(child_count(c.err, "\n"), 1);

	/* A library, but not that one. */
	copy(ours, provider);
	run_from(dir, "list", CONFIGURED, NULL);
	assert_int_equal(child_exit(&c), 0);
	assert_non_null(strstr(c.err, "do not belong together"));
	unlink(provider);
	unlink(theirs);
	rmdir(dir);
}

static void at_exit_our_objects_answer_enodev(void **state)
{
	run("exit", CONFIGURED, NULL);
	assert_says(7, "handler 23 pd 1 ended 1 write 1 open 1 close 0 ours 0 calls 0", "");
}

static void a_forked_child_has_no_device_of_ours(void **state)
{
	run("fork", CONFIGURED, NULL);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "before 1 child 0 after 1");
	/* It is told why, once. */
	assert_int_equal(child_count(c.err, "it was forked from process"), 1);
	assert_int_equal(child_count(c.err, "\n"), 1);
	run("fork-first", CONFIGURED, NULL);
	/* The child had something to end. */
	assert_says(0, "toldchild 0 parent 1", "");
}

static void a_child_of_vfork_closes_nothing_of_its_parent_s(void **state)
{
	run("vfork-closes", CONFIGURED, NULL);
	assert_says(0, "calls 0 write 1 calls 2", "");
}

static void a_child_begins_anew_what_its_parent_has_only_listed(void **state)
{
	run("fork-listed", CONFIGURED, "STUB_START=lazy");
	/* Two children and the parent used it; the parent comes to its end by exit(). */
	assert_says(0, "toldtoldlisted 1 children 0 0 parent 1", "");
	run("fork-used", CONFIGURED, "STUB_START=lazy");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "used 1 child 0 after 1");
	assert_int_equal(child_count(c.err, "it was forked from process"), 1);
	assert_int_equal(child_count(c.err, "\n"), 1);
}

static void an_end_without_exit_is_told_once(void **state)
{
	run("end", CONFIGURED, NULL);
	assert_says(6, "told", "");
	run("end-in-c", CONFIGURED, NULL);
	assert_says(6, "told", "");
	run("end-idle", CONFIGURED, NULL);
	assert_says(6, "", "");
	/* No peer has heard of a process that only listed devices. */
	run("end-in-c", CONFIGURED, "STUB_START=lazy");
	assert_says(6, "", "");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_configuration_nothing_starts),
		cmocka_unit_test(a_program_without_verbs_does_not_pay_for_them),
		cmocka_unit_test(the_first_verb_starts_it_once),
		cmocka_unit_test(of_many_threads_one_starts_it_and_all_see_it),
		cmocka_unit_test(what_it_calls_itself_meanwhile_passes_through),
		cmocka_unit_test(a_start_that_fails_is_said_once_and_the_program_goes_on),
		cmocka_unit_test(libraries_of_two_builds_are_told_apart),
		cmocka_unit_test(a_provider_that_is_missing_or_broken_is_one_sentence),
		cmocka_unit_test(at_exit_our_objects_answer_enodev),
		cmocka_unit_test(a_forked_child_has_no_device_of_ours),
		cmocka_unit_test(a_child_of_vfork_closes_nothing_of_its_parent_s),
		cmocka_unit_test(a_child_begins_anew_what_its_parent_has_only_listed),
		cmocka_unit_test(an_end_without_exit_is_told_once),
	};

	for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof programs[0]; i++)
		if (strcmp(argv[1], programs[i].name) == 0)
			return programs[i].run();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
