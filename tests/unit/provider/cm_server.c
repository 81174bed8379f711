/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm_server.h"

#include "must.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	MUST(rdma_create_qp(id, NULL, &attr) == 0);
}

/* ESTABLISHED and DISCONNECTED of an id may be with two threads: the last to let go destroys it. */
static void let_go(struct rdma_cm_id *id)
{
	_Atomic int *left = id->context;

	if (atomic_fetch_sub(left, 1) != 1)
		return;
	free(left);
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id) == 0);
}

static void handle(struct cm_server *s, struct rdma_cm_event *ev)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *id = ev->id;
	enum rdma_cm_event_type type = ev->event;

	MUST(rdma_ack_cm_event(ev) == 0);
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		atomic_fetch_add(&s->requests, 1);
		id->context = malloc(sizeof(_Atomic int));
		MUST(id->context != NULL);
		*(_Atomic int *)id->context = 3;
		make_qp(id);
		MUST(rdma_accept(id, &param) == 0);
		let_go(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		atomic_fetch_add(&s->established, 1);
		let_go(id);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		let_go(id);
		MUST(sem_post(&s->ended) == 0);
		break;
	default:
		fprintf(stderr, "%s\n", rdma_event_str(type));
		MUST(!"an event that a server expects");
	}
}

static void *serve(void *arg)
{
	struct cm_server *s = arg;
	struct pollfd p[2] = {
		{.fd = s->channel->fd, .events = POLLIN}, {.fd = s->stop_fd, .events = POLLIN}};
	struct rdma_cm_event *ev;

	for (;;) {
		if (rdma_get_cm_event(s->channel, &ev) == 0) {
			handle(s, ev);
			continue;
		}
		/* Another thread was faster. */
		MUST(errno == EAGAIN);
		MUST(poll(p, 2, -1) > 0);
		if (p[1].revents)
			return NULL;
	}
}

void cm_server_start(struct cm_server *s)
{
	struct cm_address at = cm_address(CM_V4, 0);

	*s = (struct cm_server){.channel = rdma_create_event_channel(), .stop_fd = eventfd(0, 0)};
	MUST(sem_init(&s->ended, 0, 0) == 0);
	MUST(s->channel != NULL);
	MUST(fcntl(s->channel->fd, F_SETFL, O_NONBLOCK) == 0);
	MUST(rdma_create_id(s->channel, &s->listener, NULL, RDMA_PS_TCP) == 0);
	MUST(rdma_bind_addr(s->listener, cm_sockaddr(&at)) == 0);
	MUST(rdma_listen(s->listener, 0) == 0);
	for (unsigned i = 0; i < CM_SERVER_THREADS; i++)
		MUST(pthread_create(&s->thread[i], NULL, serve, s) == 0);
}

void cm_server_stop(struct cm_server *s)
{
	uint64_t one = 1;

	/* All of them have been counted: who visits waits for an answer. */
	for (unsigned left = atomic_load(&s->requests); left; left--)
		must_wait(&s->ended);
	MUST(write(s->stop_fd, &one, sizeof one) == sizeof one);
	for (unsigned i = 0; i < CM_SERVER_THREADS; i++)
		pthread_join(s->thread[i], NULL);
	MUST(sem_trywait(&s->ended) != 0); /* none twice */
	close(s->stop_fd);
	sem_destroy(&s->ended);
	MUST(rdma_destroy_id(s->listener) == 0);
	rdma_destroy_event_channel(s->channel);
}

void cm_server_visit(const struct cm_server *s)
{
	struct cm_address to = cm_address(CM_V4, cm_port(s->listener));
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *id;

	MUST(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0);
	MUST(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 2000) == 0);
	MUST(rdma_resolve_route(id, 2000) == 0);
	make_qp(id);
	MUST(rdma_connect(id, &param) == 0);
	MUST(rdma_disconnect(id) == 0);
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id) == 0);
}
