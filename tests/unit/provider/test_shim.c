/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The preloaded library in a program's own eyes. Run with LD_PRELOAD set: without a configuration
 * (argument "inert"), under uiwarp run ("active"), to its very end ("exit"), and with a port that
 * cannot be opened ("broken").
 */
#include "unit/provider/preloaded.h"

#include "support/limit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- in every program ---------------------------------------------------------------------------
 */

static void test_files(void **state)
{
	static const char name[] = "test_shim.tmp";
	char buf[8] = "";
	struct stat st;
	int fd = open(name, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0640);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "seven b", 7), 7);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_size, 7);
	assert_int_equal(st.st_mode & 0700, 0600);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(fd), -1);
	assert_int_equal(errno, EBADF);
	fd = openat(AT_FDCWD, name, O_RDONLY);
	assert_int_equal(read(fd, buf, sizeof buf), 7);
	assert_int_equal(write(fd, buf, 1), -1);
	assert_int_equal(errno, EBADF);
	close(fd);
	unlink(name);
	assert_int_equal(open("no/such/file", O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(write(-1, buf, 1), -1);
	assert_int_equal(close(-1), -1);
	assert_int_equal(close(0x7fffffff), -1);
}

/* How many entries of the system's interfaces are ours, with the address and mask of the tests. */
static unsigned count_interfaces(void)
{
	struct ifaddrs *list;
	unsigned n = 0, all = 0;

	assert_int_equal(getifaddrs(&list), 0);
	for (struct ifaddrs *i = list; i != NULL; i = i->ifa_next, all++) {
		const struct sockaddr_in *addr = (const void *)i->ifa_addr;
		const struct sockaddr_in *mask = (const void *)i->ifa_netmask;

		if (strcmp(i->ifa_name, "uiw0") != 0)
			continue;
		n++;
		assert_int_equal(addr->sin_family, AF_INET);
		assert_int_equal(ntohl(addr->sin_addr.s_addr), 0x0a630001);
		assert_int_equal(ntohl(mask->sin_addr.s_addr), 0xffffff00);
		/* Behind all others. */
		assert_null(i->ifa_next);
	}
	assert_true(all > n);
	freeifaddrs(list);
	freeifaddrs(NULL);
	return n;
}

static void test_dlsym_for_others(void **state)
{
	void *h = dlopen("libm.so.6", RTLD_NOW);

	assert_non_null(h);
	assert_from(dlsym(h, "cos"), "libm.so");
	assert_from(dlsym(RTLD_DEFAULT, "getpagesize"), "libc.so");
	/* The caller counts: for us, the next after the program is the preloaded library. */
	assert_from(dlsym(RTLD_NEXT, "write"), "libuiwarp-preload.so");
	assert_null(dlsym(h, "no_such_function"));
	assert_non_null(dlerror());
	assert_non_null(dlvsym(RTLD_DEFAULT, "getpagesize", "GLIBC_2.2.5"));
	assert_null(dlvsym(RTLD_DEFAULT, "getpagesize", "GLIBC_9.9"));
	dlclose(h);
}

/* ---- without a configuration --------------------------------------------------------------------
 */

static void test_inert(void **state)
{
	void *h = dlopen("libibverbs.so.1", RTLD_NOW);
	struct stat st;
	int fd;

	assert_int_equal(count_devices("uiw0"), 0);
	assert_int_equal(count_interfaces(), 0);
	assert_from(dlsym(h, "ibv_get_device_list"), "libibverbs.so");
	assert_from(dlvsym(h, "ibv_reg_mr", "IBVERBS_1.1"), "libibverbs.so");
	dlclose(h);
	/* A real one, or none. */
	fd = open(CM_PATH, O_RDWR | O_CLOEXEC);
	assert_true((fd >= 0) == (stat(CM_PATH, &st) == 0));
	if (fd >= 0)
		close(fd);
	/* Nothing heavy was loaded. */
	assert_null(dlopen("librte_eal.so.23", RTLD_NOW | RTLD_NOLOAD));
}

/* ---- with one
 * ------------------------------------------------------------------------------------- */

static void test_active_devices(void **state)
{
	/* A list of interfaces starts no RNIC. */
	assert_int_equal(count_interfaces(), 0);
	assert_int_equal(count_devices("uiw0"), 1);
	assert_int_equal(count_devices("uiw0"), 1);
}

static void test_active_interfaces(void **state)
{
	assert_int_equal(count_devices("uiw0"), 1);
	assert_int_equal(count_interfaces(), 1);
}

static void test_active_dlsym(void **state)
{
	void *h = dlopen("libibverbs.so.1", RTLD_NOW);

	assert_from(dlsym(h, "ibv_get_device_list"), "libuiwarp-preload.so");
	assert_from(dlvsym(h, "ibv_reg_mr", "IBVERBS_1.1"), "libuiwarp-preload.so");
	/* Those that we leave to the real one, and those that nobody has. */
	assert_from(dlsym(h, "ibv_wc_status_str"), "libibverbs.so");
	assert_null(dlsym(h, "ibv_no_such_verb"));
	assert_null(dlvsym(h, "ibv_reg_mr", "IBVERBS_9.9"));
	dlclose(h);
}

static void test_active_cm_device(void **state)
{
	struct stat st;
	int fd = open(CM_PATH, O_RDWR | O_CLOEXEC);
	int other;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	/* A command too short for its header. */
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(close(fd), 0);
	/* The number's next owner is an ordinary file. */
	other = open("/dev/null", O_WRONLY);
	assert_int_equal(dup2(other, fd), fd);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	close(other);
}

static void test_active_leaves_the_program_alone(void **state)
{
	struct stat st;

	/* stdout and stderr are what they were; stdin too. */
	for (int fd = 0; fd < 3; fd++)
		assert_int_equal(fstat(fd, &st), 0);
}

/* ---- with one that does not work
 * ------------------------------------------------------------------- */

static struct ibv_context *open_first(void)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *context = n == 0 ? NULL : ibv_open_device(list[n - 1]);

	ibv_free_device_list(list);
	return context;
}

static void test_broken(void **state)
{
	int saved = dup(2), listed, fd, started = 0;
	struct ibv_context *context;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	char text[2048] = "";
	FILE *f = tmpfile();
	struct stat st;

	fflush(stderr);
	dup2(fileno(f), 2);
	/* That there is no such port is found out when something needs it. */
	listed = count_devices("uiw0");
	context = open_first();
	if (context != NULL && ibv_query_device(context, &attr) == 0 && fstat(2, &st) == 0 &&
		st.st_size == 0) {
		errno = 0;
		started = ibv_alloc_pd(context) == NULL && errno == ENODEV;
		errno = 0;
		started += ibv_alloc_pd(context) == NULL && errno == ENODEV;
		started += ibv_create_comp_channel(context) == NULL;
		started += ibv_query_port(context, 1, &port) == ENODEV;
		started += ibv_close_device(context) == 0;
	}
	fd = open(CM_PATH, O_RDWR | O_CLOEXEC);
	dup2(saved, 2);
	close(saved);
	assert_int_equal(listed, 1);
	assert_int_equal(count_devices("uiw0"), 1);
	assert_int_equal(count_interfaces(), 0);
	assert_int_equal(started, 5);
	/* A real one, or none. */
	assert_true((fd >= 0) == (stat(CM_PATH, &st) == 0));
	if (fd >= 0)
		close(fd);
	rewind(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	/* One sentence, once. */
	assert_non_null(strstr(text, "uiwarp: port \"net_nonesuch0\""));
	assert_null(strstr(strstr(text, "uiwarp: port") + 1, "uiwarp: port"));
}

/* ---- at the end --------------------------------------------------------------------------------
 */

static struct ibv_context *left;
static struct ibv_mr *left_mr;
static struct ibv_mw *left_mw;
static int left_cm;

/*
 * exit() has locked the engine for good by now: a program's own destructors get an answer, and what
 * they destroy is as good as destroyed.
 */
__attribute__((destructor)) static void clean_up(void)
{
	bool gone;

	if (left == NULL)
		return;
	gone = ibv_dealloc_mw(left_mw) == 0 && ibv_dereg_mr(left_mr) == 0 &&
	       ibv_close_device(left) == 0;
	errno = 0;
	gone = gone && ibv_alloc_pd(left) == NULL && errno == ENODEV;
	errno = 0;
	gone = gone && write(left_cm, "x", 1) == -1 && errno == ENODEV;
	gone = gone && close(left_cm) == 0;
	_exit(gone ? 0 : 1);
}

/** @return an exit status that is not used when all is well. */
static int leave_it_all_behind(void)
{
	static char buf[64];
	struct ibv_device **list;
	int n = 0;

	alarm(LIMIT_S);
	list = ibv_get_device_list(&n);
	left_cm = open(CM_PATH, O_RDWR | O_CLOEXEC);
	left = ibv_open_device(list[n - 1]);
	ibv_free_device_list(list);
	if (left == NULL || left_cm < 0)
		return 2;
	left_mr = ibv_reg_mr(ibv_alloc_pd(left), buf, sizeof buf, IBV_ACCESS_LOCAL_WRITE);
	left_mw = ibv_alloc_mw(left_mr->pd, IBV_MW_TYPE_1);
	return 3;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest inert[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_dlsym_for_others),
		cmocka_unit_test(test_inert),
	};
	const struct CMUnitTest active[] = {
		cmocka_unit_test(test_active_devices),
		cmocka_unit_test(test_active_interfaces),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_dlsym_for_others),
		cmocka_unit_test(test_active_dlsym),
		cmocka_unit_test(test_active_cm_device),
		cmocka_unit_test(test_active_leaves_the_program_alone),
	};
	const struct CMUnitTest broken[] = {
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_files),
	};

	if (argc == 2 && strcmp(argv[1], "inert") == 0)
		return cmocka_run_group_tests(inert, NULL, NULL);
	if (argc == 2 && strcmp(argv[1], "active") == 0)
		return cmocka_run_group_tests(active, NULL, NULL);
	if (argc == 2 && strcmp(argv[1], "broken") == 0)
		return cmocka_run_group_tests(broken, NULL, NULL);
	if (argc == 2 && strcmp(argv[1], "exit") == 0)
		return leave_it_all_behind();
	fprintf(stderr, "usage: test_shim inert|active|broken|exit\n");
	return 2;
}
