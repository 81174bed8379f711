/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file faults.h
 * A program whose memory ends at a place, and the handler that lets guarded.h's accesses survive
 * that. Before cmocka.h.
 */
#ifndef TESTS_SUPPORT_FAULTS_H
#define TESTS_SUPPORT_FAULTS_H

#include "base/fault_pc.h"
#include "base/guarded.h"

#ifndef GUARDED_PLAIN

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t faults;

static inline void faults_handle(int sig, siginfo_t *info, void *context)
{
	uintptr_t to = guarded_resume(fault_pc(context));

	(void)sig;
	(void)info;
	if (to == 0)
		_exit(1);
	fault_set_pc(context, to);
	faults++;
}

/** cmocka has a handler of its own around each test. @return where memory ends. */
static inline uint8_t *faults_prepare(void)
{
	struct sigaction a = {.sa_sigaction = faults_handle, .sa_flags = SA_SIGINFO};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p + page, page) != 0 || sigaction(SIGSEGV, &a, NULL) != 0)
		abort();
	faults = 0;
	return p + page;
}

#endif
#endif
