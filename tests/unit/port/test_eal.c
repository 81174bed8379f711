/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/eal.h"
#include "support/child_fork.h"

#include <errno.h>
#include <pthread.h>
#include <rte_eal.h>
#include <rte_eal_memconfig.h>
#include <rte_lcore.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char device[] = "net_null0";

/** Of a child: what it tests cannot be had. */
#define NOT_HERE 255

/** What has come out on stdout since it was redirected to this file. */
static FILE *out;
static int stdout_was;

static void stdout_redirect(void)
{
	fflush(stdout);
	out = tmpfile();
	assert_non_null(out);
	stdout_was = dup(1);
	dup2(fileno(out), 1);
}

static long stdout_restore(void)
{
	struct stat st;

	fflush(stdout);
	fstat(fileno(out), &st);
	dup2(stdout_was, 1);
	close(stdout_was);
	fclose(out);
	return st.st_size;
}

/**
 * Start in a process of its own: the EAL does not forget all of what was wrong.
 * @return 0 if it is refused with one line that says @p says.
 */
static int in_child(const struct port_config *cfg, const char *says)
{
	struct port_error e = {""};
	pid_t child = child_fork();
	int status = -1, r;

	if (child == 0) {
		r = eal_start(cfg, &e);
		fflush(stdout);
		_exit(r != -EINVAL ? 1 : !strstr(e.text, says) ? 2 : !!strchr(e.text, '\n'));
	}
	if (waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

static void wrong_arguments_give_a_sentence_and_print_nothing(void **state)
{
	const char *const wrong[] = {"--no-such-option", "--lcores=bad", "--iova-mode=xx", "'open",
		"--help", "-h", "--no-telemetry --file-prefix", "--proc-type=secondary",
		"--proc-type secondary", "--no-telemetry --p=auto"};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct port_config cfg = {.device = device, .eal = wrong[i]};

		stdout_redirect();
		assert_int_equal(in_child(&cfg, "eal arguments"), 0);
		assert_int_equal(stdout_restore(), 0);
	}
	assert_null(eal_clock_sample());
}

static void a_device_that_is_none_of_dpdks_is_named(void **state)
{
	struct port_config cfg = {.device = "mlx5_0"};

	assert_int_equal(in_child(&cfg, "port \"mlx5_0\": that is no device of DPDK's"), 0);
}

static void a_refused_start_tells_dpdks_reason(void **state)
{
	struct port_config cfg = {.device = device, .eal = "-d /no/such/driver.so"};

	assert_int_equal(in_child(&cfg, "/no/such/driver.so"), 0);
}

/** @return 0 if that names @p says, though the EAL cannot make its directory. */
static int start_without_directory(const struct port_config *cfg, const char *says)
{
	struct port_error e = {""};

	if (geteuid() == 0 && setuid(54321) != 0)
		return NOT_HERE; /* a user namespace, without that user */
	if (setenv("XDG_RUNTIME_DIR", "/no/such/directory", 1) != 0 || eal_start(cfg, &e) == 0)
		return 1;
	return strstr(e.text, says) ? 0 : 2;
}

/* Another user's /tmp/dpdk, or one that cannot be made, hinders nothing. */
static void a_directory_that_is_not_needed_is_no_reason(void **state)
{
	struct port_config cfg = {.device = device, .eal = "-m 99999999"};
	pid_t child = child_fork();
	int status = -1;

	if (child == 0)
		_exit(start_without_directory(&cfg, "memseg list"));
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_HERE)
		skip();
	assert_int_equal(status, 0);
}

/** @return 0 if that names @p says, though no file may be as large as its memory. */
static int start_without_file(
	const struct port_config *cfg, const char *directory, const char *says)
{
	const struct rlimit small = {.rlim_cur = 4096, .rlim_max = 4096};
	struct port_error e = {""};

	if (setenv("RUNTIME_DIRECTORY", directory, 1) != 0 ||
		setrlimit(RLIMIT_FSIZE, &small) != 0 || eal_start(cfg, &e) == 0)
		return 1;
	return strstr(e.text, says) ? 0 : 2;
}

/* Under "ulimit -f" the EAL does without a file. Telemetry's socket has no room for the prefix. */
static void a_file_that_is_not_needed_is_no_reason(void **state)
{
	char directory[] = "/tmp/uiwarp_eal_XXXXXX", command[64], eal[160];
	struct port_config cfg = {.device = device, .memory_mib = 8, .eal = eal};
	int status = -1;
	pid_t child;

	assert_non_null(mkdtemp(directory));
	snprintf(command, sizeof command, "rm -r %s", directory);
	snprintf(eal, sizeof eal, "--telemetry --file-prefix=uiwarp_test_%080d", (int)getpid());
	child = child_fork();
	if (child == 0)
		_exit(start_without_file(&cfg, directory, "path too long"));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(system(command), 0);
	assert_int_equal(status, 0);
}

/* DPDK refuses a memif without copies otherwise: its buffers must be in one file. */
static void zero_copy_has_its_memory_in_one_file(void **state)
{
	struct port_config cfg = {.device = "net_memif0,zero-copy=yes", .memory_mib = 8};
	struct port_error e = {""};
	pid_t child = child_fork();
	int status = -1;

	if (child == 0)
		_exit(eal_start(&cfg, &e) ? 1 : rte_mcfg_get_single_file_segments() ? 0 : 2);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void start_leaves_the_caller_as_it_was(void **state)
{
	struct port_config cfg = {.device = device, .memory_mib = 8, .eal = "--iova-mode=va"};
	struct port_error e = {""};
	cpu_set_t before, after;
	sigset_t mask, mask_after;
	char dir[4096];

	sched_getaffinity(0, sizeof before, &before);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	stdout_redirect();
	assert_int_equal(eal_start(&cfg, &e), 0);
	printf("x");
	assert_int_equal(stdout_restore(), 1);
	sched_getaffinity(0, sizeof after, &after);
	assert_true(CPU_EQUAL(&before, &after));
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		assert_int_equal(sigismember(&mask_after, sig), sig == SIGUSR2);
	assert_int_equal(rte_lcore_id(), LCORE_ID_ANY);
	assert_non_null(eal_clock_sample());
	snprintf(dir, sizeof dir, "%s", rte_eal_get_runtime_dir());
	assert_int_equal(access(dir, F_OK), -1);
}

static void a_second_start_is_the_first(void **state)
{
	struct port_config cfg = {.device = device, .eal = "--no-such-option"};
	struct port_error e = {""};

	assert_int_equal(eal_start(&cfg, &e), 0);
}

static char said[512];

static void keep_line(void *ctx, enum log_level level, const char *text)
{
	snprintf(said, sizeof said, "%d %s", (int)level, text);
}

static void log_lines_go_to_the_sink_in_force(void **state)
{
	const struct log_sink sink = {.line = keep_line, .max_level = LOG_LEVEL_DEBUG};
	char reason[64];

	eal_log_to(&sink);
	rte_log(RTE_LOG_WARNING, RTE_LOGTYPE_USER1, "half a line");
	assert_string_equal(said, "");
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, ", and its end\n");
	assert_string_equal(said, "3 DPDK: half a line, and its end");
	eal_log_watch();
	rte_log(RTE_LOG_WARNING, RTE_LOGTYPE_USER1, "no error\n");
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "the first\n");
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "the second\n");
	assert_true(eal_log_reason(reason, sizeof reason));
	assert_string_equal(reason, "the first");
	assert_false(eal_log_reason(reason, sizeof reason));
	said[0] = 0;
	eal_log_release(&sink);
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "to nobody\n");
	assert_string_equal(said, "");
}

static void software_devices_are_known(void **state)
{
	assert_true(eal_is_software("net_memif0,role=client"));
	assert_true(eal_is_software("virtio_user0,path=/x"));
	assert_false(eal_is_software("0000:03:00.0"));
	assert_false(eal_is_software("03:00.0,txq_inline=1"));
}

static sem_t inside, go_on;
static unsigned turns;

static void take_a_long_turn(void *arg)
{
	sem_post(&inside);
	while (sem_wait(&go_on))
		;
}

static void *wait_for_a_long_turn(void *arg)
{
	eal_call_in_turn(take_a_long_turn, NULL);
	return NULL;
}

static void count_a_turn(void *arg)
{
	*(unsigned *)arg += 1;
}

/** A handler that waits for another process does not hold up who only tries. */
static void a_turn_that_does_not_come_is_given_up(void **state)
{
	pthread_t thread;

	assert_true(eal_try_in_turn(count_a_turn, &turns));
	assert_int_equal(turns, 1);
	assert_int_equal(sem_init(&inside, 0, 0), 0);
	assert_int_equal(sem_init(&go_on, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_a_long_turn, NULL), 0);
	assert_int_equal(sem_wait(&inside), 0);
	assert_false(eal_try_in_turn(count_a_turn, &turns));
	sem_post(&go_on);
	pthread_join(thread, NULL);
	/* It is never made up for. */
	eal_call_in_turn(count_a_turn, &turns);
	assert_int_equal(turns, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_arguments_give_a_sentence_and_print_nothing),
		cmocka_unit_test(a_device_that_is_none_of_dpdks_is_named),
		cmocka_unit_test(a_refused_start_tells_dpdks_reason),
		cmocka_unit_test(a_directory_that_is_not_needed_is_no_reason),
		cmocka_unit_test(a_file_that_is_not_needed_is_no_reason),
		cmocka_unit_test(zero_copy_has_its_memory_in_one_file),
		cmocka_unit_test(start_leaves_the_caller_as_it_was),
		cmocka_unit_test(a_second_start_is_the_first),
		cmocka_unit_test(a_turn_that_does_not_come_is_given_up),
		cmocka_unit_test(log_lines_go_to_the_sink_in_force),
		cmocka_unit_test(software_devices_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
