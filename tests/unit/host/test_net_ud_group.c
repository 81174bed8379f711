/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups of UD queue pairs over both kinds of port: who hears what, and how far it goes.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include "host/net_priv.h"
#include "net_ud_fixture.h"
#include "support/wrapped.h"

static const struct ip_addr any;
static struct net *telling;  /**< whose host is told now; NULL: it may not be */
static unsigned told;        /**< how often it was */
static unsigned told_refuse; /**< it refuses as often */
/** Another thread's: it has the engine when the host is told. */
static void (*meanwhile)(struct net *n);

int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
WRAPPED int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);

/* The kernel waits for who configures any interface; others have the engine meanwhile. */
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if ((level == IPPROTO_IP || level == IPPROTO_IPV6) &&
		(name == MCAST_JOIN_GROUP || name == MCAST_LEAVE_GROUP)) {
		assert_non_null(telling);
		assert_false(engine_is_held(net_engine(telling)));
		told++;
		if (meanwhile) {
			engine_lock(net_engine(telling));
			meanwhile(telling);
			engine_unlock(net_engine(telling));
		}
		if (name == MCAST_JOIN_GROUP && told_refuse && told_refuse--) {
			errno = ENOBUFS;
			return -1;
		}
	}
	return __real_setsockopt(fd, level, name, value, len);
}

static int settle(struct net *n, const struct ip_addr *group, const struct ip_addr *local)
{
	const struct ud_net *ud = net_ud(n);
	int rc;

	if (!ud->settle)
		return 0;
	telling = n;
	rc = ud->settle(ud->ctx, group, local);
	telling = NULL;
	return rc;
}

static int join(struct net *n, const char *group, const struct ip_addr *local)
{
	const struct ud_net *ud = net_ud(n);
	const struct ip_addr g = addr(group);

	int rc;

	ud->prepare(ud->ctx, &g);
	rc = ENGINE_LOCKED(net_engine(n), ud->join(ud->ctx, &g, local));
	return rc ? rc : settle(n, &g, local);
}

static void leave(struct net *n, const char *group, const struct ip_addr *local)
{
	const struct ud_net *ud = net_ud(n);
	const struct ip_addr g = addr(group);

	engine_lock(net_engine(n));
	ud->leave(ud->ctx, &g, local);
	engine_unlock(net_engine(n));
	assert_int_equal(settle(n, NULL, local), 0);
}

static void is_source(struct net *n, const char *group, const char *local)
{
	const struct ud_net *ud = net_ud(n);
	const struct ip_addr g = addr(group), want = addr(local);
	struct ip_addr a;

	assert_int_equal(ENGINE_LOCKED(net_engine(n), ud->group_source(ud->ctx, &g, &a)), 0);
	assert_true(ip_addr_equal(&a, &want));
}

/* ---- a port of our own ------------------------------------------------------------------------
 */

#define OWN                                                                                 \
	"port=net_null0,no-rx=1", "address=10.0.0.1/24", "address=fd00::1/64", "memory=16", \
		"log=error"

/* What is said to a group is heard by us if we are in it, and otherwise not. */
static void heard(struct net *n, const char *group, const char *own, uint8_t ttl)
{
	assert_int_equal(say(n, own, group, GROUP_PORT, "before", 6), 0);
	assert_int_equal(join(n, group, &any), 0);
	assert_int_equal(join(n, group, &any), 0);
	leave(n, group, &any);
	assert_int_equal(say(n, own, group, GROUP_PORT, "in it", 5), 0);
	expect_ttl(n, own, group, "in it", ttl);
	assert_true(got.path.own);
	/* At the other port nobody hears groups, and at this one nothing else. */
	assert_int_equal(say(n, own, group, 61525, "elsewhere", 9), 0);
	assert_int_equal(say(n, own, group, GROUP_PORT, "again", 5), 0);
	expect_ttl(n, own, group, "again", ttl);
	leave(n, group, &any);
	assert_int_equal(say(n, own, group, GROUP_PORT, "after", 5), 0);
	assert_int_equal(say(n, own, own, 61525, "unicast", 7), 0);
	expect(n, own, own, "unicast");
}

static void test_port(void **state)
{
	static const char *const set[] = {OWN};
	struct net *n = start(set, 5);

	assert_int_equal(net_ud(n)->group_ttl, 1);
	open_at(n, 61525);
	heard(n, "239.1.2.3", "10.0.0.1", 1);
	heard(n, "ff05::1:2", "fd00::1", 1);
	is_source(n, "239.1.2.3", "10.0.0.1");
	is_source(n, "ff05::1:2", "fd00::1");
	assert_int_equal(join(n, "224.0.0.0", &any), -EINVAL);
	assert_int_equal(join(n, "ff00::1", &any), -EINVAL);
	/* Left by the end. */
	assert_int_equal(join(n, "239.1.2.3", &any), 0);
	finish(n);
}

/* Beyond the subnet where all are let in: as far as the program wants. */
static void test_port_on(void **state)
{
	static const char *const set[] = {OWN, "ud=on"};
	struct net *n = start(set, 6);

	open_at(n, 61525);
	heard(n, "239.1.2.3", "10.0.0.1", 7);
	finish(n);
}

/* ---- the kernel's ---------------------------------------------------------------------------- */

#define GROUP       "239.77.1.2"
#define OTHER_GROUP "239.77.1.3"

static void all_hear(struct net *const n[2], const char *text)
{
	while (got.n < 2) {
		(void)engine_drive(net_engine(n[0]));
		(void)engine_drive(net_engine(n[1]));
	}
	assert_int_equal(got.n, 2);
	assert_int_equal(got.len, strlen(text));
	assert_memory_equal(got.data, text, got.len);
	assert_int_equal(got.path.ttl, 1);
	got.n = 0;
}

static void stranger_says_to_group(int fd, const char *text)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(GROUP_PORT)};
	struct in_addr lo = {.s_addr = htonl(INADDR_LOOPBACK)};

	assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &lo, sizeof lo), 0);
	inet_pton(AF_INET, GROUP, &sin.sin_addr);
	assert_int_equal(sendto(fd, text, strlen(text), 0, (struct sockaddr *)&sin, sizeof sin),
		strlen(text));
}

/* Two processes of a host share the port; each hears the groups that it is in itself. */
static void test_kernel(void **state)
{
	static const char *const set[] = {"port=kernel", "address=127.0.0.1/31", "log=error"};
	const struct ip_addr lo = addr("127.0.0.1"), far = addr("127.0.0.2");
	uint16_t port[2], other;
	struct net *n[2] = {start_kernel(set, 3, &port[0]), start_kernel(set, 3, &port[1])};
	int fd = stranger("127.9.9.9", &other);

	is_source(n[0], GROUP, "127.0.0.1");
	assert_int_equal(join(n[0], GROUP, &far), -EADDRNOTAVAIL);
	assert_int_equal(join(n[0], GROUP, &lo), 0);
	assert_int_equal(join(n[0], GROUP, &any), 0);
	leave(n[0], GROUP, &lo);
	assert_int_equal(join(n[1], GROUP, &any), 0);
	assert_int_equal(say(n[0], "127.0.0.1", GROUP, GROUP_PORT, "to both", 7), 0);
	all_hear(n, "to both");
	assert_true(got.path.own);
	/* Of another subnet: refused by both. And what is for the port but not for the group. */
	stranger_says_to_group(fd, "far");
	assert_int_equal(say(n[0], "127.0.0.1", "127.0.0.1", GROUP_PORT, "plain", 5), 0);
	assert_int_equal(say(n[0], "127.0.0.1", GROUP, GROUP_PORT, "near", 4), 0);
	all_hear(n, "near");
	assert_int_equal(net_ud(n[0])->refused, 1);
	assert_int_equal(net_ud(n[1])->refused, 1);
	/* Who has left hears nothing, though another is still in. */
	leave(n[1], GROUP, &any);
	assert_int_equal(say(n[0], "127.0.0.1", GROUP, GROUP_PORT, "to one", 6), 0);
	expect_ttl(n[0], "127.0.0.1", GROUP, "to one", 1);
	assert_int_equal(say(n[0], "127.0.0.1", "127.0.0.1", port[1], "unicast", 7), 0);
	expect(n[1], "127.0.0.1", "127.0.0.1", "unicast");
	close(fd);
	finish(n[0]);
	finish(n[1]);
}

/* The host is told once of each group, and of one that it refused when it is wanted again. */
static void test_kernel_refuses(void **state)
{
	static const char *const set[] = {"port=kernel", "address=127.0.0.1/31", "log=warning"};
	struct stack_log_entry e;
	uint16_t port;
	struct net *n = start_kernel(set, 3, &port);

	told = 0;
	told_refuse = 2;
	assert_int_equal(join(n, GROUP, &any), -ENOSPC);
	assert_int_equal(join(n, GROUP, &any), -ENOSPC);
	assert_int_equal(told, 2);
	assert_int_equal(net_ud(n)->groups_refused, 2);
	assert_true(stack_log_get(&n->log, stack_log_lines(&n->log) - 1, &e));
	assert_string_equal(e.text,
		"the host does not let us join the group " GROUP " on lo: No space left on device");
	leave(n, GROUP, &any);
	leave(n, GROUP, &any);
	assert_int_equal(told, 2); /* it knows of none */
	assert_int_equal(join(n, GROUP, &any), 0);
	assert_int_equal(join(n, GROUP, &any), 0);
	assert_int_equal(told, 3);
	assert_int_equal(say(n, "127.0.0.1", GROUP, GROUP_PORT, "in it", 5), 0);
	expect_ttl(n, "127.0.0.1", GROUP, "in it", 1);
	leave(n, GROUP, &any);
	assert_int_equal(told, 3);
	leave(n, GROUP, &any);
	assert_int_equal(told, 4);
	finish(n);
}

static void changes_its_mind(struct net *n)
{
	const struct ud_net *ud = net_ud(n);
	const struct ip_addr g = addr(GROUP);

	if (told == 1 || told == 3)
		ud->leave(ud->ctx, &g, &any);
	else if (told == 2)
		assert_int_equal(ud->join(ud->ctx, &g, &any), 0);
}

/* Others join and leave while the host is told: it is told until that is so. */
static void test_kernel_meanwhile(void **state)
{
	static const char *const set[] = {"port=kernel", "address=127.0.0.1/31", "log=error"};
	uint16_t port;
	struct net *n = start_kernel(set, 3, &port);

	told = 0;
	meanwhile = changes_its_mind;
	assert_int_equal(join(n, GROUP, &any), 0);
	assert_int_equal(told, 4); /* joined, left, joined, left */
	meanwhile = NULL;
	assert_int_equal(join(n, GROUP, &any), 0);
	assert_int_equal(told, 5);
	leave(n, GROUP, &any);
	assert_int_equal(told, 6);
	finish(n);
}

static void ends(struct net *n)
{
	const struct ud_net *ud = net_ud(n);
	const struct ip_addr g = addr(OTHER_GROUP);

	if (told != 2)
		return;
	ud->leave(ud->ctx, &g, &any);
	engine_unlock(net_engine(n));
	assert_int_equal(ud->settle(ud->ctx, NULL, &any), 0);
	assert_int_equal(told, 2);
	engine_lock(net_engine(n));
}

/* Who only leaves does not wait while the host is told for another, who does it all. */
static void test_kernel_ends(void **state)
{
	static const char *const set[] = {"port=kernel", "address=127.0.0.1/31", "log=error"};
	uint16_t port;
	struct net *n = start_kernel(set, 3, &port);

	told = 0;
	assert_int_equal(join(n, OTHER_GROUP, &any), 0);
	meanwhile = ends;
	assert_int_equal(join(n, GROUP, &any), 0);
	assert_int_equal(told, 3);
	meanwhile = NULL;
	leave(n, GROUP, &any);
	assert_int_equal(told, 4);
	finish(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_refuses),
		cmocka_unit_test(test_kernel_meanwhile),
		cmocka_unit_test(test_kernel_ends),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_port),
		cmocka_unit_test(test_port_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
