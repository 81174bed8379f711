/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hooked functions of libc: without a configuration (argument "inert") they must be those of
 * libc; with one ("active") the rdma_cm device is there, and everything else as before.
 */
#include "support/child_fork.h"
#include "support/in_syscall.h"
#include "unit/provider/stub/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the fortified headers and programs of before glibc 2.33 call. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __fxstat(int ver, int fd, struct stat *st);
int __fxstat64(int ver, int fd, struct stat64 *st);

/* ---- all of one kind ------------------------------------------------------------------------- */

/* NULL too, which the headers forbid and programs do. */
#define ANY_PATH __attribute__((no_sanitize("nonnull-attribute")))

ANY_PATH static int by_open(const char *path, int flags, mode_t mode)
{
	return (open)(path, flags, mode);
}

ANY_PATH static int by_open64(const char *path, int flags, mode_t mode)
{
	return open64(path, flags, mode);
}

ANY_PATH static int by_openat(const char *path, int flags, mode_t mode)
{
	return (openat)(AT_FDCWD, path, flags, mode);
}

ANY_PATH static int by_openat64(const char *path, int flags, mode_t mode)
{
	return openat64(AT_FDCWD, path, flags, mode);
}

static int by_open_2(const char *path, int flags, mode_t mode)
{
	return __open_2(path, flags);
}

static int by_open64_2(const char *path, int flags, mode_t mode)
{
	return __open64_2(path, flags);
}

static int by_openat_2(const char *path, int flags, mode_t mode)
{
	return __openat_2(AT_FDCWD, path, flags);
}

static int by_openat64_2(const char *path, int flags, mode_t mode)
{
	return __openat64_2(AT_FDCWD, path, flags);
}

static const struct opener {
	const char *name;
	int (*open)(const char *path, int flags, mode_t mode);
	bool without_mode;
} openers[] = {
	{"open", by_open, false},
	{"open64", by_open64, false},
	{"openat", by_openat, false},
	{"openat64", by_openat64, false},
	{"__open_2", by_open_2, true},
	{"__open64_2", by_open64_2, true},
	{"__openat_2", by_openat_2, true},
	{"__openat64_2", by_openat64_2, true},
};

#define NUM_OPENERS (sizeof openers / sizeof openers[0])

/* Each fills in the mode, the device number and the size. */
struct seen {
	int rc;
	mode_t mode;
	dev_t rdev;
	off_t size;
};

static struct seen by_fstat(int fd)
{
	struct stat st = {0};
	int rc = fstat(fd, &st);

	return (struct seen){rc, st.st_mode, st.st_rdev, st.st_size};
}

static struct seen by_fstat64(int fd)
{
	struct stat64 st = {0};
	int rc = fstat64(fd, &st);

	return (struct seen){rc, st.st_mode, st.st_rdev, st.st_size};
}

static struct seen by_fxstat(int fd)
{
	struct stat st = {0};
	int rc = __fxstat(1, fd, &st);

	return (struct seen){rc, st.st_mode, st.st_rdev, st.st_size};
}

static struct seen by_fxstat64(int fd)
{
	struct stat64 st = {0};
	int rc = __fxstat64(1, fd, &st);

	return (struct seen){rc, st.st_mode, st.st_rdev, st.st_size};
}

static struct seen (*const stats[])(int fd) = {by_fstat, by_fstat64, by_fxstat, by_fxstat64};

#define NUM_STATS (sizeof stats / sizeof stats[0])

/* ---- what is not ours ------------------------------------------------------------------------ */

static char dir[] = "/tmp/uiwarp-libc-XXXXXX";
static char file[64];

static int make_file(void **state)
{
	int fd;

	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(file, sizeof file, "%s/file", dir);
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_CREAT | O_WRONLY, 0640);
	if (fd < 0 || syscall(SYS_write, fd, "seven b", 7) != 7)
		return -1;
	return (int)syscall(SYS_close, fd);
}

static int remove_file(void **state)
{
	return unlink(file) || rmdir(dir);
}

static void assert_opens_as_the_kernel(const struct opener *o, const char *path, int flags)
{
	int fd, expected, error;
	struct stat st;

	errno = ERANGE;
	expected = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, 0604);
	error = errno;
	errno = ERANGE;
	fd = o->open(path, flags, 0604);
	if ((fd < 0) != (expected < 0) || errno != error)
		fail_msg("%s(%s, %x) = %d, errno %d, not %d", o->name, path ? path : "NULL", flags,
			fd, errno, error);
	if (fd < 0)
		return;
	assert_int_equal(fcntl(fd, F_GETFL) | O_LARGEFILE, fcntl(expected, F_GETFL) | O_LARGEFILE);
	assert_int_equal(fcntl(fd, F_GETFD), fcntl(expected, F_GETFD));
	/* O_TMPFILE has the mode that was asked for. */
	assert_int_equal(fstat(fd, &st), 0);
	if ((flags & O_TMPFILE) == O_TMPFILE)
		assert_int_equal(st.st_mode & 0777, 0604);
	assert_int_equal(syscall(SYS_close, expected), 0);
	assert_int_equal(close(fd), 0);
}

static void open_is_that_of_libc(void **state)
{
	umask(0);
	for (unsigned i = 0; i < NUM_OPENERS; i++) {
		const struct opener *o = &openers[i];

		assert_opens_as_the_kernel(o, file, O_RDWR);
		assert_opens_as_the_kernel(o, file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
		assert_opens_as_the_kernel(o, dir, O_RDONLY | O_DIRECTORY);
		assert_opens_as_the_kernel(o, file, O_RDONLY | O_DIRECTORY);
		assert_opens_as_the_kernel(o, dir, O_WRONLY);
		assert_opens_as_the_kernel(o, "no/such/file", O_RDONLY);
		assert_opens_as_the_kernel(o, "", O_RDONLY);
		assert_opens_as_the_kernel(o, NULL, O_RDONLY);
		assert_opens_as_the_kernel(o, "/dev/infiniband/rdma_cmx", O_RDWR);
		if (o->without_mode)
			continue;
		assert_opens_as_the_kernel(o, file, O_RDWR | O_CREAT | O_EXCL);
		assert_opens_as_the_kernel(o, "/tmp", O_RDWR | O_TMPFILE);
	}
}

static void openat_begins_where_it_is_told(void **state)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY);
	int fd = (openat)(at, "file", O_RDONLY);

	assert_true(fd >= 0);
	close(fd);
	fd = __openat_2(at, "file", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(openat64(-5, "file", O_RDONLY), -1);
	assert_int_equal(errno, EBADF);
	close(at);
}

static void a_created_file_has_its_mode(void **state)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof path, "%s/new", dir);
	for (unsigned i = 0; i < NUM_OPENERS; i++) {
		int fd;

		if (openers[i].without_mode)
			continue;
		fd = openers[i].open(path, O_CREAT | O_EXCL | O_WRONLY, 0751);
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode, S_IFREG | 0751);
		assert_int_equal(close(fd), 0);
		assert_int_equal(unlink(path), 0);
	}
}

static void fstat_write_and_close_are_those_of_libc(void **state)
{
	int fd = open(file, O_RDONLY);

	for (unsigned i = 0; i < NUM_STATS; i++) {
		struct seen s = stats[i](fd);

		assert_int_equal(s.rc, 0);
		assert_int_equal(s.mode, S_IFREG | 0640);
		assert_int_equal(s.size, 7);
		errno = 0;
		assert_int_equal(stats[i](-1).rc, -1);
		assert_int_equal(errno, EBADF);
	}
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(close(fd), 0);
	errno = 0;
	assert_int_equal(close(fd), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(close(1 << 20), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(write(1 << 20, "x", 1), -1);
	assert_int_equal(errno, EBADF);
	errno = ERANGE;
	fd = open("/dev/null", O_WRONLY);
	assert_int_equal(write(fd, "xyz", 3), 3);
	assert_int_equal(write(fd, NULL, 0), 0);
	close(fd);
	assert_int_equal(errno, ERANGE);
}

static void dup_and_close_range_are_those_of_libc(void **state)
{
	int fd = open(file, O_RDONLY), other = open("/dev/null", O_WRONLY);
	struct stat st;

	assert_int_equal(dup2(fd, other), other);
	assert_int_equal(fstat(other, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(dup2(fd, fd), fd);
	assert_int_equal(dup3(fd, other, O_CLOEXEC), other);
	assert_int_equal(fcntl(other, F_GETFD), FD_CLOEXEC);
	errno = 0;
	assert_int_equal(dup3(fd, fd, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(dup2(-1, other), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(close_range((unsigned)fd, (unsigned)fd, 0), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(close_range(1000, 999, 0), -1);
	assert_int_equal(errno, EINVAL);
	close(other);
}

/* ---- without a configuration ----------------------------------------------------------------- */

static void there_is_no_device_and_nothing_is_loaded(void **state)
{
	struct stat st;
	bool real = stat(CM_PATH, &st) == 0;

	for (unsigned i = 0; i < NUM_OPENERS; i++) {
		int fd;

		errno = 0;
		fd = openers[i].open(CM_PATH, O_RDWR | O_CLOEXEC, 0);
		assert_int_equal(fd >= 0, real);
		if (fd >= 0)
			close(fd);
		else
			assert_int_not_equal(errno, 0);
	}
	assert_true(is_mapped("libuiwarp-preload.so"));
	assert_false(is_mapped("libuiwarp.so"));
	assert_false(is_mapped("librte_"));
}

/* ---- with one -------------------------------------------------------------------------------- */

static struct stub_provider *provider;

static int open_cm(int flags)
{
	int fd = open(CM_PATH, O_RDWR | flags);

	assert_true(fd >= 0);
	provider = reach_provider();
	assert_non_null(provider);
	provider->stub.calls = 0;
	return fd;
}

static void assert_provider(unsigned calls, const char *name, int fd)
{
	assert_int_equal(provider->stub.calls, calls);
	assert_string_equal(provider->stub.name, name);
	assert_int_equal(provider->stub.args[0], fd);
}

static void every_open_finds_the_device(void **state)
{
	struct stat st;
	bool real = stat(CM_PATH, &st) == 0;

	close(open_cm(0));
	for (unsigned i = 0; i < NUM_OPENERS; i++) {
		int flags = O_RDWR | O_CLOEXEC | (i % 2 ? O_NONBLOCK : 0);
		int fd;

		provider->stub.calls = 0;
		fd = openers[i].open(CM_PATH, flags, 0);
		assert_true(fd >= 0);
		assert_provider(1, "cm_open", flags);
		for (unsigned k = 0; k < NUM_STATS; k++) {
			struct seen s = stats[k](fd);

			assert_int_equal(s.rc, 0);
			assert_int_equal(s.mode, S_IFCHR | 0666);
			/* What librdmacm takes for the device when sysfs has none. */
			assert_int_not_equal(s.rdev, 0);
			if (real)
				assert_int_equal(s.rdev, st.st_rdev);
		}
		assert_int_equal(close(fd), 0);
		assert_provider(2, "cm_close", fd);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
	}
}

static void write_carries_commands(void **state)
{
	int fd = open_cm(O_CLOEXEC);

	assert_int_equal(write(fd, "a command", 9), 9);
	assert_provider(1, "cm_write", fd);
	assert_int_equal(provider->stub.args[1], 9);
	assert_memory_equal(provider->written, "a command", 9);
	provider->write_error = EINVAL;
	assert_int_equal(write(fd, "a command", 9), -1);
	assert_int_equal(errno, EINVAL);
	provider->write_error = 0;
	close(fd);
}

static void the_number_s_next_owner_is_a_file_like_others(void **state)
{
	int fd = open_cm(O_CLOEXEC), other;
	struct stat st;

	close(fd);
	other = open("/dev/null", O_WRONLY);
	assert_int_equal(other, fd);
	provider->stub.calls = 0;
	assert_int_equal(write(other, "x", 1), 1);
	assert_int_equal(fstat(other, &st), 0);
	assert_int_equal(st.st_mode & S_IFMT, S_IFCHR);
	assert_int_equal(st.st_rdev, 0x103);
	close(other);
	assert_int_equal(provider->stub.calls, 0);
}

static void a_descriptor_beyond_the_table_is_emfile(void **state)
{
	close(open_cm(0));
	provider->stub.calls = 0;
	provider->open_as = 1 << 20;
	errno = 0;
	assert_int_equal(open(CM_PATH, O_RDWR), -1);
	assert_int_equal(errno, EMFILE);
	assert_provider(2, "cm_close", 1 << 20);
	provider->open_as = -1;
	assert_int_equal(open(CM_PATH, O_RDWR), -1);
	provider->open_as = 0;
}

static void dup2_and_dup3_onto_a_channel_end_it(void **state)
{
	int fd = open_cm(O_CLOEXEC), null = open("/dev/null", O_WRONLY);

	/* Neither of these closes anything. */
	assert_int_equal(dup2(fd, fd), fd);
	assert_int_equal(dup2(-1, fd), -1);
	assert_int_equal(dup3(null, fd, O_APPEND), -1);
	assert_int_equal(provider->stub.calls, 0);
	assert_int_equal(dup2(null, fd), fd);
	assert_provider(1, "cm_close", fd);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(provider->stub.calls, 1);
	fd = open_cm(O_CLOEXEC);
	assert_int_equal(dup3(null, fd, O_CLOEXEC), fd);
	assert_provider(1, "cm_close", fd);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(provider->stub.calls, 1);
	close(fd);
	close(null);
}

static void close_range_and_closefrom_end_channels(void **state)
{
	int a = open_cm(O_CLOEXEC), b = open(CM_PATH, O_RDWR), null;

	assert_int_equal(close_range((unsigned)a, (unsigned)b, CLOSE_RANGE_CLOEXEC), 0);
	assert_int_equal(provider->stub.calls, 1);
	assert_int_equal(close_range((unsigned)a, (unsigned)a, 0), 0);
	assert_provider(2, "cm_close", a);
	assert_int_equal(close_range((unsigned)a, ~0u, 0), 0);
	assert_provider(3, "cm_close", b);
	null = open("/dev/null", O_WRONLY);
	assert_int_equal(null, a);
	assert_int_equal(write(null, "x", 1), 1);
	assert_int_equal(provider->stub.calls, 3);
	close(null);
	a = open_cm(O_CLOEXEC);
	closefrom(a);
	assert_provider(1, "cm_close", a);
	assert_int_equal(fcntl(a, F_GETFD), -1);
}

static void in_a_forked_child_the_channel_is_gone(void **state)
{
	int fd = open_cm(O_CLOEXEC), status;
	pid_t pid = child_fork();

	if (pid == 0) {
		errno = 0;
		if (write(fd, "a command", 9) != -1 || errno != ENODEV)
			_exit(1);
		if (open(CM_PATH, O_RDWR) >= 0 && access(CM_PATH, F_OK) != 0)
			_exit(2);
		if (close(fd) != 0 || fcntl(fd, F_GETFD) != -1)
			_exit(3);
		_exit(provider->stub.calls == 0 ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* The parent's is still there. */
	assert_int_equal(write(fd, "a command", 9), 9);
	close(fd);
}

/* ---- GET_EVENT on a channel that another thread closes --------------------------------------- */

struct get_event {
	struct rdma_ucm_cmd_hdr header;
	struct rdma_ucm_get_event body;
};

struct reader {
	pthread_t thread;
	_Atomic pid_t tid;
	int fd, error;
	uint32_t cmd;
};

static void *read_event(void *arg)
{
	struct reader *r = arg;
	struct get_event q = {.header = {.cmd = r->cmd,
				      .in = sizeof q.body,
				      .out = sizeof(struct rdma_ucm_event_resp)}};

	r->tid = gettid();
	r->error = write(r->fd, &q, sizeof q) < 0 ? errno : 0;
	return r;
}

static void start_reader(struct reader *r, int fd, uint32_t cmd)
{
	*r = (struct reader){.fd = fd, .cmd = cmd, .error = -1};
	assert_int_equal(pthread_create(&r->thread, NULL, read_event, r), 0);
}

static void cancel(const struct reader *r)
{
	void *result;

	assert_int_equal(pthread_cancel(r->thread), 0);
	assert_int_equal(pthread_join(r->thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
}

/* pause() of libc: newer architectures have no call of that name. */
#ifdef SYS_pause
#define PAUSE SYS_pause
#else
#define PAUSE SYS_ppoll
#endif

__attribute__((unused)) static void a_reader_in_a_closed_channel_stays_there(void **state)
{
	struct reader r;
	int fd = open_cm(O_CLOEXEC);

	provider->write_waits = 1;
	provider->write_error = EBADF;
	start_reader(&r, fd, RDMA_USER_CM_CMD_GET_EVENT);
	sem_wait(&provider->in_write);
	close(fd);
	sem_post(&provider->go);
	wait_until_in_syscall(&r.tid, PAUSE);
	cancel(&r);
	provider->write_waits = 0;
	provider->write_error = 0;
}

__attribute__((unused)) static void a_reader_who_comes_late_waits_as_well(void **state)
{
	struct reader r;
	int fd = open_cm(O_CLOEXEC);

	close(fd);
	start_reader(&r, fd, RDMA_USER_CM_CMD_GET_EVENT);
	wait_until_in_syscall(&r.tid, PAUSE);
	cancel(&r);
	/* With whatever number librdmacm finds in the channel that it has freed. */
	start_reader(&r, -1, RDMA_USER_CM_CMD_GET_EVENT);
	wait_until_in_syscall(&r.tid, PAUSE);
	cancel(&r);
}

static void others_who_come_late_get_ebadf(void **state)
{
	struct reader r;
	int fd = open_cm(O_CLOEXEC);
	void *result;

	close(fd);
	start_reader(&r, fd, RDMA_USER_CM_CMD_DESTROY_ID);
	assert_int_equal(pthread_join(r.thread, &result), 0);
	assert_int_equal(r.error, EBADF);
}

#define OTHERS                                                                                    \
	cmocka_unit_test(open_is_that_of_libc), cmocka_unit_test(openat_begins_where_it_is_told), \
		cmocka_unit_test(a_created_file_has_its_mode),                                    \
		cmocka_unit_test(fstat_write_and_close_are_those_of_libc),                        \
		cmocka_unit_test(dup_and_close_range_are_those_of_libc)

int main(int argc, char **argv)
{
	const struct CMUnitTest inert[] = {
		OTHERS,
		cmocka_unit_test(there_is_no_device_and_nothing_is_loaded),
	};
	const struct CMUnitTest active[] = {
		OTHERS,
		cmocka_unit_test(every_open_finds_the_device),
		OTHERS,
		cmocka_unit_test(write_carries_commands),
		cmocka_unit_test(the_number_s_next_owner_is_a_file_like_others),
		cmocka_unit_test(a_descriptor_beyond_the_table_is_emfile),
		cmocka_unit_test(dup2_and_dup3_onto_a_channel_end_it),
		cmocka_unit_test(close_range_and_closefrom_end_channels),
		cmocka_unit_test(in_a_forked_child_the_channel_is_gone),
#ifndef NO_CANCELLING
		cmocka_unit_test(a_reader_in_a_closed_channel_stays_there),
		cmocka_unit_test(a_reader_who_comes_late_waits_as_well),
#endif
		cmocka_unit_test(others_who_come_late_get_ebadf),
	};

	if (argc > 1 && strcmp(argv[1], "inert") == 0)
		return cmocka_run_group_tests(inert, make_file, remove_file);
	return cmocka_run_group_tests(active, make_file, remove_file);
}
