/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_waker.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Results that a context has room for. They say nothing, and are fetched by the half of that. */
#define WAKER_RESULTS 64

int memif_waker_open(struct memif_waker *w)
{
	aio_context_t context = 0;
	int file;

	if (w->context || w->writes)
		return 0;
	if (syscall(SYS_io_setup, WAKER_RESULTS, &context)) {
		/* The kernel has none, or a filter of the process's. */
		w->writes = errno == ENOSYS || errno == EPERM;
		return w->writes ? 0 : -errno;
	}
	file = memfd_create("memif_waker", MFD_CLOEXEC);
	if (file < 0) {
		file = -errno;
		syscall(SYS_io_destroy, context);
		return file;
	}
	*w = (struct memif_waker){.context = context, .file = file};
	return 0;
}

static void memif_waker_fetch_results(struct memif_waker *w)
{
	struct io_event results[WAKER_RESULTS];

	syscall(SYS_io_getevents, w->context, 0, WAKER_RESULTS, results, &(struct timespec){0});
	w->ended = 0;
}

/** Where the peer empties and fills it without an end this may still wait. */
static void memif_waker_write(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	uint64_t one = 1;

	if (poll(&p, 1, 0) == 1 && p.revents == POLLOUT && write(fd, &one, sizeof one) < 0)
		return; /* it was filled meanwhile */
}

void memif_waker_wake(struct memif_waker *w, int fd)
{
	struct iocb request = {.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)w->file,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = (uint32_t)fd};
	struct iocb *requests[] = {&request};

	if (w->writes)
		memif_waker_write(fd);
	if (!w->context)
		return;
	if (w->ended == WAKER_RESULTS / 2)
		memif_waker_fetch_results(w);
	if (syscall(SYS_io_submit, w->context, 1, requests) == 1)
		w->ended++;
}

void memif_waker_close(struct memif_waker *w)
{
	if (w->context) {
		syscall(SYS_io_destroy, w->context);
		close(w->file);
	}
	*w = (struct memif_waker){0};
}
