/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp run, from outside; the programs that it starts are this file with an argument. */
#include "support/child.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct child c;
static char self[PATH_MAX];

/* Nothing is started by it: the program calls no verb. */
#define SETS "--set", "port=net_null0", "--set", "address=10.99.0.1/24"
#define NO_ENV                                                    \
	(const char *const[])                                     \
	{                                                         \
		"UIWARP_SET", "UIWARP_CONFIG", "LD_PRELOAD", NULL \
	}
#define RUN(...) child_run(&c, (const char *const[]){UIWARP, "run", __VA_ARGS__, NULL}, NO_ENV)
#define RUN_ENV(env, ...)                                                      \
	child_run(&c, (const char *const[]){UIWARP, "run", __VA_ARGS__, NULL}, \
		(const char *const[]){"UIWARP_SET", "UIWARP_CONFIG", "LD_PRELOAD", env, NULL})

/* ---- the programs --------------------------------------------------------------------------- */

static void print_arguments(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		printf("[%s]", argv[i]);
}

static void print_variable(const char *name)
{
	const char *v = getenv(name);

	printf("%s=%s\n", name, v == NULL ? "(none)" : v);
}

/* What a program inherits: signal mask, dispositions, CPUs, descriptors, priority. */
static void print_state(void)
{
	cpu_set_t cpus;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int s = 1; s < SIGRTMIN; s++) {
		struct sigaction a;

		if (sigaction(s, NULL, &a) == 0)
			printf("%d%d", sigismember(&mask, s), a.sa_handler == SIG_IGN);
	}
	sched_getaffinity(0, sizeof cpus, &cpus);
	printf(" %d", CPU_COUNT(&cpus));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus))
			printf(",%d", i);
	printf(" %d", getpriority(PRIO_PROCESS, 0));
	for (int fd = 0; fd < 32; fd++)
		printf(" %d", fcntl(fd, F_GETFD));
	printf(" %d\n", (int)umask(0));
}

static int program(int argc, char **argv)
{
	if (strcmp(argv[1], "arguments") == 0)
		print_arguments(argc, argv);
	else if (strcmp(argv[1], "environment") == 0)
		for (int i = 2; i < argc; i++)
			print_variable(argv[i]);
	else if (strcmp(argv[1], "state") == 0)
		print_state();
	else if (strcmp(argv[1], "exit") == 0)
		return atoi(argv[2]);
	else if (strcmp(argv[1], "die") == 0)
		raise(atoi(argv[2]));
	return 0;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void assert_refused(int status, const char *err)
{
	assert_int_equal(child_exit(&c), status);
	assert_string_equal(c.out, "");
	assert_string_equal(c.err, err);
}

static void the_program_gets_its_arguments_as_they_are(void **state)
{
	RUN(SETS, self, "arguments", "a b", "", "--set", "--config", "-x", "--", "--help");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "[a b][][--set][--config][-x][--][--help]");
	assert_string_equal(c.err, "");
	RUN(SETS, "--", self, "arguments", "--", "z");
	assert_string_equal(c.out, "[--][z]");
	RUN(SETS, self, "arguments", "-h");
	assert_string_equal(c.out, "[-h]");
	RUN(SETS, "--", self, "arguments", "-h");
	assert_string_equal(c.out, "[-h]");
}

static void its_exit_status_is_the_program_s(void **state)
{
	static const char *const statuses[] = {"0", "1", "2", "77", "126", "255"};

	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
		RUN(SETS, "--", self, "exit", statuses[i]);
		assert_int_equal(child_exit(&c), atoi(statuses[i]));
		assert_string_equal(c.err, "");
	}
}

static void its_death_is_the_program_s(void **state)
{
	char number[16];

	for (int i = 0; i < 3; i++) {
		int s = ((const int[]){SIGTERM, SIGKILL, SIGUSR1})[i];

		snprintf(number, sizeof number, "%d", s);
		RUN(SETS, "--", self, "die", number);
		assert_true(WIFSIGNALED(c.status));
		assert_int_equal(WTERMSIG(c.status), s);
	}
}

static void the_preloaded_library_comes_before_others(void **state)
{
	RUN(SETS, self, "environment", "LD_PRELOAD");
	assert_string_equal(c.out, "LD_PRELOAD=" PRELOAD "\n");
	RUN_ENV("LD_PRELOAD=libm.so.6:libdl.so.2", SETS, self, "environment", "LD_PRELOAD");
	assert_string_equal(c.out, "LD_PRELOAD=" PRELOAD ":libm.so.6:libdl.so.2\n");
	RUN_ENV("LD_PRELOAD=", SETS, self, "environment", "LD_PRELOAD");
	assert_string_equal(c.out, "LD_PRELOAD=" PRELOAD "\n");
}

static void settings_go_behind_those_of_the_environment(void **state)
{
	RUN(SETS, self, "environment", "UIWARP_SET", "UIWARP_CONFIG");
	assert_string_equal(c.out, "UIWARP_SET=port=net_null0\naddress=10.99.0.1/24\n"
				   "UIWARP_CONFIG=(none)\n");
	/* The later wins. */
	RUN_ENV("UIWARP_SET=mtu=1400", SETS, self, "environment", "UIWARP_SET");
	assert_string_equal(c.out, "UIWARP_SET=mtu=1400\nport=net_null0\naddress=10.99.0.1/24\n");
	RUN_ENV("UIWARP_SET=port=net_null0\naddress=10.99.0.1/24", self, "environment",
		"UIWARP_SET");
	assert_string_equal(c.out, "UIWARP_SET=port=net_null0\naddress=10.99.0.1/24\n");
}

static void a_file_is_found_from_any_directory(void **state)
{
	char dir[] = "/tmp/uiwarp-run-XXXXXX", path[64], expected[128], was[PATH_MAX];
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/conf", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("port = net_null0\naddress = 10.99.0.1/24\n", f);
	fclose(f);
	assert_non_null(getcwd(was, sizeof was));
	assert_int_equal(chdir(dir), 0);
	RUN("--config", "conf", self, "environment", "UIWARP_CONFIG");
	assert_int_equal(chdir(was), 0);
	snprintf(expected, sizeof expected, "UIWARP_CONFIG=%s\n", path);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, expected);
	f = fopen(path, "w");
	fputs("port = net_null0\nprot = x\n", f);
	fclose(f);
	RUN("-c", path, self, "exit", "0");
	assert_int_equal(child_exit(&c), 2);
	/* The file and the line. */
	snprintf(expected, sizeof expected, "%s, line 2", path);
	assert_non_null(strstr(c.err, expected));
	assert_int_equal(strncmp(c.err, "uiwarp run: ", 12), 0);
	assert_int_equal(child_count(c.err, "\n"), 1);
	unlink(path);
	rmdir(dir);
}

static void a_wrong_configuration_is_2(void **state)
{
	RUN("--config", "/no/such/file", self, "exit", "0");
	assert_refused(2, "uiwarp run: /no/such/file: cannot read the configuration: No such "
			  "file or directory\n");
	/* As of a script whose variable is empty: not what the environment has, nor a part. */
	RUN_ENV("UIWARP_CONFIG=/dev/null", "--config", "", SETS, self, "exit", "0");
	assert_refused(2, "uiwarp run: --config is \"\": expected a file\n");
	RUN("--config", "", self, "exit", "0");
	assert_int_equal(child_exit(&c), 2);
	RUN_ENV("UIWARP_CONFIG=", SETS, self, "exit", "0");
	assert_int_equal(child_exit(&c), 0);
	RUN("--set", "color=blue", self, "exit", "0");
	assert_int_equal(child_exit(&c), 2);
	assert_int_equal(strncmp(c.err, "uiwarp run: ", 12), 0);
	assert_non_null(strstr(c.err, "color"));
	assert_int_equal(child_count(c.err, "\n"), 1);
	RUN(SETS, "--set", "mtu=many", self, "exit", "0");
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "--set: \"mtu\""));
	RUN_ENV("UIWARP_SET=mtu=many", SETS, self, "exit", "0");
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "UIWARP_SET: \"mtu\""));
}

/* The command line wins over the environment, which "uiwarp run" itself fills for its program. */
static void the_command_line_wins_over_the_environment(void **state)
{
	char path[] = "/tmp/uiw-cmd-run.XXXXXX", expected[256], was[PATH_MAX];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_true(dprintf(fd, "port = net_null0\naddress = 10.99.0.1/24\nmtu = 1400\n") > 0);
	close(fd);
	RUN_ENV("UIWARP_SET=mtu=9000\naddress=10.99.0.9/24", "--config", path, self, "environment",
		"UIWARP_SET", "UIWARP_CONFIG");
	snprintf(expected, sizeof expected, "UIWARP_SET=(none)\nUIWARP_CONFIG=%s\n", path);
	assert_string_equal(c.out, expected);
	RUN_ENV("UIWARP_SET=mtu=9000", "--config", path, "--set", "mtu=1300", self, "environment",
		"UIWARP_SET");
	assert_string_equal(c.out, "UIWARP_SET=mtu=1300\n");
	/* A list is not added to that of the environment, and the rest of that stays. */
	RUN_ENV("UIWARP_SET=port=net_null0\n address = 10.99.0.9/24\nmtu=1400", "--set",
		"address=10.99.0.1/24", "--set", "address=10.99.0.2/24", self, "environment",
		"UIWARP_SET");
	assert_string_equal(c.out, "UIWARP_SET=port=net_null0\nmtu=1400\naddress=10.99.0.1/24\n"
				   "address=10.99.0.2/24\n");
	/* Wherever the program goes from here. */
	assert_non_null(getcwd(was, sizeof was));
	assert_int_equal(chdir("/tmp"), 0);
	snprintf(expected, sizeof expected, "UIWARP_CONFIG=%s", path + strlen("/tmp/"));
	RUN_ENV(expected, self, "environment", "UIWARP_CONFIG");
	snprintf(expected, sizeof expected, "UIWARP_CONFIG=%s\n", path);
	assert_string_equal(c.out, expected);
	assert_int_equal(chdir(was), 0);
	unlink(path);
}

static void without_a_configuration_it_is_the_hosts_tcp(void **state)
{
	RUN(self, "environment", "UIWARP_SET");
	assert_string_equal(c.out, "UIWARP_SET=port=kernel\n");
	RUN(SETS, self, "environment", "UIWARP_SET");
	assert_null(strstr(c.out, "kernel"));
	/* RFC 5737: no host has it. */
	RUN("--set", "address=192.0.2.254/32", self, "exit", "0");
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "which no interface of this host has"));
}

static void a_wrong_command_line_is_2(void **state)
{
	RUN(SETS);
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "expected a program to start"));
	assert_string_equal(c.out, "");
	RUN("--no-such-option", self);
	assert_int_equal(child_exit(&c), 2);
	RUN("--config", "a", "--config", "b", self);
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "--config is given twice"));
	RUN("--set", "mtu=1500\nport=x", self);
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "line end"));
	RUN("--set");
	assert_int_equal(child_exit(&c), 2);
}

static void a_program_that_cannot_be_started_is_127_or_126(void **state)
{
	char path[] = "/tmp/uiwarp-run-XXXXXX", expected[128];
	int fd = mkstemp(path);

	RUN(SETS, "--", "/no/such/program");
	assert_refused(127, "uiwarp run: /no/such/program: No such file or directory\n");
	RUN(SETS, "--", "no-such-program-anywhere");
	assert_refused(127, "uiwarp run: no-such-program-anywhere: No such file or directory\n");
	close(fd);
	chmod(path, 0600);
	RUN(SETS, "--", path);
	snprintf(expected, sizeof expected, "uiwarp run: %s: Permission denied\n", path);
	assert_refused(126, expected);
	unlink(path);
	RUN(SETS, "--", "/tmp");
	assert_refused(126, "uiwarp run: /tmp: Permission denied\n");
}

/* As far as uiwarp run looks at it: an ELF header and one program header. */
static void write_program(
	const char *path, unsigned char class, unsigned char machine, unsigned char header)
{
	unsigned char elf[64 + 56] = {0x7f, 'E', 'L', 'F', class, 1, 1,
		/* e_type EXEC, e_machine, e_version */
		[16] = 2, [18] = machine, [20] = 1,
		/* e_phoff, e_ehsize, e_phentsize, e_phnum */
		[32] = 64, [52] = 64, [54] = 56, [56] = 1,
		/* p_type */
		[64] = header};
	int fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, elf, sizeof elf), sizeof elf);
	close(fd);
}

/* The program reads it again, and would find nothing there: what it says goes along. */
static void a_configuration_may_come_in_a_pipe(void **state)
{
	static const char script[] = "exec \"$0\" run --config <(printf \"$2\") --set mtu=1300 -- "
				     "\"$1\" environment UIWARP_SET UIWARP_CONFIG";
	const char *const env[] = {"UIWARP_SET=mtu=9000", "UIWARP_CONFIG", "LD_PRELOAD", NULL};

	child_run(&c,
		(const char *const[]){"/bin/bash", "-c", script, UIWARP, self,
			"port = net_null0 # none\\nmtu=1400\\naddress=10.99.0.1/24\\n"
			"address=10.99.0.2/24\\n",
			NULL},
		env);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "UIWARP_SET=port=net_null0\naddress=10.99.0.1/24\n"
				   "address=10.99.0.2/24\nmtu=1300\nUIWARP_CONFIG=/dev/null\n");
	child_run(&c,
		(const char *const[]){"/bin/bash", "-c", script, UIWARP, self, "\\nmtu\\n", NULL},
		env);
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, ", line 2: expected key = value\n"));
	assert_int_equal(child_count(c.err, "\n"), 1);
	/* Wrong with the last number alone: who has set no variable is told of none. */
	child_run(&c,
		(const char *const[]){"/bin/bash", "-c", script, UIWARP, self,
			"port=net_null0\nslots=1-300\naddress=10.99.0.%%{slot}/24\n", NULL},
		env);
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "--config: \"address\" is \"10.99.0.300/24\""));
}

/* Also the program tells of what is wrong as of the one who gave it. */
static void the_program_knows_who_gave_what(void **state)
{
	static const char script[] =
		"exec \"$0\" run --config <(echo mtu=1300) --set port=net_null0 "
		"--set address=10.99.0.1/24 -- \"$1\" environment UIWARP_SET_BY";

	RUN(SETS, "--", self, "environment", "UIWARP_SET_BY");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "UIWARP_SET_BY=35 35 UIWARP_SET\n");
	RUN_ENV("UIWARP_SET=mtu=1300", SETS, "--", self, "environment", "UIWARP_SET_BY");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "UIWARP_SET_BY=44 35 UIWARP_SET\n");
	child_run(&c, (const char *const[]){"/bin/bash", "-c", script, UIWARP, self, NULL}, NO_ENV);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "UIWARP_SET_BY=44 35 --config\n");
}

/* What the preloaded library cannot come into is not started: one sentence says why. */
static void a_program_out_of_reach_is_126(void **state)
{
	static const struct {
		unsigned char class, machine, header;
		mode_t mode;
		const char *why;
	} t[] = {
		{2, 62, 4, 0755, "is statically linked, and a preloaded library does not reach it"},
		{1, 3, 3, 0755, "is a 32-bit program, and the device's library has 64 bits"},
		{2, 183, 3, 0755, "is a program for another processor than the device's library"},
		{2, 62, 3, 04755,
			"is setuid or setgid, and the dynamic linker preloads nothing into it; a "
			"copy that is not can have ambient capabilities (setpriv)"},
	};
	char dir[] = "/tmp/uiwarp-run-XXXXXX", path[64], env[64], expected[256];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/program", dir);
	snprintf(env, sizeof env, "PATH=/no/such:%s", dir);
	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		write_program(path, t[i].class, t[i].machine, t[i].header);
		/* Somebody else's, which only root can make. */
		if (t[i].mode != 0755 &&
			(chown(path, 12345, 12345) != 0 || chmod(path, t[i].mode) != 0)) {
			unlink(path);
			continue;
		}
		snprintf(expected, sizeof expected, "uiwarp run: %s: %s\n", path, t[i].why);
		RUN(SETS, "--", path);
		assert_refused(126, expected);
		RUN_ENV(env, SETS, "--", "program");
		assert_refused(126, expected);
		unlink(path);
	}
	rmdir(dir);
	/* A script is none of these; its interpreter may be. */
	RUN(SETS, "--", self, "exit", "0");
	assert_string_equal(c.err, "");
}

static void the_program_inherits_what_uiwarp_had(void **state)
{
	static char plain[sizeof c.out];
	sigset_t block, was;
	cpu_set_t before, one;

	/* Something of each that is not as usual. */
	sigemptyset(&block);
	sigaddset(&block, SIGUSR2);
	sigprocmask(SIG_BLOCK, &block, &was);
	signal(SIGUSR1, SIG_IGN);
	sched_getaffinity(0, sizeof before, &before);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &before))
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof one, &one);
	child_run(&c, (const char *const[]){self, "state", NULL}, NO_ENV);
	memcpy(plain, c.out, sizeof plain);
	RUN(SETS, "--", self, "state");
	sched_setaffinity(0, sizeof before, &before);
	signal(SIGUSR1, SIG_DFL);
	sigprocmask(SIG_SETMASK, &was, NULL);
	assert_int_equal(child_exit(&c), 0);
	assert_true(strlen(plain) > 100);
	assert_string_equal(c.out, plain);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_gets_its_arguments_as_they_are),
		cmocka_unit_test(its_exit_status_is_the_program_s),
		cmocka_unit_test(its_death_is_the_program_s),
		cmocka_unit_test(the_preloaded_library_comes_before_others),
		cmocka_unit_test(settings_go_behind_those_of_the_environment),
		cmocka_unit_test(a_file_is_found_from_any_directory),
		cmocka_unit_test(a_wrong_configuration_is_2),
		cmocka_unit_test(without_a_configuration_it_is_the_hosts_tcp),
		cmocka_unit_test(the_command_line_wins_over_the_environment),
		cmocka_unit_test(a_wrong_command_line_is_2),
		cmocka_unit_test(a_program_that_cannot_be_started_is_127_or_126),
		cmocka_unit_test(a_configuration_may_come_in_a_pipe),
		cmocka_unit_test(the_program_knows_who_gave_what),
		cmocka_unit_test(a_program_out_of_reach_is_126),
		cmocka_unit_test(the_program_inherits_what_uiwarp_had),
	};

	if (argc > 1)
		return program(argc, argv);
	if (realpath("/proc/self/exe", self) == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
