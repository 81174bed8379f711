/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When does a Send or Write complete whose peer stands still?
 *
 *     acked -p PORT                       the server: gives out a buffer and its process
 *     acked -p PORT ADDRESS now|later     the client: stops that process, and posts
 *
 * `now`: all complete while the peer stands. `later`: none does, and all do when it goes on. The
 * client prints which it was, and ends with status 1 if it was not as it should be.
 */
#include <dirent.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER 4096
/* What is with TCP completes in one of the first: no time, but as good as for ever. */
#define POLLS 1000000

/* What the server tells in its private data. */
struct place {
	uint64_t addr;
	uint32_t rkey, pid;
} __attribute__((packed));

/* One of each kind; the Send is the last, so that the server knows when it is over. */
static const enum ibv_wr_opcode kinds[] = {
	IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND};
#define KINDS (sizeof kinds / sizeof kinds[0])

static pid_t stopped;

/* A process that stands still could not be ended in good order. */
static void go_on(void)
{
	if (stopped)
		kill(stopped, SIGCONT);
	stopped = 0;
}

static _Noreturn void die(const char *why)
{
	go_on();
	fprintf(stderr, "acked: %s\n", why);
	exit(1);
}

static struct rdma_cm_id *create(const char *address, const char *port)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *found;
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = KINDS,
			.max_recv_wr = KINDS,
			.max_send_sge = 1,
			.max_recv_sge = 1}};
	struct rdma_cm_id *id;

	if (!address)
		hints.ai_flags = RAI_PASSIVE;
	if (rdma_getaddrinfo(address, port, &hints, &found) ||
		rdma_create_ep(&id, found, NULL, &attr))
		die("cannot create the endpoint");
	rdma_freeaddrinfo(found);
	return id;
}

static struct ibv_mr *make_buffer(struct rdma_cm_id *id)
{
	static _Alignas(64) uint8_t buffer[BUFFER];
	struct ibv_mr *mr = ibv_reg_mr(
		id->pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	if (!mr)
		die("cannot register the buffer");
	return mr;
}

/* ---- server ------------------------------------------------------------------------------ */

static void server(const char *port)
{
	struct rdma_cm_id *listener = create(NULL, port), *id;
	struct ibv_wc wc = {0};
	struct place here;
	struct rdma_conn_param param = {.private_data = &here, .private_data_len = sizeof here};
	struct ibv_mr *mr;

	if (rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		die("no request");
	mr = make_buffer(id);
	for (unsigned i = 0; i < KINDS; i++)
		if (rdma_post_recv(id, NULL, mr->addr, BUFFER, mr))
			die("cannot post a receive");
	here = (struct place){(uintptr_t)mr->addr, mr->rkey, (uint32_t)getpid()};
	if (rdma_accept(id, &param))
		die("cannot accept");
	while (wc.opcode != IBV_WC_RECV)
		if (rdma_get_recv_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
			die("no message");
	rdma_disconnect(id);
	rdma_destroy_ep(id);
	ibv_dereg_mr(mr);
	rdma_destroy_ep(listener);
}

/* ---- client ------------------------------------------------------------------------------ */

static bool stands_still(pid_t pid, const char *thread)
{
	char path[64], line[256] = "", state = 0;
	const char *behind;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%.16s/stat", (int)pid, thread);
	f = fopen(path, "r");
	if (!f || !fgets(line, sizeof line, f))
		die("the peer is gone");
	fclose(f);
	behind = strrchr(line, ')');
	if (behind)
		state = behind[2];
	return state == 'T';
}

/* Who only sleeps might still wake, so all have to be stopped. */
static bool all_stand_still(pid_t pid)
{
	char path[64];
	struct dirent *d;
	bool still = true;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		die("the peer is gone");
	while ((d = readdir(tasks)))
		still = still && (d->d_name[0] == '.' || stands_still(pid, d->d_name));
	closedir(tasks);
	return still;
}

static void stop(pid_t pid)
{
	if (kill(pid, SIGSTOP))
		die("cannot stop the peer");
	stopped = pid;
	while (!all_stand_still(pid))
		sched_yield();
}

static void post(struct rdma_cm_id *id, const struct ibv_mr *mr, const struct place *peer)
{
	struct ibv_sge sge = {.addr = (uintptr_t)mr->addr, .length = 64, .lkey = mr->lkey};

	for (unsigned i = 0; i < KINDS; i++) {
		struct ibv_send_wr *bad, wr = {.opcode = kinds[i],
						 .sg_list = &sge,
						 .num_sge = 1,
						 .wr.rdma = {peer->addr, peer->rkey}};

		if (ibv_post_send(id->qp, &wr, &bad))
			die("cannot post");
	}
}

/* @return how many completed within @p polls; 0 polls: all. */
static unsigned take(struct rdma_cm_id *id, unsigned polls)
{
	unsigned done = 0;

	for (unsigned i = 0; done < KINDS && (i < polls || !polls); i++) {
		struct ibv_wc wc;
		int n = ibv_poll_cq(id->send_cq, 1, &wc);

		if (n < 0 || (n == 1 && wc.status != IBV_WC_SUCCESS))
			die("a request has failed");
		done += (unsigned)n;
	}
	return done;
}

static void client(const char *address, const char *port, bool now)
{
	struct rdma_cm_id *id = create(address, port);
	struct ibv_mr *mr = make_buffer(id);
	struct place peer;

	if (rdma_connect(id, NULL))
		die("cannot connect");
	memcpy(&peer, id->event->param.conn.private_data, sizeof peer);
	stop((pid_t)peer.pid);
	post(id, mr, &peer);
	if (now) {
		take(id, 0);
		go_on();
	} else {
		if (take(id, POLLS))
			die("completed, and the peer stands still");
		go_on();
		take(id, 0);
	}
	printf("completed %s\n", now ? "now" : "later");
	rdma_disconnect(id);
	rdma_destroy_ep(id);
	ibv_dereg_mr(mr);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		server(argv[2]);
	else if (argc == 5)
		client(argv[3], argv[2], !strcmp(argv[4], "now"));
	else
		return 2;
	return 0;
}
