/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write with Immediate and Atomics between two processes, by nothing but libibverbs and librdmacm.
 *
 *     rfc7306 -p PORT                the server: gives out a buffer, checks what arrives in it
 *     rfc7306 -p PORT ADDRESS        the client: writes, counts, swaps
 *
 * Each prints a line for every step that was right, and ends with status 1 at the first that was
 * not.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER  (1 << 20)
#define DEPTH   16
#define COUNTER 0 /* words of the server's buffer */
#define LOCK    1
#define ADDS    1000

/* What the server tells in its private data. */
struct place {
	uint64_t addr;
	uint32_t rkey;
} __attribute__((packed));

static const uint32_t sizes[] = {0, 1, 7, 4096, 65536, BUFFER};
#define SIZES (sizeof sizes / sizeof sizes[0])

struct end {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct place peer;
};

static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "rfc7306: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(1);
}

static uint8_t pattern(uint32_t size, uint32_t i)
{
	return (uint8_t)(size + i * 13 + (i >> 8));
}

static struct rdma_addrinfo *resolve(const char *address, const char *port)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *found;

	if (!address)
		hints.ai_flags = RAI_PASSIVE;
	if (rdma_getaddrinfo(address, port, &hints, &found))
		die("cannot resolve %s", address ? address : "the port");
	return found;
}

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 16}};
}

static void make_buffer(struct end *e)
{
	e->buf = aligned_alloc(64, BUFFER);
	memset(e->buf, 0, BUFFER);
	e->mr = ibv_reg_mr(e->id->pd, e->buf, BUFFER,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (!e->mr)
		die("cannot register the buffer");
}

static struct ibv_wc take(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	if (n < 0 || wc.status != IBV_WC_SUCCESS)
		die("completion: %s", n < 0 ? "none" : ibv_wc_status_str(wc.status));
	return wc;
}

/* Receives for Writes with Immediate need no buffer. */
static void post_receives(struct end *e, unsigned n)
{
	struct ibv_recv_wr wr = {0}, *bad;

	for (unsigned i = 0; i < n; i++)
		if (ibv_post_recv(e->id->qp, &wr, &bad))
			die("cannot post a receive");
}

static void post(struct end *e, struct ibv_send_wr *wr, enum ibv_wc_opcode expected)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	if (ibv_post_send(e->id->qp, wr, &bad))
		die("cannot post");
	wc = take(e->id->send_cq);
	if (wc.opcode != expected)
		die("completion of %d, not %d", wc.opcode, expected);
}

static struct ibv_send_wr write_imm(
	const struct end *e, struct ibv_sge *sge, uint32_t size, uint32_t imm)
{
	*sge = (struct ibv_sge){.addr = (uintptr_t)e->buf, .length = size, .lkey = e->mr->lkey};
	return (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.sg_list = sge,
		.num_sge = size != 0,
		.imm_data = htonl(imm),
		.wr.rdma = {.remote_addr = e->peer.addr, .rkey = e->peer.rkey}};
}

static void expect_imm_of(
	const struct end *e, enum ibv_wc_opcode opcode, uint32_t size, uint32_t imm)
{
	struct ibv_wc wc = take(e->id->recv_cq);

	if (wc.opcode != opcode || !(wc.wc_flags & IBV_WC_WITH_IMM) || ntohl(wc.imm_data) != imm ||
		wc.byte_len != size)
		die("opcode %d, flags %x, data %x, length %u; not %x and %u", wc.opcode,
			wc.wc_flags, ntohl(wc.imm_data), wc.byte_len, imm, size);
}

static void expect_imm(const struct end *e, uint32_t size, uint32_t imm)
{
	expect_imm_of(e, IBV_WC_RECV_RDMA_WITH_IMM, size, imm);
}

/* ---- server ------------------------------------------------------------------------------ */

static void serve_writes(struct end *e)
{
	for (unsigned k = 0; k < SIZES; k++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = write_imm(e, &sge, 0, k);

		expect_imm(e, sizes[k], 0xabcd0000 + k);
		for (uint32_t i = 0; i < sizes[k]; i++)
			if (e->buf[i] != pattern(sizes[k], i))
				die("byte %u of %u is wrong", i, sizes[k]);
		printf("arrived %u\n", sizes[k]);
		if (k == SIZES - 1)
			memset(e->buf, 0, BUFFER);
		post(e, &wr, IBV_WC_RDMA_WRITE); /* the client may write again */
	}
}

static void serve_atomics(struct end *e)
{
	_Atomic uint64_t *words = (_Atomic uint64_t *)(void *)e->buf;

	/* Count in the same word as the client. */
	for (unsigned i = 0; i < ADDS; i++)
		atomic_fetch_add(&words[COUNTER], 1);
	expect_imm(e, 0, 1);
	if (words[COUNTER] != 2 * ADDS)
		die("counted to %lu, not %u", (unsigned long)words[COUNTER], 2 * ADDS);
	if (words[LOCK] != 43)
		die("the lock is %lu", (unsigned long)words[LOCK]);
	printf("counted %u\n", 2 * ADDS);
	/* Between uiwarps a Send has immediate data, too. */
	expect_imm_of(e, IBV_WC_RECV, 0, 2);
	printf("sent with immediate\n");
}

static void server(const char *port)
{
	struct rdma_addrinfo *ai = resolve(NULL, port);
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_cm_id *listener;
	struct end e = {0};
	struct place here;
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4, .private_data_len = sizeof here};

	if (rdma_create_ep(&listener, ai, NULL, &attr) || rdma_listen(listener, 1))
		die("cannot listen");
	if (rdma_get_request(listener, &e.id))
		die("no request");
	make_buffer(&e);
	post_receives(&e, DEPTH);
	here = (struct place){(uintptr_t)e.buf, e.mr->rkey};
	param.private_data = &here;
	memcpy(&e.peer, e.id->event->param.conn.private_data, sizeof e.peer);
	if (rdma_accept(e.id, &param))
		die("cannot accept");
	serve_writes(&e);
	serve_atomics(&e);
	rdma_disconnect(e.id);
	ibv_dereg_mr(e.mr);
	rdma_destroy_ep(e.id);
	rdma_destroy_ep(listener);
	rdma_freeaddrinfo(ai);
	free(e.buf);
}

/* ---- client ------------------------------------------------------------------------------ */

static void write_all(struct end *e)
{
	for (unsigned k = 0; k < SIZES; k++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = write_imm(e, &sge, sizes[k], 0xabcd0000 + k);

		for (uint32_t i = 0; i < sizes[k]; i++)
			e->buf[i] = pattern(sizes[k], i);
		post(e, &wr, IBV_WC_RDMA_WRITE);
		expect_imm(e, 0, k);
		printf("written %u\n", sizes[k]);
	}
}

/* @return the value before. */
static uint64_t atomic(
	struct end *e, enum ibv_wr_opcode op, unsigned word, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = {.addr = (uintptr_t)e->buf, .length = 8, .lkey = e->mr->lkey};
	struct ibv_send_wr wr = {.opcode = op,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.atomic = {.remote_addr = e->peer.addr + 8 * word,
			.rkey = e->peer.rkey,
			.compare_add = compare_add,
			.swap = swap}};
	uint64_t before;

	post(e, &wr, op == IBV_WR_ATOMIC_FETCH_AND_ADD ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP);
	memcpy(&before, e->buf, sizeof before);
	return before;
}

static void count(struct end *e)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < ADDS; i++) {
		uint64_t before = atomic(e, IBV_WR_ATOMIC_FETCH_AND_ADD, COUNTER, 1, 0);

		if (before < last || (i != 0 && before == last))
			die("the counter went from %lu to %lu", (unsigned long)last,
				(unsigned long)before);
		last = before;
	}
	if (atomic(e, IBV_WR_ATOMIC_CMP_AND_SWP, LOCK, 0, 42) != 0 ||
		atomic(e, IBV_WR_ATOMIC_CMP_AND_SWP, LOCK, 0, 99) != 42 ||
		atomic(e, IBV_WR_ATOMIC_CMP_AND_SWP, LOCK, 42, 43) != 42)
		die("the lock was not what it should be");
	printf("added %u\n", ADDS);
}

static void client(const char *address, const char *port)
{
	struct rdma_addrinfo *ai = resolve(address, port);
	struct ibv_qp_init_attr attr = qp_attr();
	struct ibv_device_attr device;
	struct end e = {0};
	struct place here;
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4, .private_data_len = sizeof here};
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	if (rdma_create_ep(&e.id, ai, NULL, &attr))
		die("cannot create the endpoint");
	if (ibv_query_device(e.id->verbs, &device) || device.atomic_cap == IBV_ATOMIC_NONE)
		die("the device has no atomics");
	make_buffer(&e);
	post_receives(&e, DEPTH);
	here = (struct place){(uintptr_t)e.buf, e.mr->rkey};
	param.private_data = &here;
	if (rdma_connect(e.id, &param))
		die("cannot connect");
	memcpy(&e.peer, e.id->event->param.conn.private_data, sizeof e.peer);
	write_all(&e);
	count(&e);
	wr = write_imm(&e, &sge, 0, 1);
	post(&e, &wr, IBV_WC_RDMA_WRITE);
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htonl(2);
	post(&e, &wr, IBV_WC_SEND);
	rdma_disconnect(e.id);
	ibv_dereg_mr(e.mr);
	rdma_destroy_ep(e.id);
	rdma_freeaddrinfo(ai);
	free(e.buf);
}

int main(int argc, char **argv)
{
	const char *port = "7306";
	int c;

	while ((c = getopt(argc, argv, "p:")) != -1) {
		if (c != 'p')
			return 2;
		port = optarg;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (optind < argc)
		client(argv[optind], port);
	else
		server(port);
	return 0;
}
