/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One-sided: the client writes into the server's memory and reads it back, while the server's
 * program does nothing but wait for the end.
 *
 *     window PORT             offers 1 MiB, says what is in it when the client is done
 *     window PORT SERVER      fills it, reads it, compares
 *
 * Where the memory is (address and key) rides in the private data of the connection's reply. When
 * the client's last message arrives, so has all that was written before it.
 */
#include "example.h"

#include <rdma/rdma_verbs.h>
#include <stdint.h>
#include <string.h>

#define SIZE (1u << 20)

/* As the two agree to send it. Both ends are of one byte order here; real protocols say which. */
struct place {
	uint64_t address;
	uint32_t key;
	uint32_t size;
};

static struct ibv_qp_init_attr queues = {
	.cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	.sq_sig_all = 1,
};

static void serve(const char *port)
{
	struct rdma_cm_id *listener = endpoint(NULL, port, RAI_PASSIVE, &queues);
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	uint8_t *memory = calloc(1, SIZE);
	struct rdma_cm_id *id;
	struct place place;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	uint64_t sum = 0;

	CHECK(rdma_listen(listener, 0) == 0, "rdma_listen");
	CHECK(rdma_get_request(listener, &id) == 0, "rdma_get_request");
	/* iWARP wants local write with remote write; reading it from afar is another right. */
	mr = ibv_reg_mr(id->pd, memory, SIZE,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	CHECK(mr != NULL, "ibv_reg_mr");
	place = (struct place){(uintptr_t)memory, mr->rkey, SIZE};
	param.private_data = &place;
	param.private_data_len = sizeof place;
	/* The message at the end has no content, so its receive has no buffer. */
	CHECK(rdma_post_recvv(id, NULL, NULL, 0) == 0, "rdma_post_recvv");
	CHECK(rdma_accept(id, &param) == 0, "rdma_accept");

	CHECK(rdma_get_recv_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "receive");
	for (size_t i = 0; i < SIZE; i++)
		sum += memory[i];
	printf("the client wrote %u bytes, their sum is %llu\n", SIZE, (unsigned long long)sum);

	rdma_disconnect(id);
	ibv_dereg_mr(mr);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
	free(memory);
}

static void done(struct rdma_cm_id *id, const char *what)
{
	struct ibv_wc wc;

	CHECK(rdma_get_send_comp(id, &wc) == 1, what);
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "%s: %s\n", what, ibv_wc_status_str(wc.status));
		exit(1);
	}
}

static void use(const char *server, const char *port)
{
	struct rdma_cm_id *id = endpoint(server, port, 0, &queues);
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	uint8_t *out = malloc(SIZE), *in = calloc(1, SIZE);
	struct ibv_mr *out_mr, *in_mr;
	struct place place;
	uint64_t sum = 0;

	for (size_t i = 0; i < SIZE; i++)
		sum += out[i] = (uint8_t)(i * i >> 3);
	out_mr = rdma_reg_msgs(id, out, SIZE);
	/*
	 * An RDMA Read's data comes as if written from afar: iWARP wants that right for its sink.
	 */
	in_mr = rdma_reg_write(id, in, SIZE);
	CHECK(out_mr != NULL && in_mr != NULL, "registration");
	CHECK(rdma_connect(id, &param) == 0, "rdma_connect");
	if (id->event->param.conn.private_data_len < sizeof place) {
		fprintf(stderr, "the server did not say where its memory is\n");
		exit(1);
	}
	memcpy(&place, id->event->param.conn.private_data, sizeof place);

	CHECK(rdma_post_write(id, NULL, out, SIZE, out_mr, 0, place.address, place.key) == 0,
		"rdma_post_write");
	done(id, "write");
	CHECK(rdma_post_read(id, NULL, in, SIZE, in_mr, 0, place.address, place.key) == 0,
		"rdma_post_read");
	done(id, "read");
	CHECK(memcmp(out, in, SIZE) == 0, "what was read is not what was written");
	CHECK(rdma_post_sendv(id, NULL, NULL, 0, 0) == 0, "rdma_post_sendv");
	done(id, "send");
	printf("wrote and read %u bytes, their sum is %llu\n", SIZE, (unsigned long long)sum);

	rdma_disconnect(id);
	rdma_dereg_mr(out_mr);
	rdma_dereg_mr(in_mr);
	rdma_destroy_ep(id);
	free(out);
	free(in);
}

int main(int argc, char **argv)
{
	USAGE(argc, argv);
	if (argc == 2)
		serve(argv[1]);
	else
		use(argv[2], argv[1]);
	return 0;
}
