/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/child_fork.h"
#include "unit/cm/client.h"

#include <sys/wait.h>

static void close_ends_the_ids_of_the_channel(void **state)
{
	struct client c = client_open(), d = {c.u, ucma_open(c.u, O_NONBLOCK)};
	struct rnic_ep *ep;

	client_routed(&c, 2);
	client_listener(&c, 1, &ep);
	ep_fake_request(ep, "10.0.0.1", "10.0.0.2", NULL, 0);
	client_create(&d, 3);
	assert_int_equal(ep_fake.live, 4);
	ucma_close(c.u, c.fd);
	assert_int_equal(ep_fake.live, 1);
	ucma_close(c.u, c.fd);
	close(c.fd);
	client_close(&d);
}

/* The number of a closed descriptor may come back as anything. */
static void a_closed_descriptor_is_forgotten(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_listen q = {0};
	int fd = c.fd;

	ucma_close(c.u, fd);
	assert_int_equal(client_raw(&c, fd, RDMA_USER_CM_CMD_LISTEN, &q, sizeof q, 8, 0), -EBADF);
	close(fd);
	c.fd = ucma_open(c.u, O_NONBLOCK);
	assert_int_equal(c.fd, fd);
	client_create(&c, 1);
	client_close(&c);
}

static void destroy_ends_what_is_open(void **state)
{
	struct client c = client_open();

	client_routed(&c, 1);
	ucma_destroy(c.u);
	assert_int_equal(ep_fake.live, 0);
	close(c.fd);
	ucma_destroy(NULL);
}

static int child(struct client *c)
{
	struct rdma_ucm_event_resp r;

	if (ucma_open(c->u, 0) != -1 || errno != ENODEV)
		return 1;
	if (client_event(c, &r) != -ENODEV)
		return 2;
	ucma_close(c->u, c->fd);
	ucma_destroy(c->u);
	return ep_fake.live == 1 ? 0 : 3;
}

/* After fork() the child must not touch what drives itself in the parent alone. */
static void a_child_is_refused(void **state)
{
	struct client c = client_open();
	int status;
	pid_t pid;

	client_create(&c, 1);
	pid = child_fork();
	if (pid == 0)
		_exit(child(&c));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(close_ends_the_ids_of_the_channel),
		cmocka_unit_test(a_closed_descriptor_is_forgotten),
		cmocka_unit_test(destroy_ends_what_is_open),
		cmocka_unit_test(a_child_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
