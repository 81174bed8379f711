/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who makes progress, and what it costs: a target whose application polls, computes, sleeps or
 * spins on memory, and a client that asks something of it. Each side prints one line of JSON: its
 * figures, and how much of a core its own thread and the engine's thread had.
 *
 *     progress polling|computing|sleeping|spinning                        the target, for one
 * client progress [-t SECONDS] latency|spin|rate|bandwidth ADDRESS           the client
 *
 * latency: RDMA Reads of 8 bytes, one at a time. spin: RDMA Writes of 8 bytes there and back, both
 * ends spin on memory; for a target that spins. rate: Writes of 8 bytes. bandwidth: of 1 MiB.
 */
#include "base/number.h"
#include "completion.h"
#include "sample.h"

#include <dirent.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT      "7481"
#define LARGE     (1 << 20)
#define DEPTH     128
#define SAMPLES   1000000
#define SECOND_NS UINT64_C(1000000000)

/** What the other side may write to and read. */
struct memory {
	_Atomic uint64_t word; /**< of spin: the number of this exchange */
	_Atomic uint64_t done;
	uint64_t read;
	uint8_t large[LARGE];
};

struct where {
	uint64_t addr;
	uint32_t rkey;
} __attribute__((packed));

/** Nanoseconds of processor time: of the thread that calls, and of the engine's. */
struct shares {
	uint64_t when, own, engine;
};

static struct memory memory;
static struct ibv_mr *mr;
static struct where peer;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "progress: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t thread_ns(const char *tid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%.16s/schedstat", tid);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%llu", &ns) != 1)
			ns = 0;
		fclose(f);
	}
	return ns;
}

static bool is_engine(const char *tid)
{
	char path[64], name[32] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", tid);
	f = fopen(path, "r");
	if (f) {
		if (!fgets(name, sizeof name, f))
			name[0] = 0;
		fclose(f);
	}
	return !strcmp(name, "uiwarp-engine\n");
}

static struct shares shares_now(void)
{
	struct shares s = {.when = sample_now_ns()};
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *d;

	if (!tasks)
		die("/proc/self/task");
	while ((d = readdir(tasks))) {
		if (atoi(d->d_name) == getpid())
			s.own = thread_ns(d->d_name);
		else if (is_engine(d->d_name))
			s.engine = thread_ns(d->d_name);
	}
	closedir(tasks);
	return s;
}

static void print_shares(struct shares from, struct shares to)
{
	double wall = (double)(to.when - from.when);

	printf("\"own\": %.4f, \"engine\": %.4f}\n", (double)(to.own - from.own) / wall,
		(double)(to.engine - from.engine) / wall);
	fflush(stdout);
}

/* ---- connecting --------------------------------------------------------------------------- */

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){.cap = {.max_send_wr = 2 * DEPTH,
						 .max_recv_wr = 4,
						 .max_send_sge = 1,
						 .max_recv_sge = 1,
						 .max_inline_data = 8},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1};
}

static struct rdma_cm_id *open_end(const char *address)
{
	struct rdma_addrinfo hints = {
		.ai_port_space = RDMA_PS_TCP, .ai_flags = address ? 0 : RAI_PASSIVE};
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(address ? address : "0.0.0.0", PORT, &hints, &info) ||
		rdma_create_ep(&id, info, NULL, &attr))
		die("rdma_create_ep");
	rdma_freeaddrinfo(info);
	return id;
}

/** @return what the other side is told: where this side's memory is. */
static struct where share_memory(struct rdma_cm_id *id)
{
	mr = ibv_reg_mr(id->pd, &memory, sizeof memory,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die("ibv_reg_mr");
	return (struct where){(uintptr_t)&memory, mr->rkey};
}

static struct rdma_conn_param param(const struct where *own)
{
	return (struct rdma_conn_param){.private_data = own,
		.private_data_len = sizeof *own,
		.initiator_depth = 4,
		.responder_resources = 4};
}

/** What the other side told; @p id has an event of it. */
static void hear_peer(const struct rdma_cm_id *id)
{
	const struct rdma_conn_param *conn = &id->event->param.conn;

	if (conn->private_data_len < sizeof peer) {
		errno = EPROTO;
		die("private data");
	}
	memcpy(&peer, conn->private_data, sizeof peer);
}

/* ---- work --------------------------------------------------------------------------------- */

static void post(struct rdma_cm_id *id, enum ibv_wr_opcode opcode, void *local, size_t offset,
	uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)local, length, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.wr.rdma = {peer.addr + offset, peer.rkey}};

	completion_post_send(id->qp, &wr);
}

/** Take what has completed, 16 at most. */
static unsigned reap(struct ibv_cq *cq)
{
	struct ibv_wc wc[16];

	return completion_reap(cq, wc, 16);
}

/** Write 8 bytes as ib_write_lat does: one completion, polled one at a time. */
static void write_word(struct rdma_cm_id *id, uint64_t value, size_t offset)
{
	struct ibv_wc wc;

	memory.read = value;
	post(id, IBV_WR_RDMA_WRITE, &memory.read, offset, 8);
	while (!completion_reap(id->send_cq, &wc, 1))
		;
}

/* ---- target ------------------------------------------------------------------------------- */

/** Something that takes the compiler no less time than it says, and calls nothing. */
static void compute(void)
{
	volatile uint64_t x = 1;

	while (!atomic_load_explicit(&memory.done, memory_order_acquire))
		for (unsigned i = 0; i < 1000; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
}

static void spin(struct rdma_cm_id *id)
{
	uint64_t seen = 0, word;

	while (!atomic_load_explicit(&memory.done, memory_order_acquire)) {
		word = atomic_load_explicit(&memory.word, memory_order_acquire);
		if (word == seen)
			continue;
		seen = word;
		write_word(id, word, offsetof(struct memory, word));
	}
}

static void serve(const char *mode)
{
	struct rdma_cm_id *listener = open_end(NULL), *id;
	struct shares from, to;
	struct rdma_conn_param answer;
	struct where own;
	struct ibv_wc wc;

	if (rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		die("rdma_listen");
	own = share_memory(id);
	hear_peer(id);
	answer = param(&own);
	if (rdma_post_recv(id, NULL, memory.large, 8, mr) || rdma_accept(id, &answer))
		die("rdma_accept");
	from = shares_now();
	if (!strcmp(mode, "polling"))
		while (!reap(id->recv_cq))
			;
	else if (!strcmp(mode, "computing"))
		compute();
	else if (!strcmp(mode, "spinning"))
		spin(id);
	else if (rdma_get_recv_comp(id, &wc) < 0)
		die("rdma_get_recv_comp");
	to = shares_now();
	printf("{");
	print_shares(from, to);
	rdma_disconnect(id);
}

/* ---- client ------------------------------------------------------------------------------- */

static uint64_t read_once(struct rdma_cm_id *id)
{
	uint64_t start = sample_now_ns();

	post(id, IBV_WR_RDMA_READ, &memory.read, 0, 8);
	while (!reap(id->send_cq))
		;
	return sample_now_ns() - start;
}

static uint64_t spin_once(struct rdma_cm_id *id, uint64_t number)
{
	uint64_t start = sample_now_ns();

	write_word(id, number, offsetof(struct memory, word));
	while (atomic_load_explicit(&memory.word, memory_order_acquire) != number)
		;
	return sample_now_ns() - start;
}

static void measure_latency(struct rdma_cm_id *id, bool spins, uint64_t end)
{
	uint64_t *sample = malloc(SAMPLES * sizeof *sample);
	size_t n = 0;

	if (!sample)
		die("malloc");
	while (n < SAMPLES && sample_now_ns() < end) {
		sample[n] = spins ? spin_once(id, n + 1) : read_once(id);
		n++;
	}
	sample_sort(sample, n);
	printf("{\"n\": %zu, \"us_p50\": %.3f, \"us_p99\": %.3f, ", n, (double)sample[n / 2] / 1e3,
		(double)sample[n * 99 / 100] / 1e3);
	free(sample);
}

/** Writes of @p length, at most @p depth under way. */
static void measure_stream(struct rdma_cm_id *id, uint32_t length, unsigned depth, uint64_t end)
{
	uint64_t start = sample_now_ns(), posted = 0, completed = 0;
	double seconds;

	while (sample_now_ns() < end) {
		while (posted - completed < depth) {
			post(id, IBV_WR_RDMA_WRITE, memory.large, offsetof(struct memory, large),
				length);
			posted++;
		}
		completed += reap(id->send_cq);
	}
	while (completed < posted)
		completed += reap(id->send_cq);
	/* The target has all of it when it has answered this. */
	read_once(id);
	seconds = (double)(sample_now_ns() - start) / 1e9;
	printf("{\"n\": %llu, \"mmsg_s\": %.4f, \"gbit_s\": %.4f, ", (unsigned long long)posted,
		(double)posted / seconds / 1e6, (double)posted * length * 8 / seconds / 1e9);
}

static void ask(const char *test, const char *address, uint64_t seconds)
{
	struct rdma_cm_id *id = open_end(address);
	struct where own = share_memory(id);
	struct rdma_conn_param request = param(&own);
	struct shares from, to;
	uint64_t end;

	if (rdma_connect(id, &request))
		die("rdma_connect");
	hear_peer(id);
	from = shares_now();
	end = from.when + seconds * SECOND_NS;
	if (!strcmp(test, "rate"))
		measure_stream(id, 8, DEPTH, end);
	else if (!strcmp(test, "bandwidth"))
		measure_stream(id, LARGE, 16, end);
	else
		measure_latency(id, !strcmp(test, "spin"), end);
	to = shares_now();
	print_shares(from, to);
	write_word(id, 1, offsetof(struct memory, done));
	post(id, IBV_WR_SEND, &memory.read, 0, 8);
	while (!reap(id->send_cq))
		;
	rdma_disconnect(id);
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static const char *const modes[] = {"polling", "computing", "sleeping", "spinning", NULL};
	static const char *const tests[] = {"latency", "spin", "rate", "bandwidth", NULL};
	uint64_t seconds = 1;
	bool bad = false;
	int opt;

	while ((opt = getopt(argc, argv, "t:")) != -1)
		bad |= opt != 't' || !number_parse(optarg, 1, 3600, &seconds);
	argc -= optind;
	argv += optind;
	if (!bad && argc == 1 && is_one_of(argv[0], modes)) {
		serve(argv[0]);
	} else if (!bad && argc == 2 && is_one_of(argv[0], tests)) {
		ask(argv[0], argv[1], seconds);
	} else {
		fprintf(stderr,
			"usage: progress polling|computing|sleeping|spinning\n"
			"       progress [-t SECONDS] latency|spin|rate|bandwidth ADDRESS\n");
		return 2;
	}
	return 0;
}
