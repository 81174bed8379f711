/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/claim.h"
#include "support/child_fork.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

#define MEMIF "net_memif0,role=server,socket=/tmp/x.sock,socket-abstract=no"

static char directory[64];
static struct config_error e;

static int set_up(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-claim.XXXXXX");
	return mkdtemp(directory) == NULL;
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

static struct config config_of(const char *port, const char *a, const char *b)
{
	struct config c;

	config_init(&c);
	snprintf(c.port, sizeof c.port, "%s", port);
	assert_int_equal(ip_addr_parse(a, &c.address[c.num_addresses++].addr), 0);
	if (b)
		assert_int_equal(ip_addr_parse(b, &c.address[c.num_addresses++].addr), 0);
	return c;
}

static unsigned files(void)
{
	DIR *d = opendir(directory);
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

/* Another process that has the claims of @c until it is killed. */
static pid_t other(const struct config *c)
{
	struct claim claim;
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = child_fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		byte = claim_take(&claim, directory, c, &e) == 0;
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int take(const char *port, const char *a, const char *b)
{
	struct config c = config_of(port, a, b);
	struct claim claim;
	int r = claim_take(&claim, directory, &c, &e);

	if (r == 0)
		claim_release(&claim);
	return r;
}

static void the_second_process_is_refused(void **state)
{
	struct config c = config_of("net_af_packet0,iface=eth1", "10.0.0.1", NULL);
	pid_t pid = other(&c);
	char words[32];

	assert_int_equal(take("net_af_packet0,iface=eth1", "10.0.0.1", NULL), -EADDRINUSE);
	snprintf(words, sizeof words, "process %d (", (int)pid);
	assert_non_null(strstr(e.text, words));
	assert_non_null(strstr(e.text, "10.0.0.1"));
	assert_null(strchr(e.text, '\n'));
	/* Whatever the arguments beside, and whatever opens the interface. */
	assert_int_equal(take("net_af_packet3,framesz=4096,iface=eth1,qpairs=1", "10.0.0.1", NULL),
		-EADDRINUSE);
	assert_int_equal(take("net_af_xdp0,iface=eth1", "10.0.0.1", NULL), -EADDRINUSE);
	assert_int_equal(take("net_pcap0,iface=eth1", "10.0.0.1", NULL), -EADDRINUSE);
	assert_int_equal(take("net_tap0,iface=eth1", "10.0.0.1", NULL), -EADDRINUSE);
	assert_int_equal(take("net_af_packet0,iface=eth1", "10.0.0.2", "10.0.0.1"), -EADDRINUSE);
	assert_int_equal(take("net_af_packet0,iface=eth1", "10.0.0.2", NULL), 0);
	assert_int_equal(take("net_af_packet0,iface=eth11", "10.0.0.1", NULL), 0);
	end(pid);
	assert_int_equal(take("net_af_packet0,iface=eth1", "10.0.0.1", NULL), 0);
}

/* What a refused process had taken before is free again. */
static void all_or_nothing(void **state)
{
	struct config c = config_of("net_af_packet0,iface=eth1", "fd00::2", NULL);
	pid_t pid = other(&c), next;

	assert_int_equal(take("net_af_packet0,iface=eth1", "fd00::1", "fd00::2"), -EADDRINUSE);
	c = config_of("net_af_packet0,iface=eth1", "fd00::1", NULL);
	next = other(&c);
	end(next);
	end(pid);
}

static void both_ends_of_a_memif(void **state)
{
	struct config c = config_of(MEMIF, "10.0.0.1", NULL);
	pid_t pid = other(&c);

	assert_int_equal(take("net_memif0,role=client,socket=/tmp/x.sock,socket-abstract=no",
				 "10.0.0.1", NULL),
		-EADDRINUSE);
	assert_int_equal(take("net_memif0,role=client,socket=/tmp/x.sock,socket-abstract=no",
				 "10.0.0.2", NULL),
		0);
	assert_int_equal(take("net_memif0,role=client,socket=/tmp/y.sock,socket-abstract=no",
				 "10.0.0.1", NULL),
		0);
	assert_int_equal(take("net_memif0,role=client", "10.0.0.1", NULL), 0);
	end(pid);
	c = config_of("net_memif0", "10.0.0.1", NULL);
	pid = other(&c);
	assert_int_equal(take("net_memif0,role=server", "10.0.0.1", NULL), -EADDRINUSE);
	assert_int_equal(take("net_memif0,role=server,id=1", "10.0.0.1", NULL), 0);
	end(pid);
}

/* Nothing that others could have too: two processes may have as many as they like. */
static void ports_without_claims(void **state)
{
	static const char *const ports[] = {"net_null0,no-rx=1", "0000:03:00.0", "net_tap0",
		"net_af_packet0", "net_vhost0,iface=/tmp/x.sock"};

	for (unsigned i = 0; i < sizeof ports / sizeof ports[0]; i++) {
		struct config c = config_of(ports[i], "10.0.0.1", NULL);
		pid_t pid = other(&c);

		assert_int_equal(take(ports[i], "10.0.0.1", NULL), 0);
		end(pid);
	}
}

/* A child after fork() has none of its parent's, nor do its ends take them away. */
static void forks(void **state)
{
	struct config c = config_of("net_af_packet0,iface=eth1", "10.0.0.1", NULL);
	struct claim claim;
	int status;
	pid_t pid;

	assert_int_equal(claim_take(&claim, directory, &c, &e), 0);
	pid = child_fork();
	if (pid == 0) {
		claim_release(&claim);
		_exit(take("net_af_packet0,iface=eth1", "10.0.0.1", NULL) == -EADDRINUSE ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	pid = child_fork();
	if (pid == 0)
		for (;;)
			pause();
	claim_release(&claim);
	assert_int_equal(take("net_af_packet0,iface=eth1", "10.0.0.1", NULL), 0);
	end(pid);
}

static void what_cannot_be_locked_is_not_claimed(void **state)
{
	struct config c = config_of(MEMIF, "10.0.0.1", NULL);
	struct claim claim;

	assert_int_equal(claim_take(&claim, "/nonexistent", &c, &e), 0);
	assert_int_equal(claim.n, 0);
	claim_release(&claim);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void the_end_of_an_owner_removes_its_files(void **state)
{
	struct config c = config_of("net_tap0,iface=tap0", "10.0.0.1", "fd00::1");
	struct claim claim;
	pid_t pid;

	assert_int_equal(claim_take(&claim, directory, &c, &e), 0);
	assert_int_equal(files(), 2);
	/* Not that of a child. */
	pid = child_fork();
	if (pid == 0) {
		claim_release(&claim);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(files(), 2);
	claim_release(&claim);
	assert_int_equal(files(), 0);
	/* What a refused process had taken is not left either. */
	pid = other(&c);
	assert_int_equal(take("net_tap0,iface=tap0", "10.0.0.2", "fd00::1"), -EADDRINUSE);
	assert_int_equal(files(), 2);
	end(pid);
}

static void a_sweep_removes_what_nobody_has(void **state)
{
	struct config dead = config_of("net_tap0,iface=tap0", "10.0.0.1", "fd00::1");
	struct config live = config_of("net_tap0,iface=tap1", "10.0.0.1", "fd00::1");
	static const char *const others[] = {"address.0123456789abcde", "address.0123456789abcdeg",
		"default.1", "telemetry.1", "address."};
	char path[128];
	pid_t pid;

	end(other(&dead));
	pid = other(&live);
	for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", directory, others[i]);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
	snprintf(path, sizeof path, "%s/address.0123456789abcdef", directory);
	assert_int_equal(symlink("default.1", path), 0);
	snprintf(path, sizeof path, "%s/address.fedcba9876543210", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(files(), 11);
	claim_sweep(directory);
	assert_int_equal(files(), 9);
	assert_int_equal(take("net_tap0,iface=tap1", "10.0.0.1", NULL), -EADDRINUSE);
	end(pid);
	claim_sweep(directory);
	assert_int_equal(files(), 7);
	claim_sweep("/nonexistent");
}

/* A process that has one place refuses another that has more of them, and gives those back. */
static void all_places(void **state)
{
	struct config c = config_of("net_tap0,iface=tap0", "10.0.0.1", NULL);
	struct slot_places p = {.n = 2};
	struct claim claim[SLOT_PLACES];
	pid_t pid = other(&c);

	snprintf(p.path[0], sizeof p.path[0], "%s/more", directory);
	snprintf(p.path[1], sizeof p.path[1], "%s", directory);
	assert_int_equal(mkdir(p.path[0], 0700), 0);
	assert_int_equal(claims_take(claim, &p, &c, &e), -EADDRINUSE);
	assert_int_equal(rmdir(p.path[0]), 0);
	end(pid);
	assert_int_equal(mkdir(p.path[0], 0700), 0);
	assert_int_equal(claims_take(claim, &p, &c, &e), 0);
	assert_int_not_equal(rmdir(p.path[0]), 0);
	claims_release(claim);
	assert_int_equal(rmdir(p.path[0]), 0);
}

#define TAKERS 4

/* Shared by the processes of a test. */
struct crowd {
	atomic_int owners, most, refused, taken;
	atomic_bool over;
};

static struct crowd *crowd;

static void a_taker(const struct config *c, unsigned turns)
{
	while (turns) {
		struct claim claim;

		if (claim_take(&claim, directory, c, &e) != 0) {
			atomic_fetch_add(&crowd->refused, 1);
			sched_yield();
			continue;
		}
		if (claim.n != 1 || atomic_fetch_add(&crowd->owners, 1) != 0)
			atomic_store(&crowd->most, 2);
		sched_yield();
		atomic_fetch_sub(&crowd->owners, 1);
		atomic_fetch_add(&crowd->taken, 1);
		claim_release(&claim);
		turns--;
	}
	_exit(0);
}

static pid_t begin_sweeping(void)
{
	pid_t pid = child_fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	while (!atomic_load(&crowd->over))
		claim_sweep(directory);
	_exit(0);
}

/* So many takers at a time, beside two sweeps; ends when all have had their turns. */
static void run_crowd(const struct config *c, unsigned takers, unsigned turns)
{
	pid_t taker[TAKERS], sweeper[2];

	crowd = mmap(
		NULL, sizeof *crowd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(crowd != MAP_FAILED);
	for (unsigned i = 0; i < 2; i++)
		sweeper[i] = begin_sweeping();
	for (unsigned i = 0; i < takers; i++) {
		taker[i] = child_fork();
		if (taker[i] == 0)
			a_taker(c, turns);
	}
	for (unsigned i = 0; i < takers; i++)
		assert_int_equal(waitpid(taker[i], NULL, 0), taker[i]);
	atomic_store(&crowd->over, true);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(waitpid(sweeper[i], NULL, 0), sweeper[i]);
	assert_int_equal(atomic_load(&crowd->taken), takers * turns);
	assert_int_equal(atomic_load(&crowd->most), 0);
}

/* What happens once, right before the next lock. */
static void (*before_lock)(void);

/* In the place of libc's. */
int fcntl(int fd, int cmd, ...)
{
	void (*happens)(void) = cmd == F_SETLK ? before_lock : NULL;
	void *argument;
	va_list ap;

	va_start(ap, cmd);
	argument = va_arg(ap, void *);
	va_end(ap);
	if (happens) {
		before_lock = NULL;
		happens();
	}
	return (int)syscall(SYS_fcntl, fd, cmd, argument);
}

static void an_owner_ends(void)
{
	assert_int_equal(files(), 1);
	claim_sweep(directory);
	assert_int_equal(files(), 0);
}

/* Its owner removes a file that another has opened and not locked yet: that is nobody's. */
static void a_file_that_is_gone_is_no_claim(void **state)
{
	struct config c = config_of("net_tap0,iface=tap0", "10.0.0.1", NULL);
	pid_t pid;

	before_lock = an_owner_ends;
	pid = other(&c);
	before_lock = NULL;
	assert_int_equal(files(), 1);
	assert_int_equal(take("net_tap0,iface=tap0", "10.0.0.1", NULL), -EADDRINUSE);
	end(pid);
}

/* However owners remove their files while others open them, and sweeps remove them too. */
static void one_owner_at_a_time(void **state)
{
	struct config c = config_of("net_tap0,iface=tap0", "10.0.0.1", NULL);

	run_crowd(&c, TAKERS, 60);
	munmap(crowd, sizeof *crowd);
	assert_int_equal(files(), 0);
}

/* A sweep is no owner: nobody is refused for it. */
static void a_sweep_refuses_nobody(void **state)
{
	struct config c = config_of("net_tap0,iface=tap0", "10.0.0.1", NULL);

	run_crowd(&c, 1, 500);
	assert_int_equal(atomic_load(&crowd->refused), 0);
	munmap(crowd, sizeof *crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_second_process_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_or_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(both_ends_of_a_memif, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ports_without_claims, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_cannot_be_locked_is_not_claimed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_end_of_an_owner_removes_its_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sweep_removes_what_nobody_has, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_is_gone_is_no_claim, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_owner_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sweep_refuses_nobody, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
