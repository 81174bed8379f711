/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/packet.h"

#include "dpdk-port/spawn.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <rte_ethdev.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* A 32-bit field of what a filter sees; of a 64-bit argument the lower half. */
#define SEEN(field)        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define ANSWER(action)     BPF_STMT(BPF_RET | BPF_K, action)

/**
 * From now on the calling thread's changes to an interface's flags and address succeed without an
 * effect, until the thread ends. It also cannot gain rights by exec() any more.
 */
static int packet_feign(void)
{
	struct sock_filter code[] = {
		SEEN(arch),
		IS(AUDIT_ARCH_X86_64, 0, 5),
		SEEN(nr),
		IS(SYS_ioctl, 0, 3),
		SEEN(args[1]),
		IS(SIOCSIFHWADDR, 2, 0),
		IS(SIOCSIFFLAGS, 1, 0),
		ANSWER(SECCOMP_RET_ALLOW),
		ANSWER(SECCOMP_RET_ERRNO | 0),
	};
	const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return -errno;
	return 0;
}

struct packet_starting {
	uint16_t port_id;
	int result;
};

static void *packet_start_thread(void *arg)
{
	struct packet_starting *s = arg;

	s->result = packet_feign() ? -EPERM : rte_eth_dev_start(s->port_id);
	return NULL;
}

int packet_start(uint16_t port_id)
{
	struct packet_starting s = {.port_id = port_id};
	pthread_t t;
	int r = spawn_thread(&t, NULL, packet_start_thread, &s);

	if (r)
		return r;
	pthread_join(t, NULL);
	return s.result;
}
