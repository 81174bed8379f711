/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp wan, from outside: its command line, and a run between ports that need nothing. */
#include "support/child.h"
#include "support/child_fork.h"
#include "support/limit.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct child c;

#define PORTS    "--a", "net_null0", "--b", "net_null1"
#define RUN(...) child_run(&c, (const char *const[]){UIWARP, "wan", __VA_ARGS__, NULL}, NULL)

static void assert_refused(const char *sentence)
{
	assert_int_equal(child_exit(&c), 2);
	assert_string_equal(c.out, "");
	assert_int_equal(strncmp(c.err, "uiwarp wan: ", 12), 0);
	if (strncmp(c.err + 12, sentence, strlen(sentence)) != 0)
		fail_msg("says: %s", c.err);
}

static void both_ports_must_be_there(void **state)
{
	RUN("--b", "net_null1");
	assert_refused("no --a; expected DPDK device arguments such as "
		       "net_af_packet0,iface=veth0\n");
	RUN("--a", "net_null0");
	assert_refused("no --b; expected DPDK device arguments such as "
		       "net_af_packet1,iface=veth1\n");
	RUN(PORTS, "--a", "net_null2");
	assert_refused("--a is given twice; expected it once\n");
	RUN("--a", "net_null0,size=64", "--b", "net_null0");
	assert_refused("--a and --b are both the device net_null0; expected two, with another "
		       "number behind the name of one\n");
}

static void each_wrong_value_has_a_sentence(void **state)
{
	static const struct {
		const char *option, *value, *sentence;
	} wrong[] = {
		{"--rate", "fast", "\"rate\" is \"fast\"; expected bits per second"},
		{"--delay", "50", "\"delay\" is \"50\"; expected a time"},
		{"--loss", "200%", "\"loss\" is \"200%\"; expected a share"},
		{"--queue", "7", "\"queue\" is \"7\"; expected bytes, packets or a time"},
		{"--seed", "-1", "\"seed\" is \"-1\"; expected a number from 0 to"},
		{"--seed", "18446744073709551616", "\"seed\" is \"18446744073709551616\""},
		{"--memory", "1048577",
			"\"memory\" is \"1048577\"; expected a number from 0 to 1048576"},
		{"--stats", "1ms", "\"stats\" is \"1ms\"; expected a time from 100ms to 3600s"},
		{"--a-to-b", "delay=x", "--a-to-b: \"delay\" is \"x\"; expected a time"},
		{"--b-to-a", "delay", "--b-to-a: \"delay\" is no key=value"},
		{"--b-to-a", "colour=red", "--b-to-a: there is no \"colour\" of a path"},
		{"--reorder", "1%", "\"reorder\" needs \"reorder-by\""},
	};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		RUN(PORTS, wrong[i].option, wrong[i].value);
		assert_refused(wrong[i].sentence);
	}
	RUN(PORTS, "--reorder", "0", "--reorder-by", "1ms");
	assert_refused("\"reorder-by\" needs \"reorder\" above 0");
	RUN(PORTS, "veth0");
	assert_refused("\"veth0\" is no option\n");
}

static void a_port_that_does_not_open_is_1(void **state)
{
	RUN("--a", "net_null0", "--b", "net_af_packet0,iface=nosuchif");
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.out, "");
	assert_int_equal(
		strncmp(c.err, "uiwarp wan: port \"net_af_packet0,iface=nosuchif\": ", 50), 0);
	assert_int_equal(child_count(c.err, "\n"), 1);
}

/* Run it until its first line is out. A list for one direction wins over what is said for both,
 * wherever it stands. Without --foreground, timeout sends the signal twice, and LeakSanitizer may
 * hang by the second. */
static void run_briefly(const char *option, int number)
{
	char script[512];

	snprintf(script, sizeof script,
		"exec 3< <(exec timeout --foreground 60 \"$0\" wan %s --a net_null0,no-rx=1 --b "
		"net_null1,no-rx=1 --memory 8 --a-to-b delay=5ms,mtu=1400 --rate 2g --loss 1%%:4 "
		"--delay 10ms --b-to-a queue=100p); job=$!; read -r -u 3 line; echo \"$line\"; "
		"kill -%d $job; cat <&3; wait $job",
		option, number);
	child_run(&c, (const char *const[]){"/bin/bash", "-c", script, UIWARP, NULL}, NULL);
	assert_int_equal(child_exit(&c), 0);
}

static void it_says_what_it_does_and_ends_in_order(void **state)
{
	run_briefly("", SIGTERM);
	assert_non_null(
		strstr(c.out, "carrying frames between net_null0,no-rx=1 and net_null1,no-rx=1\n"));
	assert_non_null(
		strstr(c.out, "\na to b: 2000 Mbit/s, 5 ms, queue 15 ms, loss 1 %, mtu 1400\n"));
	assert_non_null(
		strstr(c.out, "\nb to a: 2000 Mbit/s, 10 ms, queue 100 frames, loss 1 %\n"));
	assert_non_null(strstr(c.out, "\na to b: 0 frames, 0 bytes in; 0 frames, 0 bytes out\n"));
	assert_non_null(strstr(c.out, "sent late by 0.0 us at the median"));
	assert_string_equal(c.err, "");
}

static void in_json_too(void **state)
{
	run_briefly("--json", SIGINT);
	assert_int_equal(strncmp(c.out, "{\"ready\":true,\"a\":\"net_null0,no-rx=1\",", 38), 0);
	assert_non_null(strstr(c.out, "\"rate\":2000000000"));
	assert_non_null(strstr(c.out, "\"delay_ns\":5000000"));
	assert_non_null(strstr(c.out, "\n{\"seconds\":"));
	assert_non_null(strstr(c.out, "\"late_ns_p50\":0"));
	assert_int_equal(child_count(c.out, "\n"), 2);
	assert_string_equal(c.err, "");
}

/* What is said last, without an end of its line, is obeyed, or refused, as all that came before. */
static void the_last_line_of_control_may_lack_its_end(void **state)
{
	static const char script[] =
		"exec 3< <(exec timeout --foreground 60 \"$0\" wan --control --a net_null0,no-rx=1 "
		"--b net_null1,no-rx=1 --memory 8 < <(printf 'loss=1%%\\nloss=bad') 2>&1); job=$!; "
		"while read -r -u 3 line; do echo \"$line\"; [[ $line != *bad* ]] || kill $job; "
		"done; wait $job";

	child_run(&c, (const char *const[]){"/bin/bash", "-c", script, UIWARP, NULL}, NULL);
	assert_int_equal(child_exit(&c), 0);
	assert_non_null(strstr(c.out, "uiwarp wan: \"loss\" is \"bad\"; expected"));
}

/* As nohup(1) starts it: it is there for two more signals after SIGHUP. */
static void an_ignored_hangup_does_not_end_it(void **state)
{
	static const char script[] =
		"exec 3< <(exec timeout --foreground 60 /bin/bash -c 'trap \"\" HUP; echo $$; exec "
		"\"$0\" wan --a net_null0,no-rx=1 --b net_null1,no-rx=1 --memory 8' \"$0\"); "
		"job=$!; read -r -u 3 pid; read -r -u 3 line; kill -HUP $pid; for i in 1 2; do "
		"kill -USR1 $pid; while read -r -u 3 line; do "
		"[[ $line != after* ]] || { echo \"$line\"; break; }; done; done; "
		"kill $pid; cat <&3; wait $job";

	child_run(&c, (const char *const[]){"/bin/bash", "-c", script, UIWARP, NULL}, NULL);
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "after "), 3);
	assert_string_equal(c.err, "");
}

/** Its standard output takes nothing more. */
static pid_t start_unread(int unread[2])
{
	static const char byte = 0;
	pid_t pid;

	assert_int_equal(pipe2(unread, O_NONBLOCK | O_CLOEXEC), 0);
	while (write(unread[1], &byte, 1) == 1)
		;
	assert_int_equal(fcntl(unread[1], F_SETFL, 0), 0);
	pid = child_fork();
	if (pid == 0) {
		dup2(unread[1], STDOUT_FILENO);
		alarm(LIMIT_S);
		execl(UIWARP, UIWARP, "wan", "--a", "net_null0,no-rx=1", "--b", "net_null1,no-rx=1",
			"--memory", "8", (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

/** It would not end by itself now. */
static bool catches(pid_t pid, int number)
{
	char path[64], line[256];
	unsigned long long caught = 0;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	assert_non_null(status);
	while (fgets(line, sizeof line, status))
		(void)sscanf(line, "SigCgt: %llx", &caught);
	fclose(status);
	return caught >> (number - 1) & 1;
}

/* Who reads what it prints may never read again: who insists has it ended. */
static void a_later_signal_ends_it_at_once(void **state)
{
	const struct timespec t = {.tv_nsec = 100000000};
	sigset_t ended, before;
	int unread[2], status;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	skip(); /* it keeps signals back until a call of the C library begins */
#endif
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, &before);
	pid = start_unread(unread);
	while (!catches(pid, SIGTERM))
		sigtimedwait(&ended, NULL, &t);
	do {
		assert_int_equal(kill(pid, SIGTERM), 0);
		sigtimedwait(&ended, NULL, &t);
	} while (waitpid(pid, &status, WNOHANG) == 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(unread[0]);
	close(unread[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ports_must_be_there),
		cmocka_unit_test(each_wrong_value_has_a_sentence),
		cmocka_unit_test(a_port_that_does_not_open_is_1),
		cmocka_unit_test(it_says_what_it_does_and_ends_in_order),
		cmocka_unit_test(in_json_too),
		cmocka_unit_test(an_ignored_hangup_does_not_end_it),
		cmocka_unit_test(the_last_line_of_control_may_lack_its_end),
		cmocka_unit_test(a_later_signal_ends_it_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
