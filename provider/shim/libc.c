/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libc functions by which librdmacm uses its character device: open and fstat see a character
 * device at /dev/infiniband/rdma_cm, write carries commands, and close ends it, as do calls that
 * close implicitly, such as dup2. Also _exit, which must wait for the last message.
 *
 * Programs call these functions for all files, and some in signal handlers. So the pass-through
 * costs one comparison and one load, and the real functions are looked up at start.
 */
#undef _FILE_OFFSET_BITS /* would rename open() and fstat() below to their 64-bit twins */
#undef _FORTIFY_SOURCE
#include "base/cancel.h"
#include "provider/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <rdma/rdma_user_cm.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAX_FD (1 << 20)

/* Which descriptors are ours. A page of it is only touched when such a number is used. */
static _Atomic bool shim_cm_fd[MAX_FD];
static _Atomic unsigned shim_cm_end;    /* all of them are below */
static _Atomic bool shim_cm_was_closed; /* one on which a thread may have been waiting */

static shim_slot shim_real_open, shim_real_open64, shim_real_openat, shim_real_openat64,
	shim_real_open_2, shim_real_open64_2, shim_real_openat_2, shim_real_openat64_2,
	shim_real_fstat, shim_real_fstat64, shim_real_fxstat, shim_real_fxstat64, shim_real_write,
	shim_real_close, shim_real_exit, shim_real_dup2, shim_real_dup3, shim_real_close_range,
	shim_real_closefrom;

#define LIBC(type, name)   ((type *)shim_real_libc(&shim_real_##name, #name))
#define LIBC__(type, name) ((type *)shim_real_libc(&shim_real_##name, "__" #name))

typedef int open_fn(const char *, int, ...);
typedef int openat_fn(int, const char *, int, ...);
typedef int open_2_fn(const char *, int);
typedef int openat_2_fn(int, const char *, int);
typedef int fstat_fn(int, struct stat *);
typedef int fstat64_fn(int, struct stat64 *);
typedef int fxstat_fn(int, int, struct stat *);
typedef int fxstat64_fn(int, int, struct stat64 *);
typedef ssize_t write_fn(int, const void *, size_t);
typedef int close_fn(int);
typedef void exit_fn(int);
typedef int dup2_fn(int, int);
typedef int dup3_fn(int, int, int);
typedef int close_range_fn(unsigned, unsigned, int);
typedef void closefrom_fn(int);

/* What the fortified headers call; no header declares all of them. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __fxstat(int ver, int fd, struct stat *st);
int __fxstat64(int ver, int fd, struct stat64 *st);

__attribute__((constructor)) static void shim_look_up(void)
{
	LIBC(open_fn, open);
	LIBC(openat_fn, openat);
	LIBC(fstat_fn, fstat);
	LIBC(write_fn, write);
	LIBC(close_fn, close);
	shim_real_libc(&shim_real_exit, "_exit");
	LIBC(dup2_fn, dup2);
}

static bool shim_fd_is_cm(int fd)
{
	return fd >= 0 && fd < MAX_FD &&
	       atomic_load_explicit(&shim_cm_fd[fd], memory_order_relaxed);
}

static void shim_begin_cm(int fd)
{
	unsigned end = atomic_load_explicit(&shim_cm_end, memory_order_relaxed);

	while (end <= (unsigned)fd && !atomic_compare_exchange_weak(&shim_cm_end, &end, fd + 1u))
		;
	atomic_store_explicit(&shim_cm_fd[fd], true, memory_order_relaxed);
}

/* There is one, but not for this process. A real device is for anybody. */
static bool shim_refuse_orphan(int *fd)
{
	if (!shim_is_orphan() || access(SHIM_CM_PATH, F_OK) == 0)
		return false;
	errno = ENODEV;
	*fd = -1;
	return true;
}

/* The stack cannot be had. Where there is a real device, the program gets that, as an orphan. */
static bool shim_is_without_stack(int fd)
{
	return fd < 0 && errno == ENODEV && access(SHIM_CM_PATH, F_OK) == 0;
}

/** @return true: the path is ours and *fd is the answer. */
static bool shim_open_cm(const char *path, int flags, int *fd)
{
	const struct provider *p;
	struct cancel_hold hold;
	bool theirs;

	/* By its header open() has no NULL, so the compiler would leave the test out; in a program
	 * it may, and gets EFAULT from the kernel. */
	__asm__("" : "+r"(path));
	if (!path || strcmp(path, SHIM_CM_PATH) != 0)
		return false;
	p = shim_provider();
	if (!p)
		return shim_refuse_orphan(fd);
	hold = cancel_hold();
	*fd = p->cm_open(flags);
	if (*fd >= MAX_FD) {
		p->cm_close(*fd);
		LIBC(close_fn, close)(*fd);
		*fd = -1;
		errno = EMFILE;
	}
	theirs = shim_is_without_stack(*fd);
	if (*fd >= 0)
		shim_begin_cm(*fd);
	cancel_release(hold);
	return !theirs;
}

static bool shim_wants_mode(int flags)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

#define GET_MODE(flags, mode)                         \
	do {                                          \
		if (shim_wants_mode(flags)) {         \
			va_list ap_;                  \
			va_start(ap_, flags);         \
			(mode) = va_arg(ap_, mode_t); \
			va_end(ap_);                  \
		}                                     \
	} while (0)

SHIM_EXPORT int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	int fd;

	GET_MODE(flags, mode);
	return shim_open_cm(path, flags, &fd) ? fd : LIBC(open_fn, open)(path, flags, mode);
}

SHIM_EXPORT int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	int fd;

	GET_MODE(flags, mode);
	return shim_open_cm(path, flags, &fd) ? fd : LIBC(open_fn, open64)(path, flags, mode);
}

SHIM_EXPORT int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	int fd;

	GET_MODE(flags, mode);
	return shim_open_cm(path, flags, &fd) ? fd
					      : LIBC(openat_fn, openat)(dir, path, flags, mode);
}

SHIM_EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	int fd;

	GET_MODE(flags, mode);
	return shim_open_cm(path, flags, &fd) ? fd
					      : LIBC(openat_fn, openat64)(dir, path, flags, mode);
}

SHIM_EXPORT int __open_2(const char *path, int flags)
{
	int fd;

	return shim_open_cm(path, flags, &fd) ? fd : LIBC__(open_2_fn, open_2)(path, flags);
}

SHIM_EXPORT int __open64_2(const char *path, int flags)
{
	int fd;

	return shim_open_cm(path, flags, &fd) ? fd : LIBC__(open_2_fn, open64_2)(path, flags);
}

SHIM_EXPORT int __openat_2(int dir, const char *path, int flags)
{
	int fd;

	return shim_open_cm(path, flags, &fd) ? fd
					      : LIBC__(openat_2_fn, openat_2)(dir, path, flags);
}

SHIM_EXPORT int __openat64_2(int dir, const char *path, int flags)
{
	int fd;

	return shim_open_cm(path, flags, &fd) ? fd
					      : LIBC__(openat_2_fn, openat64_2)(dir, path, flags);
}

/* librdmacm compares the device number with the one it saw in sysfs, when there is a real one. */
static dev_t shim_cm_device_number(void)
{
	struct stat st;

	return stat(SHIM_CM_PATH, &st) == 0 ? st.st_rdev : makedev(10, 250);
}

SHIM_EXPORT int fstat(int fd, struct stat *st)
{
	int rc = LIBC(fstat_fn, fstat)(fd, st);

	if (rc == 0 && shim_fd_is_cm(fd)) {
		st->st_mode = S_IFCHR | 0666;
		st->st_rdev = shim_cm_device_number();
	}
	return rc;
}

SHIM_EXPORT int fstat64(int fd, struct stat64 *st)
{
	int rc = LIBC(fstat64_fn, fstat64)(fd, st);

	if (rc == 0 && shim_fd_is_cm(fd)) {
		st->st_mode = S_IFCHR | 0666;
		st->st_rdev = shim_cm_device_number();
	}
	return rc;
}

SHIM_EXPORT int __fxstat(int ver, int fd, struct stat *st)
{
	int rc = LIBC__(fxstat_fn, fxstat)(ver, fd, st);

	if (rc == 0 && shim_fd_is_cm(fd)) {
		st->st_mode = S_IFCHR | 0666;
		st->st_rdev = shim_cm_device_number();
	}
	return rc;
}

SHIM_EXPORT int __fxstat64(int ver, int fd, struct stat64 *st)
{
	int rc = LIBC__(fxstat64_fn, fxstat64)(ver, fd, st);

	if (rc == 0 && shim_fd_is_cm(fd)) {
		st->st_mode = S_IFCHR | 0666;
		st->st_rdev = shim_cm_device_number();
	}
	return rc;
}

/*
 * A thread that waits for an event while another closes its channel stays in the kernel's write()
 * forever; one that comes a moment later gets EBADF. rping's does so at the end of every run, with
 * an exit status of 255 if it comes too late, and a process that ends takes longer with us than
 * without. The two look alike from outside, so the late one waits as well. librdmacm has freed the
 * channel by then, so it may come with any number; its command identifies it.
 */
static void shim_wait_if_late(const void *buf, size_t n)
{
	const size_t in = sizeof(struct rdma_ucm_get_event);
	struct rdma_ucm_cmd_hdr h;
	int error = errno;

	if (error != EBADF || n != sizeof h + in ||
		!atomic_load_explicit(&shim_cm_was_closed, memory_order_relaxed))
		return;
	memcpy(&h, buf, sizeof h);
	while (h.cmd == RDMA_USER_CM_CMD_GET_EVENT && h.in == in &&
		h.out == sizeof(struct rdma_ucm_event_resp))
		pause();
	errno = error;
}

SHIM_EXPORT ssize_t write(int fd, const void *buf, size_t n)
{
	const struct provider *p;
	ssize_t rc;

	if (!shim_fd_is_cm(fd) || shim_inside()) {
		rc = LIBC(write_fn, write)(fd, buf, n);
		if (rc < 0)
			shim_wait_if_late(buf, n);
		return rc;
	}
	p = shim_running();
	if (!p || shim_is_orphan()) {
		errno = ENODEV;
		return -1;
	}
	/* It may wait for an event; meanwhile the thread's handlers may use rdma_cm like others. */
	rc = p->cm_write(fd, buf, n);
	if (rc < 0)
		shim_wait_if_late(buf, n);
	return rc;
}

/* Its descriptor is about to be closed. */
static void shim_end_cm(int fd)
{
	const struct provider *p = shim_running();
	struct cancel_hold hold;

	if (p && shim_is_vfork_child())
		return; /* the descriptor is a copy; the channel goes on */
	hold = cancel_hold();
	if ((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0)
		atomic_store_explicit(&shim_cm_was_closed, true, memory_order_relaxed);
	/* The mark goes before the descriptor: the number may be in use again at once. */
	atomic_store_explicit(&shim_cm_fd[fd], false, memory_order_relaxed);
	if (p && !shim_is_orphan())
		p->cm_close(fd);
	cancel_release(hold);
}

SHIM_EXPORT int close(int fd)
{
	if (shim_fd_is_cm(fd) && !shim_inside())
		shim_end_cm(fd);
	return LIBC(close_fn, close)(fd);
}

/* ---- what closes without close() ---------------------------------------------------------- */

/** Nothing is closed when @p fd is no descriptor, or the same. */
static void shim_end_cm_under(int fd, int number)
{
	if (shim_fd_is_cm(number) && !shim_inside() && fd != number && fcntl(fd, F_GETFD) >= 0)
		shim_end_cm(number);
}

SHIM_EXPORT int dup2(int fd, int number)
{
	shim_end_cm_under(fd, number);
	return LIBC(dup2_fn, dup2)(fd, number);
}

SHIM_EXPORT int dup3(int fd, int number, int flags)
{
	if ((flags & ~O_CLOEXEC) == 0)
		shim_end_cm_under(fd, number);
	return LIBC(dup3_fn, dup3)(fd, number, flags);
}

static void shim_end_cm_range(unsigned first, unsigned last)
{
	unsigned end = atomic_load_explicit(&shim_cm_end, memory_order_relaxed);

	if (shim_inside())
		return;
	for (unsigned fd = first; fd < end && fd <= last; fd++)
		if (shim_fd_is_cm((int)fd))
			shim_end_cm((int)fd);
}

SHIM_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	if ((flags & ~(int)CLOSE_RANGE_UNSHARE) == 0)
		shim_end_cm_range(first, last);
	return LIBC(close_range_fn, close_range)(first, last, flags);
}

SHIM_EXPORT void closefrom(int first)
{
	shim_end_cm_range(first < 0 ? 0 : (unsigned)first, UINT_MAX);
	LIBC(closefrom_fn, closefrom)(first);
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * Children of fork() end so, among others. No handler of exit() runs, and with us goes the TCP that
 * a kernel or an adapter would have gone on with: the last message of a connection in good order.
 */
static _Noreturn void shim_end_process(int status)
{
	shim_before_end();
	((exit_fn *)shim_real_libc(&shim_real_exit, "_exit"))(status);
	__builtin_unreachable();
}

SHIM_EXPORT void _exit(int status)
{
	shim_end_process(status);
}

SHIM_EXPORT void _Exit(int status)
{
	shim_end_process(status);
}
