/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is believed by whom, and the files that say so. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "support/core_dump.h"
#include "tls_pair.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void expect_refused_because(
	int client_error, int server_error, const char *client_says, const char *server_says)
{
	open_both(0);
	llp_mem_run(mem, STEPS);
	assert_true(server.closed && !server.connected);
	assert_int_equal(server.error, server_error);
	assert_true(client.closed);
	assert_int_equal(client.error, client_error);
	assert_int_equal(tls_stack_stats(server.stack)->handshakes, 0);
	if (!strstr(tls_stack_reason(client.stack), client_says))
		fail_msg("client: %s", tls_stack_reason(client.stack));
	if (!strstr(tls_stack_reason(server.stack), server_says))
		fail_msg("server: %s", tls_stack_reason(server.stack));
	close_both();
}

static void expect_refused(int client_error, int server_error)
{
	expect_refused_because(client_error, server_error, "", "");
}

/* ---- who is believed --------------------------------------------------------------------- */

static void an_unknown_ca_is_refused(void **state)
{
	struct tls_files other;

	tls_files_open(&other);
	tls_files_issue(&other, "one", "IP:10.0.0.1", 10);
	tls_files_path(&other, "one.pem", client_config.certificate);
	tls_files_path(&other, "one.key", client_config.key);
	expect_refused(-EKEYREJECTED, -EKEYREJECTED);
	tls_files_close(&other);
}

static void a_wrong_name_is_refused(void **state)
{
	tls_files_config(&files, "one", &server_config); /* 10.0.0.1 at 10.0.0.2 */
	expect_refused(-EKEYREJECTED, -EKEYREJECTED);
}

static void a_wanted_name_is_found(void **state)
{
	strcpy(client_config.peer_name, "*.test");
	strcpy(server_config.peer_name, "zero.test, one.test");
	connect_both(0);
	close_both();
	strcpy(server_config.peer_name, "zero.test");
	expect_refused(-EKEYREJECTED, -EKEYREJECTED);
}

static void an_expired_certificate_is_refused(void **state)
{
	tls_files_config(&files, "old", &server_config);
	expect_refused(-EKEYREJECTED, -EKEYREJECTED);
}

/** What a listener for pairings does: its program knows who comes by the address alone. */
static void demand_addr(void)
{
	server.demand_addr = true;
	tls_user_listen(&server, mem, 1, PORT);
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
}

static void who_connects_must_have_its_address_if_that_is_demanded(void **state)
{
	static const struct {
		const char *names, *peer_name;
		enum tls_verify verify;
		bool good;
	} t[] = {
		{"IP:10.0.0.1", "", TLS_VERIFY_PEER, true},
		{"DNS:one.test,IP:192.0.2.1,IP:10.0.0.1", "", TLS_VERIFY_PEER, true},
		{"IP:192.0.2.1", "", TLS_VERIFY_PEER, false},
		{"DNS:one.test", "", TLS_VERIFY_PEER, false},
		{"DNS:10.0.0.1", "", TLS_VERIFY_PEER, false},
		{"DNS:one.test", "one.test", TLS_VERIFY_PEER, true},
		{"IP:10.0.0.1", "one.test", TLS_VERIFY_PEER, false},
		{"IP:192.0.2.1", "", TLS_VERIFY_NONE, true},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		tls_files_issue(&files, "one", t[i].names, 10);
		server_config.verify = t[i].verify;
		strcpy(server_config.peer_name, t[i].peer_name);
		tls_user_open(&client, mem, 0, &client_config, 0);
		tls_user_open(&server, mem, 1, &server_config, 0);
		demand_addr();
		if (server.connected != t[i].good)
			fail_msg("%s: %s", t[i].names, tls_stack_reason(server.stack));
		assert_int_equal(server.error, t[i].good ? 0 : -EKEYREJECTED);
		assert_int_equal(client.error, t[i].good ? 0 : -EKEYREJECTED);
		close_both();
		llp_mem_run(mem, STEPS);
	}
}

/** A peer that has not said anything yet. */
static void connect_without_tls(struct llp_mem_peer *raw)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, PORT);

	tls_user_open(&server, mem, 1, &server_config, 0);
	tls_user_listen(&server, mem, 1, PORT);
	llp_mem_peer_connect(raw, mem, 0, &to);
	llp_mem_run(mem, STEPS);
}

static void a_peer_without_tls_is_refused(void **state)
{
	struct llp_mem_peer raw;

	connect_without_tls(&raw);
	llp_mem_send_raw(raw.llp, "MPA ID Req Frame....", 20);
	llp_mem_run(mem, STEPS);
	assert_true(server.closed && !server.connected);
	assert_int_equal(server.error, -EPROTO);
	llp_mem_peer_done(&raw);
	tls_user_close(&server);
}

static void a_peer_without_tls_is_taken_if_it_may(void **state)
{
	struct llp_mem_peer raw;

	server_config.mode = TLS_ON;
	connect_without_tls(&raw);
	llp_mem_send_raw(raw.llp, "MPA", 3);
	llp_mem_run(mem, STEPS);
	assert_true(server.connected && !server.protected_);
	assert_memory_equal(server.rx, "MPA", 3);
	assert_int_equal(llp_emss(server.llp), 1448);
	assert_true(tls_user_send(&server, "answer", 6));
	llp_mem_run(mem, STEPS);
	assert_int_equal(raw.rx_len, 6);
	assert_memory_equal(raw.rx, "answer", 6);
	assert_int_equal(tls_stack_stats(server.stack)->clear, 1);
	llp_mem_peer_done(&raw);
	llp_mem_run(mem, STEPS);
	tls_user_close(&server);
}

/* ---- pre-shared keys --------------------------------------------------------------------- */

static void use_psk(struct tls_config *c, const char *name, const char *text)
{
	*c = (struct tls_config){.mode = TLS_REQUIRED};
	tls_files_write(&files, name, text);
	tls_files_path(&files, name, c->psk);
}

#define KEY_A "00112233445566778899aabbccddeeff"
#define KEY_B "10112233445566778899aabbccddeeff"

static void a_shared_key_is_enough(void **state)
{
	use_psk(&client_config, "client.psk", "# of the cluster\nnode1:" KEY_A "\n");
	use_psk(&server_config, "server.psk", "node0:" KEY_B "\n\nnode1:" KEY_A);
	connect_both(0);
	tls_user_stream(&client, 0, 3000, 1000);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 3000);
	close_both();
}

/** The server has as many as it may, and each client another one. */
static void one_of_many_shared_keys_is_found(void **state)
{
	static char text[4096 * 64];
	char *end = text, line[64];

	for (unsigned i = 0; i < 4096; i++)
		end += sprintf(end, "node%u:%08x" KEY_A "\n", i, i);
	use_psk(&server_config, "server.psk", text);
	for (unsigned i = 0; i < 4096; i += 585) {
		snprintf(line, sizeof line, "node%u:%08x" KEY_A "\n", i, i);
		use_psk(&client_config, "client.psk", line);
		connect_both(0);
		close_both();
		llp_mem_run(mem, STEPS);
	}
	use_psk(&client_config, "client.psk", "node4096:" KEY_A "\n");
	expect_refused(-EKEYREJECTED, -EKEYREJECTED);
}

/** Who has it is believed to be anybody who has it. */
static void a_shared_key_has_no_address(void **state)
{
	use_psk(&client_config, "client.psk", "node1:" KEY_A "\n");
	server_config = client_config;
	tls_user_open(&client, mem, 0, &client_config, 0);
	tls_user_open(&server, mem, 1, &server_config, 0);
	demand_addr();
	assert_true(server.connected && client.connected);
	close_both();
}

/** Where OpenSSL had it meanwhile, too, it is wiped. */
static void core_dumps_leave_shared_keys_out(void **state)
{
	uint8_t masked[16];

	if (!core_dump_is_told())
		skip();
	for (unsigned i = 0; i < sizeof masked; i++)
		masked[i] = (uint8_t)(i * 0x1d + 0x37) ^ CORE_DUMP_MASK;
	use_psk(&client_config, "client.psk", "node1:3754718eabc8e5021f3c597693b0cdea\n");
	server_config = client_config;
	connect_both(0);
	tls_user_stream(&client, 0, 3000, 1000);
	tls_user_stream(&server, 0, 3000, 1000);
	llp_mem_run(mem, STEPS);
	assert_false(core_dump_has(masked, sizeof masked));
	close_both();
	assert_false(core_dump_has(masked, sizeof masked));
}

static void another_key_is_refused(void **state)
{
	use_psk(&client_config, "client.psk", "node1:" KEY_A "\n");
	use_psk(&server_config, "server.psk", "node1:" KEY_B "\n");
	expect_refused_because(-EKEYREJECTED, -EKEYREJECTED, "the peer sent the alert \"",
		"the peer's pre-shared key is not ours of that identity");
	use_psk(&server_config, "server.psk", "node2:" KEY_A "\n");
	expect_refused_because(-EKEYREJECTED, -EKEYREJECTED, "the peer sent the alert \"",
		"the peer offers no pre-shared key whose identity we have");
}

static void a_certificate_is_no_shared_key(void **state)
{
	use_psk(&client_config, "client.psk", "node1:" KEY_A "\n");
	expect_refused(-EKEYREJECTED, -EKEYREJECTED);
}

/* ---- files ------------------------------------------------------------------------------- */

static void expect_no_stack(int error, const char *sentence)
{
	const struct tls_stack_config cfg = {
		.below = llp_mem_stack(mem, 0), .tls = &client_config, .time = tls_files_time};
	struct tls_stack *s;
	struct tls_error e = {""};

	assert_int_equal(tls_stack_create(&cfg, &s, &e), error);
	if (!strstr(e.text, sentence))
		fail_msg("%s", e.text);
}

static void bad_files_are_refused_in_a_sentence(void **state)
{
	const struct tls_config good = client_config;

	assert_int_equal(chmod(good.key, 0644), 0);
	expect_no_stack(-EACCES, "tls_key \"");
	expect_no_stack(-EACCES, "others may read or change it");
	assert_int_equal(chmod(good.key, 0600), 0);
	tls_files_path(&files, "two.key", client_config.key);
	expect_no_stack(-EINVAL, "it is not the key of tls_certificate");
	tls_files_path(&files, "ca.pem", client_config.key);
	expect_no_stack(-EINVAL, "it has no private key");
	tls_files_path(&files, "none", client_config.key);
	expect_no_stack(-ENOENT, "No such file");
	strcpy(client_config.key, "/dev/null");
	expect_no_stack(-EACCES, "it is not a file");
	client_config = good;
	tls_files_path(&files, "none", client_config.certificate);
	expect_no_stack(-ENOENT, "tls_certificate \"");
	expect_no_stack(-ENOENT, "none\": No such file");
	tls_files_path(&files, "one.key", client_config.certificate);
	expect_no_stack(-EINVAL, "one.key\": it has no whole certificate in PEM");
	tls_files_path(&files, ".", client_config.certificate);
	expect_no_stack(-EACCES, ".\": it is not a file");
	client_config = good;
	tls_files_path(&files, "one.key", client_config.ca);
	expect_no_stack(-EINVAL, "tls_ca \"");
	expect_no_stack(-EINVAL, "one.key\": it has no whole certificate in PEM");
	use_psk(&client_config, "bad.psk", "node1:0011\n");
	expect_no_stack(-EINVAL, "line 1: expected a key of 32 to 128 hexadecimal digits");
	use_psk(&client_config, "bad.psk", "\nnode1\n");
	expect_no_stack(-EINVAL, "line 2: expected identity:key");
	use_psk(&client_config, "bad.psk", "# nothing\n");
	expect_no_stack(-EINVAL, "there is no key in it");
}

static void changed_files_are_read_again(void **state)
{
	connect_both(0);
	tls_files_issue(&files, "two", "IP:10.9.9.9", 10); /* now of another host */
	tls_user_stream(&client, 0, 1000, 1000);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 1000); /* what is open stays so */
	llp_abort(client.llp);
	client.llp = NULL;
	llp_mem_run(mem, STEPS);
	client.closed = client.connected = server.connected = server.closed = false;
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	assert_int_equal(tls_stack_stats(server.stack)->reloads, 1);
	assert_int_equal(client.error, -EKEYREJECTED);
	close_both();
}

static void a_change_for_the_worse_is_not_used(void **state)
{
	connect_both(0);
	tls_files_write(&files, "two.pem", "nonsense\n");
	llp_abort(client.llp);
	client.llp = NULL;
	llp_mem_run(mem, STEPS);
	client.closed = client.connected = server.connected = server.closed = false;
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	assert_true(client.connected);
	assert_int_equal(tls_stack_stats(server.stack)->reloads, 0);
	close_both();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(an_unknown_ca_is_refused),
		TEST(a_wrong_name_is_refused),
		TEST(a_wanted_name_is_found),
		TEST(who_connects_must_have_its_address_if_that_is_demanded),
		TEST(an_expired_certificate_is_refused),
		TEST(a_peer_without_tls_is_refused),
		TEST(a_peer_without_tls_is_taken_if_it_may),
		TEST(a_shared_key_is_enough),
		TEST(one_of_many_shared_keys_is_found),
		TEST(a_shared_key_has_no_address),
		TEST(core_dumps_leave_shared_keys_out),
		TEST(another_key_is_refused),
		TEST(a_certificate_is_no_shared_key),
		TEST(bad_files_are_refused_in_a_sentence),
		TEST(changed_files_are_read_again),
		TEST(a_change_for_the_worse_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
