/* SPDX-License-Identifier: BSD-2-Clause */
/* Who we are and whom we believe: the files, their changes, and the log of keys. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "support/tls_files.h"
#include "tls/credentials.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tls_files files;
static struct tls_config config;
static struct tls_credentials_source source;
static char said[4096];
static int64_t now;

static void take_line(void *ctx, enum log_level level, const char *text)
{
	strncat(said, text, sizeof said - strlen(said) - 1);
	strncat(said, "\n", sizeof said - strlen(said) - 1);
}

static const struct log_sink sink = {.line = take_line, .max_level = LOG_LEVEL_INFO};

/* ---- faults that pass --------------------------------------------------------------------- */

/** The file that cannot be opened, and why; EIO: it can, and not be read. Empty: all can. */
static char faulty[TLS_MAX_PATH];
static int fault;

static const char unreadable[] = "/proc/self/mem";

/** @return what to open instead; NULL: nothing. */
static const char *instead_of(const char *path)
{
	if (strcmp(path, faulty) != 0)
		return path;
	errno = fault;
	return fault == EIO ? unreadable : NULL;
}

/* In place of the C library's. */

int open64(const char *path, int flags, ...);

int open64(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
	va_list args;
	mode_t mode = 0;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	path = instead_of(path);
	return path ? real(path, flags, mode) : -1;
}

/** Allocations of OpenSSL's, and which of them fails; the first has number 1. */
static unsigned long allocations, failing;

static bool allocation_fails(void)
{
	return ++allocations == failing;
}

static void *allocate(size_t len, const char *file, int line)
{
	return allocation_fails() ? NULL : malloc(len);
}

static void *reallocate(void *p, size_t len, const char *file, int line)
{
	return len != 0 && allocation_fails() ? NULL : realloc(p, len);
}

static void let_go(void *p, const char *file, int line)
{
	free(p);
}

/** OpenSSL loses some of what it has when an allocation fails; the leak is not ours. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libcrypto.so\n";
}

static int set_up(void **state)
{
	*said = '\0';
	tls_files_open(&files);
	tls_files_issue(&files, "one", "IP:10.0.0.1", 10);
	tls_files_config(&files, "one", &config);
	return 0;
}

static int tear_down(void **state)
{
	tls_files_close(&files);
	return 0;
}

static void open_them(void)
{
	struct tls_error e;

	if (tls_credentials_open(&source, &config, &sink, &e) != 0)
		fail_msg("%s", e.text);
}

static void a_set_is_shared_by_its_users(void **state)
{
	struct tls_credentials *a, *b;

	open_them();
	a = tls_credentials_get(&source, now);
	b = tls_credentials_get(&source, now);
	assert_ptr_equal(a, b);
	assert_int_equal(a->users, 3);
	tls_credentials_put(a);
	tls_credentials_put(b);
	assert_int_equal(source.now->users, 1);
	tls_credentials_put(NULL);
	tls_credentials_close(&source);
	assert_string_equal(said, "");
}

static void users_keep_what_they_began_with(void **state)
{
	struct tls_credentials *old, *fresh;

	open_them();
	old = tls_credentials_get(&source, now);
	tls_files_issue(&files, "one", "IP:10.0.0.1,DNS:longer.name.test", 10);
	fresh = tls_credentials_get(&source, now);
	assert_ptr_not_equal(old, fresh);
	assert_int_equal(source.reloads, 1);
	assert_int_equal(old->users, 1);
	assert_non_null(strstr(said, "read again"));
	tls_credentials_close(&source);
	tls_credentials_put(old);
	tls_credentials_put(fresh);
}

static void bad_files_are_not_used_and_told_of_once(void **state)
{
	struct tls_credentials *old = NULL;

	open_them();
	old = tls_credentials_get(&source, now);
	tls_files_write(&files, "one.pem", "nonsense");
	for (unsigned i = 0; i < 3; i++) {
		struct tls_credentials *c = tls_credentials_get(&source, now);

		assert_ptr_equal(c, old);
		tls_credentials_put(c);
	}
	assert_int_equal(source.reloads, 0);
	assert_non_null(strstr(said, "not used"));
	assert_null(strstr(strstr(said, "not used") + 1, "not used"));
	tls_credentials_put(old);
	tls_credentials_close(&source);
}

/** @return true: a handshake that begins now has other credentials than @p c. */
static bool get_others_than(const struct tls_credentials *c)
{
	struct tls_credentials *those = tls_credentials_get(&source, now);
	bool others = those != c;

	tls_credentials_put(those);
	return others;
}

/** All files change, and of @p name nothing can be had at first. Then it can, and stays as it is.
 */
static void expect_tries(const char *name)
{
	static const int faults[] = {EMFILE, ENFILE, ENOMEM, EINTR, EIO};

	for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
		const struct tls_credentials *old;

		*said = '\0';
		open_them();
		old = source.now;
		tls_files_issue(&files, "one", "IP:10.0.0.1,DNS:longer.name.test", 10);
		tls_files_append(&files, "ca.pem", "one.pem");
		tls_files_write(&files, "psk", "b:00112233445566778899aabbccddeeff\n");
		tls_files_path(&files, name, faulty);
		fault = faults[i];
		for (unsigned seconds = 0; seconds < 3; seconds++, now++)
			assert_false(get_others_than(old));
		if (!strstr(said, strerror(fault)) && !strstr(said, "cannot be read"))
			fail_msg("%s", said);
		*faulty = '\0';
		assert_true(get_others_than(old));
		assert_int_equal(source.reloads, 1);
		tls_credentials_close(&source);
		tls_files_write(&files, "psk", "a:00112233445566778899aabbccddeeff\n");
	}
}

static void what_passes_is_tried_again(void **state)
{
	expect_tries("one.pem");
	expect_tries("one.key");
	expect_tries("ca.pem");
	tls_files_write(&files, "psk", "a:00112233445566778899aabbccddeeff\n");
	config = (struct tls_config){.mode = TLS_REQUIRED};
	tls_files_path(&files, "psk", config.psk);
	expect_tries("psk");
}

/** One allocation fails. Every 61st, as there are thousands of them. */
static void memory_is_tried_for_again(void **state)
{
	unsigned long n = 1, made;
	unsigned refused = 0;

	do {
		const struct tls_credentials *old;
		bool others;

		open_them();
		old = source.now;
		tls_files_issue(&files, "one", "IP:10.0.0.1,DNS:longer.name.test", 10);
		made = allocations;
		failing = made + n;
		others = get_others_than(old);
		made = allocations - made;
		failing = 0;
		refused += !others;
		now++;
		if (!others && !get_others_than(old))
			fail_msg("number %lu: %s", n, said);
		tls_credentials_close(&source);
		n += 61;
	} while (n <= made);
	assert_int_not_equal(refused, 0);
}

/** A bad file is not a way to keep us busy. */
static void they_are_tried_once_in_a_second(void **state)
{
	unsigned long made;

	open_them();
	tls_files_write(&files, "one.pem", "nonsense");
	assert_false(get_others_than(source.now));
	made = allocations;
	assert_false(get_others_than(source.now));
	assert_int_equal(allocations, made);
	now++;
	assert_false(get_others_than(source.now));
	assert_int_not_equal(allocations, made);
	tls_credentials_close(&source);
}

static void the_log_of_keys_is_ones_own_and_said_loudly(void **state)
{
	struct stat st;

	tls_files_path(&files, "keys", config.keylog);
	open_them();
	assert_true(source.keylog >= 0);
	assert_int_equal(stat(config.keylog, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_non_null(strstr(said, "tls_keylog is set"));
	tls_credentials_close(&source);
	assert_int_equal(source.keylog, -1);
}

static void a_log_of_keys_that_cannot_be_is_an_error(void **state)
{
	struct tls_error e = {""};

	tls_files_path(&files, "absent/keys", config.keylog);
	assert_int_equal(tls_credentials_open(&source, &config, &sink, &e), -ENOENT);
	assert_non_null(strstr(e.text, "tls_keylog \""));
}

static void a_log_of_keys_that_nobody_reads_is_an_error(void **state)
{
	struct tls_error e = {""};

	tls_files_path(&files, "fifo", config.keylog);
	assert_int_equal(mkfifo(config.keylog, 0600), 0);
	assert_int_equal(tls_credentials_open(&source, &config, &sink, &e), -ENXIO);
	assert_non_null(strstr(e.text, "nobody reads that FIFO"));
}

static void a_log_of_keys_that_others_may_read_is_an_error(void **state)
{
	struct tls_error e = {""};

	tls_files_path(&files, "keys", config.keylog);
	for (mode_t mode = 0600; mode <= 0677; mode++) {
		int want = (mode & 0027) != 0 ? -EACCES : 0;

		tls_files_write(&files, "keys", "of another run\n");
		assert_int_equal(chmod(config.keylog, mode), 0);
		assert_int_equal(tls_credentials_open(&source, &config, &sink, &e), want);
		if (want == 0)
			tls_credentials_close(&source);
		else
			assert_non_null(strstr(e.text, "others may read or change it"));
		assert_int_equal(source.keylog, -1);
	}
}

/** Who reads a FIFO has the secrets, whoever it is. */
static void so_is_one_whose_reader_may_be_another(void **state)
{
	struct tls_error e = {""};
	int reader;

	tls_files_path(&files, "fifo", config.keylog);
	assert_int_equal(mkfifo(config.keylog, 0600), 0);
	reader = open(config.keylog, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	open_them();
	tls_credentials_close(&source);
	assert_int_equal(chmod(config.keylog, 0644), 0);
	assert_int_equal(tls_credentials_open(&source, &config, &sink, &e), -EACCES);
	assert_non_null(strstr(e.text, "others may read or change it"));
	close(reader);
}

/** Made by another before root, who can write to it all the same. */
static void a_log_of_keys_of_another_is_an_error(void **state)
{
	struct tls_error e = {""};

	if (geteuid() != 0)
		skip();
	tls_files_path(&files, "keys", config.keylog);
	tls_files_write(&files, "keys", "");
	assert_int_equal(chown(config.keylog, 65534, 65534), 0);
	assert_int_equal(tls_credentials_open(&source, &config, &sink, &e), -EACCES);
	assert_non_null(strstr(e.text, "it is somebody else's"));
	assert_int_equal(source.keylog, -1);
}

static void believing_anybody_is_said_loudly(void **state)
{
	config.verify = TLS_VERIFY_NONE;
	open_them();
	assert_non_null(strstr(said, "tls_verify = none"));
	tls_credentials_close(&source);
}

/** How many certificates are shown beside our own; the first is @p subject. */
static void expect_chain(int n, const char *subject)
{
	STACK_OF(X509) *chain = NULL;
	char name[64] = "";

	open_them();
	assert_true(SSL_CTX_get_mode(source.now->ctx) & SSL_MODE_NO_AUTO_CHAIN);
	assert_int_equal(SSL_CTX_get0_chain_certs(source.now->ctx, &chain), 1);
	assert_int_equal(chain ? sk_X509_num(chain) : 0, n);
	if (n != 0) {
		X509_NAME *of = X509_get_subject_name(sk_X509_value(chain, 0));

		assert_true(X509_NAME_get_text_by_NID(of, NID_commonName, name, sizeof name) > 0);
		assert_string_equal(name, subject);
	}
	tls_credentials_close(&source);
}

static void what_is_shown_ends_before_the_ca(void **state)
{
	expect_chain(0, NULL);
	tls_files_append(&files, "one.pem", "ca.pem");
	expect_chain(0, NULL);
	/* One between us and the CA may be in either file. */
	tls_files_delegate(&files);
	tls_files_issue(&files, "one", "IP:10.0.0.1", 10);
	expect_chain(0, NULL);
	tls_files_append(&files, "one.pem", "between.pem");
	expect_chain(1, "test CA between");
	tls_files_append(&files, "one.pem", "ca.pem");
	expect_chain(1, "test CA between");
	tls_files_issue(&files, "one", "IP:10.0.0.1", 10);
	tls_files_append(&files, "ca.pem", "between.pem");
	expect_chain(1, "test CA between");
}

static void a_chain_to_nowhere_is_shown_as_it_is(void **state)
{
	tls_files_delegate(&files);
	tls_files_issue(&files, "one", "IP:10.0.0.1", 10);
	tls_files_append(&files, "one.pem", "between.pem");
	config.ca[0] = '\0';
	config.verify = TLS_VERIFY_NONE;
	expect_chain(1, "test CA between");
}

static void the_rules_are_those_of_tls_1_3_alone(void **state)
{
	SSL_CTX *ctx;

	open_them();
	ctx = source.now->ctx;
	assert_int_equal(SSL_CTX_get_min_proto_version(ctx), TLS1_3_VERSION);
	assert_int_equal(SSL_CTX_get_max_proto_version(ctx), TLS1_3_VERSION);
	assert_int_equal(SSL_CTX_get_max_early_data(ctx), 0);
	assert_true(SSL_CTX_get_options(ctx) & SSL_OP_NO_RENEGOTIATION);
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
	assert_true(SSL_CTX_get_options(ctx) & SSL_OP_NO_RX_CERTIFICATE_COMPRESSION);
#endif
	assert_int_equal(SSL_CTX_get_max_cert_list(ctx), TLS_CERTIFICATES_MAX);
	assert_int_equal(
		SSL_CTX_get_verify_mode(ctx), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
	tls_credentials_close(&source);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_set_is_shared_by_its_users),
		TEST(users_keep_what_they_began_with),
		TEST(bad_files_are_not_used_and_told_of_once),
		TEST(what_passes_is_tried_again),
		TEST(memory_is_tried_for_again),
		TEST(they_are_tried_once_in_a_second),
		TEST(the_log_of_keys_is_ones_own_and_said_loudly),
		TEST(a_log_of_keys_that_cannot_be_is_an_error),
		TEST(a_log_of_keys_that_nobody_reads_is_an_error),
		TEST(a_log_of_keys_that_others_may_read_is_an_error),
		TEST(so_is_one_whose_reader_may_be_another),
		TEST(a_log_of_keys_of_another_is_an_error),
		TEST(believing_anybody_is_said_loudly),
		TEST(what_is_shown_ends_before_the_ca),
		TEST(a_chain_to_nowhere_is_shown_as_it_is),
		TEST(the_rules_are_those_of_tls_1_3_alone),
	};

	if (CRYPTO_set_mem_functions(allocate, reallocate, let_go) != 1)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
