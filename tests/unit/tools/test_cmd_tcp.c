/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp tcp, from outside: its command line, and both ends of a stream over memif. */
#include "support/child.h"
#include "support/child_fork.h"
#include "support/limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct child c;
static char directory[64];

#define NO_ENV                                                    \
	(const char *const[])                                     \
	{                                                         \
		"UIWARP_SET", "UIWARP_CONFIG", "LD_PRELOAD", NULL \
	}
#define RUN(...) child_run(&c, (const char *const[]){UIWARP, "tcp", __VA_ARGS__, NULL}, NO_ENV)
/* A port without a cable; and for a shell. Memory is dear under ThreadSanitizer. */
#define SETS       "--set", "port=net_null0", "--set", "address=10.99.0.1/24", "--set", "memory=8"
#define SHELL_SETS "--set port=net_null0 --set address=10.99.0.1/24 --set memory=8 "

static void assert_refused(const char *sentence)
{
	assert_int_equal(child_exit(&c), 2);
	assert_string_equal(c.out, "");
	assert_non_null(strstr(c.err, sentence));
}

/* ---- the command line ----------------------------------------------------------------------- */

static void without_a_role_it_says_how_to_use_it(void **state)
{
	child_run(&c, (const char *const[]){UIWARP, "tcp", NULL}, NO_ENV);
	assert_refused("Usage: uiwarp tcp source|sink|echo|pingpong");
	RUN("drain");
	assert_refused("\"drain\"; expected source, sink, echo or pingpong");
}

static void help_lists_the_options(void **state)
{
	RUN("--help");
	assert_int_equal(child_exit(&c), 0);
	assert_non_null(strstr(c.out, "pingpong  send messages"));
	RUN("sink", "--help");
	assert_int_equal(child_exit(&c), 0);
	assert_non_null(strstr(c.out, "--listen"));
	assert_non_null(strstr(c.out, "--config"));
	assert_non_null(strstr(c.out, "Exit status"));
}

static void wrong_values_are_named(void **state)
{
	static const struct {
		const char *role, *option, *sentence;
	} wrong[] = {
		{"source", "--time=soon", "--time is \"soon\"; expected seconds"},
		{"source", "--bytes=0", "--bytes is \"0\"; expected a number from 1"},
		{"source", "--rate=fast", "--rate is \"fast\"; expected bits per second"},
		{"source", "--listen=x:1", "--listen is \"x:1\"; expected [ADDRESS:]PORT"},
		{"source", "--listen=65536", "--listen is \"65536\"; expected [ADDRESS:]PORT"},
		{"source", "--listen=fd00::1:80", "expected [ADDRESS:]PORT"},
		{"source", "--listen=[10.0.0.1]:80", "expected [ADDRESS:]PORT"},
		{"source", "--verify", "--verify is of no use to a source"},
		{"sink", "--bytes=1", "--bytes is of no use to a sink"},
		{"sink", "--message=1", "--message is of no use to a sink"},
		{"pingpong", "--message=2G", "--message is \"2G\"; expected"},
		{"pingpong", "--stall=1", "--stall is of no use to a pingpong"},
		{"echo", "--parallel=10001", "--parallel is \"10001\"; expected"},
		{"echo", "--interval=-1", "--interval is \"-1\"; expected seconds"},
	};

	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		RUN(wrong[i].role, wrong[i].option, SETS, "10.99.0.2");
		assert_refused(wrong[i].sentence);
	}
}

static void there_is_one_peer_or_a_listener(void **state)
{
	RUN("source", SETS);
	assert_refused("expected a host to connect to, or --listen");
	RUN("source", SETS, "--listen", "5001", "10.99.0.2");
	assert_refused("not both");
	RUN("source", SETS, "10.99.0.2", "0");
	assert_refused("the port is \"0\"; expected a number from 1 to 65535");
	RUN("source", SETS, "10.99.0.2", "80", "81");
	assert_refused("expected at most a host and a port");
}

static void the_configuration_is_checked(void **state)
{
	RUN("source", "10.99.0.2");
	assert_refused("uiwarp tcp: no configuration: expected --config FILE or --set KEY=VALUE");
	RUN("source", SETS, "--set", "mtu=big", "10.99.0.2");
	assert_refused("uiwarp tcp: --set: \"mtu\" is \"big\"");
	RUN("source", SETS, "--cc", "hope", "10.99.0.2");
	assert_refused("uiwarp tcp: --cc: \"congestion_control\" is \"hope\"");
}

/* ---- what cannot be reached ----------------------------------------------------------------- */

static void assert_failed(const char *sentence)
{
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, sentence));
}

static void a_host_without_an_address_or_a_route_is_named(void **state)
{
	RUN("source", SETS, "no such host");
	assert_failed("uiwarp tcp: \"no such host\" is no host: ");
	RUN("source", SETS, "192.0.2.1");
	assert_failed("uiwarp tcp: there is no route to 192.0.2.1;");
	RUN("sink", SETS, "--listen", "10.99.0.2:80");
	assert_failed("uiwarp tcp: 10.99.0.2 is no address of this stack");
}

static void our_own_closed_port_refuses(void **state)
{
	RUN("source", SETS, "10.99.0.1", "81");
	assert_failed("uiwarp tcp: 10.99.0.1 port 81 refused the connection");
}

/* As a filter whose reader has seen enough: nobody is served that nobody is told of. */
static void a_listener_ends_with_who_reads_of_it(void **state)
{
	static const char script[] =
		"timeout 60 \"$0\" tcp sink \"${@}\" --listen 5001 | head -n 1; "
		"echo \"status ${PIPESTATUS[0]}\"";

	child_run(&c, (const char *const[]){"/bin/bash", "-c", script, UIWARP, SETS, NULL}, NO_ENV);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, "listening on :: port 5001\nstatus 0\n");
}

/* Such a reader may be the other end of a socket. */
static void a_listener_ends_with_the_other_end_of_a_socket(void **state)
{
	char line[64], *end = line;
	int s[2], status;
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0);
	child = child_fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(s[1], STDOUT_FILENO);
		unsetenv("UIWARP_SET");
		unsetenv("UIWARP_CONFIG");
		alarm(LIMIT_S);
		execl(UIWARP, UIWARP, "tcp", "sink", SETS, "--listen", "5001", (char *)NULL);
		_exit(127);
	}
	close(s[1]);
	do
		assert_int_equal(read(s[0], end, 1), 1);
	while (*end != '\n' && ++end < line + sizeof line);
	close(s[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Until a line that @p sign is in, then that signal; what came after the line. @return the status.
 */
static int signalled(const char *command, const char *sign, const char *name)
{
	static const char script[] =
		"exec 3< <(eval \"exec $1\" 2>&1); job=$!; while read -r -u 3 line; do "
		"[[ $line != *$2* ]] || break; done; kill -$3 $job; cat <&3; wait $job; s=$?; "
		"ls /run/uiwarp /tmp/uiwarp-$EUID \"$XDG_RUNTIME_DIR/uiwarp\" 2>/dev/null | "
		"grep \"^telemetry.$job$\"; exit $s";

	child_run(&c,
		(const char *const[]){"/bin/bash", "-c", script, UIWARP, command, sign, name, NULL},
		NO_ENV);
	return child_exit(&c);
}

/* And nobody finds what is left of it. */
static void a_signal_ends_a_listener_in_order(void **state)
{
	static const char *const names[] = {"HUP", "INT", "TERM"};

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(signalled("$0 tcp sink " SHELL_SETS "--listen 5001",
					 "listening on", names[i]),
			0);
		assert_string_equal(c.out, "");
	}
}

/* A minute is a long time for who waits. */
static void a_signal_ends_what_is_starting(void **state)
{
	static const char *const names[] = {"HUP", "INT", "TERM"};
	static const int status[] = {129, 130, 143};

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(signalled("$0 tcp sink " SHELL_SETS
					   "--set settle=60 --set log=info --listen 5001",
					 "port net_null0: link", names[i]),
			status[i]);
		assert_null(strstr(c.out, "listening"));
		assert_null(strstr(c.out, "telemetry"));
	}
}

static void a_signal_ends_a_doctor(void **state)
{
	assert_int_equal(
		signalled("stdbuf -oL $0 doctor " SHELL_SETS "10.99.0.2", "its link is up", "TERM"),
		143);
	assert_null(strstr(c.out, "ARP"));
	assert_null(strstr(c.out, "telemetry"));
}

/* Each cause of it has its own cure, and its own status. */
static void a_doctor_knows_why_nothing_begins(void **state)
{
	child_run(&c,
		(const char *const[]){UIWARP, "doctor", "--set", "address=192.0.2.77/24", NULL},
		NO_ENV);
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.out, "which no interface of this host has"));
	assert_non_null(strstr(c.out, "\"ip address\""));
	assert_null(strstr(c.out, "end one of them"));
}

/* ---- both ends ------------------------------------------------------------------------------ */

/*
 * Run a listener and, when it listens, a client; c.out and c.err have what both said, and the
 * exit status is the listener's times ten plus the client's.
 */
static void pair(const char *listener, const char *client)
{
	static const char script[] =
		"cd %s\n"
		"rm -f m out\n"
		"memif() { echo --set memory=8 --set "
		"port=net_memif0,role=$1,socket=%s/m,socket-abstract=no; }\n"
		"%s tcp %s --once --listen 5001 $(memif server) --set address=10.98.0.1/24 >out &\n"
		"until grep -q listening out; do kill -0 $! || exit 99; sleep 0.02; done\n"
		"%s tcp %s $(memif client) --set address=10.98.0.2/24 10.98.0.1\n"
		"client=$?\n"
		"wait $!\n"
		"server=$?\n"
		"cat out\n"
		"exit $((server * 10 + client))\n";
	char text[2048];

	snprintf(text, sizeof text, script, directory, directory, UIWARP, listener, UIWARP, client);
	child_run(&c, (const char *const[]){"/bin/sh", "-c", text, NULL}, NO_ENV);
}

static void a_source_and_a_sink_agree(void **state)
{
	pair("sink --verify --json -i 0", "source --bytes 20M --json -i 0");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "\"event\":\"listening\""), 1);
	assert_int_equal(child_count(c.out, "\"event\":\"connected\""), 2);
	assert_int_equal(child_count(c.out, "\"event\":\"end\""), 2);
	assert_int_equal(child_count(c.out, "\"event\":\"total\""), 2);
	assert_int_equal(child_count(c.out, "\"failed\":0,\"bytes\":20971520,"), 2);
	assert_int_equal(child_count(c.out, "\"error\":null"), 2);
}

static void a_listener_may_send(void **state)
{
	pair("source --bytes 3M -J -i 0 -P 3", "sink -V -P 3 -J -i 0");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "\"event\":\"end\""), 6);
	assert_int_equal(child_count(c.out, "\"streams\":3,\"failed\":0,\"bytes\":9437184,"), 2);
}

static void wrong_bytes_fail(void **state)
{
	pair("sink --verify --seed 2", "source --bytes 1000");
	assert_int_equal(child_exit(&c), 10);
	assert_non_null(strstr(c.err, " sent a wrong byte, number 0 of the stream\n"));
}

static void a_pingpong_tells_its_latency(void **state)
{
	pair("echo -i 0", "pingpong --count 1000 --message 3000 --verify -i 0");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "] in all: 3.00 MB in "), 2);
	assert_int_equal(child_count(c.out, "latency     least "), 1);
}

static void time_ends_a_source_and_intervals_are_told(void **state)
{
	pair("sink -V", "source --time 0.5 --interval 0.2 --rate 80m");
	assert_int_equal(child_exit(&c), 0);
	/* How many depends on how long the machine takes for half a second. */
	assert_true(child_count(c.out, "  retransmitted ") >= 1);
	assert_int_equal(child_count(c.out, "] in all: "), 2);
}

static void a_stalled_sink_gets_everything_in_the_end(void **state)
{
	pair("sink -V --stall 0.5 -J -i 0", "source --bytes 4M -J -i 0");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "\"failed\":0,\"bytes\":4194304,"), 2);
}

static int setup(void **state)
{
	strcpy(directory, "/tmp/test_cmd_tcp.XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	char path[96];

	snprintf(path, sizeof path, "%s/out", directory);
	unlink(path);
	snprintf(path, sizeof path, "%s/m", directory);
	unlink(path);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_role_it_says_how_to_use_it),
		cmocka_unit_test(help_lists_the_options),
		cmocka_unit_test(wrong_values_are_named),
		cmocka_unit_test(there_is_one_peer_or_a_listener),
		cmocka_unit_test(the_configuration_is_checked),
		cmocka_unit_test(a_host_without_an_address_or_a_route_is_named),
		cmocka_unit_test(our_own_closed_port_refuses),
		cmocka_unit_test(a_listener_ends_with_who_reads_of_it),
		cmocka_unit_test(a_listener_ends_with_the_other_end_of_a_socket),
		cmocka_unit_test(a_signal_ends_a_listener_in_order),
		cmocka_unit_test(a_signal_ends_what_is_starting),
		cmocka_unit_test(a_signal_ends_a_doctor),
		cmocka_unit_test(a_doctor_knows_why_nothing_begins),
		cmocka_unit_test(a_source_and_a_sink_agree),
		cmocka_unit_test(a_listener_may_send),
		cmocka_unit_test(wrong_bytes_fail),
		cmocka_unit_test(a_pingpong_tells_its_latency),
		cmocka_unit_test(time_ends_a_source_and_intervals_are_told),
		cmocka_unit_test(a_stalled_sink_gets_everything_in_the_end),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
