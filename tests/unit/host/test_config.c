/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

#define PATH "test_config.conf"

static void write_bytes(const void *bytes, size_t n)
{
	FILE *f = fopen(PATH, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static int read_text(struct config *c, struct config_error *e, const char *text)
{
	write_bytes(text, strlen(text));
	config_init(c);
	memset(e, 0, sizeof *e);
	return config_read_file(c, PATH, e);
}

static void assert_says(const struct config_error *e, const char *part)
{
	if (strstr(e->text, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", e->text, part);
}

static void test_defaults(void **state)
{
	struct config c;

	memset(&c, 0xa5, sizeof c);
	config_init(&c);
	assert_string_equal(c.name, "uiw0");
	assert_string_equal(c.port, "kernel");
	assert_int_equal(c.num_addresses, 0);
	assert_int_equal(c.mtu, 0);
	assert_true(c.mpa.crc);
	assert_false(c.mpa.markers);
	assert_int_equal(c.mpa.revision, 2);
	assert_true(c.mpa.peer_to_peer);
	assert_int_equal(c.progress_core, -1);
	/* That of the TCP below: ours is cubic, the host's is the host's. */
	assert_string_equal(c.congestion_control, "");
}

static void test_file(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(read_text(&c, &e,
				 "# comment\n"
				 "; another\n"
				 "\n"
				 "port = net_memif0,role=server,socket=/tmp/x.sock\n"
				 "  address=10.0.0.1/24, fd00::1/64\r\n"
				 "address : 192.168.7.9/16 ; behind\n"
				 "gateway = 10.0.0.254\n"
				 "mtu = 9000\n"
				 "crc = off\n"
				 "rtr = read,send\n"
				 "log = debug"),
		0);
	assert_string_equal(c.port, "net_memif0,role=server,socket=/tmp/x.sock");
	assert_int_equal(c.num_addresses, 3);
	assert_int_equal(c.address[0].prefix_len, 24);
	assert_true(ip_addr_is_v4(&c.address[0].addr));
	assert_int_equal(c.address[1].prefix_len, 64);
	assert_false(ip_addr_is_v4(&c.address[1].addr));
	assert_int_equal(c.address[2].addr.b[15], 9);
	assert_int_equal(c.num_gateways, 1);
	assert_int_equal(c.mtu, 9000);
	assert_false(c.mpa.crc);
	assert_int_equal(c.mpa.rtr, MPA_RTR_READ | MPA_RTR_SEND);
	assert_int_equal(c.log, LOG_LEVEL_DEBUG);
	assert_int_equal(config_check(&c, &e), 0);
}

static void test_file_names_the_place(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(read_text(&c, &e, "port = net_null0\n\nmtu = 9x\n"), -EINVAL);
	assert_says(&e, PATH ", line 3: ");
	assert_says(&e, "\"mtu\" is \"9x\"");
	assert_says(&e, "576 to 65318");
}

static void test_quotes_are_told(void **state)
{
	static const char *const wrong[] = {
		"address=\"10.0.0.1/24\"", "port='net_null0'", "mtu=\"1500\"", "name=\"\""};
	struct config_error e;
	struct config c;

	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		config_init(&c);
		assert_int_equal(config_set(&c, "--set", wrong[i], &e), -EINVAL);
		assert_says(&e, "quotes");
	}
	/* Quotes of its own. */
	assert_int_equal(config_set(&c, "--set", "eal=\"--a b\" \"c\"", &e), 0);
	assert_int_equal(config_set(&c, "--set", "port=net_memif0,socket=/tmp/it's", &e), 0);
}

static void test_file_unknown_key(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(read_text(&c, &e, "adress = 10.0.0.1/24\n"), -EINVAL);
	assert_says(&e, "line 1: there is no key \"adress\"; did you mean \"address\"?");
	assert_int_equal(read_text(&c, &e, "frobnicate = 1\n"), -EINVAL);
	assert_says(&e, "the keys are port, address");
}

static void test_file_keeps_the_first_error(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(read_text(&c, &e, "mtu = 1\ncrc = maybe\n"), -EINVAL);
	assert_says(&e, "line 1");
}

static void test_file_duplicate(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(read_text(&c, &e, "mtu = 1500\ncrc = on\nmtu = 1500\n"), -EINVAL);
	assert_says(&e, "line 3: \"mtu\" stands here again after line 1");
}

static void test_file_syntax(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(read_text(&c, &e, "crc = on\njust words\n"), -EINVAL);
	assert_says(&e, "line 2: expected key = value");
	assert_int_equal(read_text(&c, &e, "[main]\ncrc = on\n"), -EINVAL);
	assert_says(&e, "line 1: a section");
	assert_int_equal(read_text(&c, &e, "crc =\n"), -EINVAL);
	assert_says(&e, "\"crc\" has no value");
}

static void test_file_indented_line_is_its_own(void **state)
{
	struct config_error e;
	struct config c;

	/* An ini reader could take line 2 for more of line 1's value. */
	assert_int_equal(read_text(&c, &e, "crc = off\n\tmtu = 1400\n"), 0);
	assert_false(c.mpa.crc);
	assert_int_equal(c.mtu, 1400);
}

static void test_file_hostile_bytes(void **state)
{
	static const char zero[] = "crc = on\nmtu\0 = 1500\n";
	char line[5000];
	struct config_error e;
	struct config c;

	write_bytes(zero, sizeof zero - 1);
	config_init(&c);
	assert_int_equal(config_read_file(&c, PATH, &e), -EINVAL);
	assert_says(&e, "line 2: a zero byte");

	memset(line, 'a', sizeof line);
	memcpy(line, "port = ", 7);
	write_bytes(line, sizeof line);
	config_init(&c);
	assert_int_equal(config_read_file(&c, PATH, &e), -EINVAL);
	assert_says(&e, "line 1: the line is too long");
	assert_string_equal(c.port, "kernel");

	assert_int_equal(read_text(&c, &e, "log = \033[2Jred\n"), -EINVAL);
	assert_null(strchr(e.text, '\033'));
}

/** "#" ends a value as ";" does, behind a blank; a name may hold either. */
static void test_file_comments_behind_values(void **state)
{
	static const struct {
		const char *line, *value;
	} cases[] = {
		{"log_file = /var/log/u.log # where", "/var/log/u.log"},
		{"log_file = /var/log/u.log ; where", "/var/log/u.log"},
		{"log_file = /var/log/u.log\t# where", "/var/log/u.log"},
		{"log_file = /var/log/u.log # where ; why", "/var/log/u.log"},
		{"log_file = /var/log/u.log ; where # why", "/var/log/u.log"},
		{"log_file = /var/log/u#1.log #", "/var/log/u#1.log"},
		{"log_file = /var/log/u;1.log ;", "/var/log/u;1.log"},
	};
	struct config_error e;
	struct config c;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(read_text(&c, &e, cases[i].line), 0);
		assert_string_equal(c.log_file, cases[i].value);
	}
	assert_int_equal(read_text(&c, &e, "\nlog_file = # where\n"), -EINVAL);
	assert_says(&e, "line 2: \"log_file\" has no value");
	assert_int_equal(read_text(&c, &e, "\nlog_file # = where\n"), -EINVAL);
	assert_says(&e, "line 2: expected key = value");
}

static void test_file_longest_line(void **state)
{
	char line[256] = "capture = /";
	struct config_error e;
	struct config c;

	memset(line + 11, 'x', 196 - 11);
	assert_int_equal(read_text(&c, &e, line), 0);
	assert_int_equal(strlen(c.capture), 186);
	strcat(line, "y");
	assert_int_equal(read_text(&c, &e, line), -EINVAL);
}

static void test_file_too_many_lines(void **state)
{
	struct config_error e;
	struct config c;
	char *text = malloc(20001);

	memset(text, '\n', 20000);
	text[20000] = '\0';
	assert_int_equal(read_text(&c, &e, text), -EINVAL);
	assert_says(&e, "at most 10000 lines");
	free(text);
}

static void test_file_unreadable(void **state)
{
	struct config_error e;
	struct config c;

	config_init(&c);
	assert_int_equal(config_read_file(&c, "no/such/file", &e), -ENOENT);
	assert_says(&e, "no/such/file: cannot read the configuration: No such file");
	assert_int_equal(config_read_file(&c, "/", &e), -EISDIR);
	assert_says(&e, "/: cannot read the configuration: Is a directory");
}

/* Nobody waits for who writes into a FIFO. */
static void test_file_not_regular(void **state)
{
	char path[] = "/tmp/test_config.XXXXXX";
	struct config_error e;
	struct config c;

	config_init(&c);
	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(config_read_file(&c, path, &e), -EINVAL);
	assert_says(&e, "it is no regular file");
	assert_int_equal(config_read_file(&c, "/dev/zero", &e), -EINVAL);
	assert_int_equal(config_read_file(&c, "/dev/null", &e), 0);
	unlink(path);
}

static void test_set(void **state)
{
	struct config_error e;
	struct config c;

	config_init(&c);
	assert_int_equal(config_set(&c, "--set", "mtu=1400", &e), 0);
	assert_int_equal(config_set(&c, "--set", " mtu = 1500 ", &e), 0);
	assert_int_equal(c.mtu, 1500);
	assert_int_equal(config_set(&c, "--set", "mtu", &e), -EINVAL);
	assert_says(&e, "--set: \"mtu\"; expected key=value");
	assert_int_equal(config_set(&c, "--set", "=1", &e), -EINVAL);
	assert_int_equal(config_set(&c, "--set", "", &e), -EINVAL);
	assert_int_equal(config_set(&c, "--set", "crc=", &e), -EINVAL);
	assert_says(&e, "--set: \"crc\" has no value");
	assert_int_equal(
		config_set(&c, "--set", "port=net_memif0,role=client,mac=02:00:00:00:00:01", &e),
		0);
	assert_string_equal(c.port, "net_memif0,role=client,mac=02:00:00:00:00:01");
}

static void test_set_wins_over_file(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(read_text(&c, &e, "address = 10.0.0.1/24\nmtu = 1400\n"), 0);
	assert_int_equal(config_set(&c, "--set", "mtu=9000", &e), 0);
	/* The first replaces the file's list, the second adds to it. */
	assert_int_equal(config_set(&c, "--set", "address=10.0.0.2/24", &e), 0);
	assert_int_equal(config_set(&c, "--set", "address=10.0.0.3/24", &e), 0);
	assert_int_equal(c.mtu, 9000);
	assert_int_equal(c.num_addresses, 2);
	assert_int_equal(c.address[0].addr.b[15], 2);
}

static void test_failed_value_changes_nothing(void **state)
{
	struct config_error e;
	struct config c, before;

	config_init(&c);
	before = c;
	assert_int_equal(config_set(&c, "--set", "rtr=write,never", &e), -EINVAL);
	assert_int_equal(config_set(&c, "--set", "progress=dedicated:x", &e), -EINVAL);
	assert_memory_equal(&c, &before, sizeof c);
}

static int clean_up(void **state)
{
	unlink(PATH);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_names_the_place),
		cmocka_unit_test(test_quotes_are_told),
		cmocka_unit_test(test_file_unknown_key),
		cmocka_unit_test(test_file_keeps_the_first_error),
		cmocka_unit_test(test_file_duplicate),
		cmocka_unit_test(test_file_syntax),
		cmocka_unit_test(test_file_indented_line_is_its_own),
		cmocka_unit_test(test_file_hostile_bytes),
		cmocka_unit_test(test_file_comments_behind_values),
		cmocka_unit_test(test_file_longest_line),
		cmocka_unit_test(test_file_too_many_lines),
		cmocka_unit_test(test_file_unreadable),
		cmocka_unit_test(test_file_not_regular),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_set_wins_over_file),
		cmocka_unit_test(test_failed_value_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, clean_up);
}
