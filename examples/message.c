/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shortest way to RDMA: a message each way, by the synchronous calls of librdmacm.
 *
 *     message PORT            waits for a message, answers it, ends
 *     message PORT SERVER     sends one, prints the answer
 *
 * rdma_create_ep() makes everything a connection needs: identifier, protection domain, completion
 * queues, queue pair. A receive must be posted before its message arrives: so before the
 * connection is there.
 */
#include "example.h"

#include <rdma/rdma_verbs.h>
#include <string.h>

#define SIZE 256

static struct ibv_qp_init_attr queues = {
	.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	.sq_sig_all = 1,
};

static void serve(const char *port)
{
	struct rdma_cm_id *listener = endpoint("::", port, RAI_PASSIVE, &queues);
	struct rdma_cm_id *id;
	char text[SIZE] = "";
	struct ibv_mr *mr;
	struct ibv_wc wc;

	CHECK(rdma_listen(listener, 0) == 0, "rdma_listen");
	CHECK(rdma_get_request(listener, &id) == 0, "rdma_get_request");
	mr = rdma_reg_msgs(id, text, SIZE);
	CHECK(mr != NULL, "rdma_reg_msgs");
	CHECK(rdma_post_recv(id, NULL, text, SIZE, mr) == 0, "rdma_post_recv");
	CHECK(rdma_accept(id, NULL) == 0, "rdma_accept");

	CHECK(rdma_get_recv_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "receive");
	printf("the client says: %.*s\n", (int)wc.byte_len, text);
	strcpy(text, "hello, client");
	CHECK(rdma_post_send(id, NULL, text, strlen(text), mr, 0) == 0, "rdma_post_send");
	CHECK(rdma_get_send_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "send");

	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
}

static void request(const char *server, const char *port)
{
	struct rdma_cm_id *id = endpoint(server, port, 0, &queues);
	char question[SIZE] = "hello, server", answer[SIZE] = "";
	struct ibv_mr *out = rdma_reg_msgs(id, question, SIZE);
	struct ibv_mr *in = rdma_reg_msgs(id, answer, SIZE);
	struct ibv_wc wc;

	CHECK(out != NULL && in != NULL, "rdma_reg_msgs");
	CHECK(rdma_post_recv(id, NULL, answer, SIZE, in) == 0, "rdma_post_recv");
	CHECK(rdma_connect(id, NULL) == 0, "rdma_connect");

	CHECK(rdma_post_send(id, NULL, question, strlen(question), out, 0) == 0, "rdma_post_send");
	CHECK(rdma_get_send_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "send");
	CHECK(rdma_get_recv_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "receive");
	printf("the server says: %.*s\n", (int)wc.byte_len, answer);

	rdma_disconnect(id);
	rdma_dereg_mr(out);
	rdma_dereg_mr(in);
	rdma_destroy_ep(id);
}

int main(int argc, char **argv)
{
	USAGE(argc, argv);
	if (argc == 2)
		serve(argv[1]);
	else
		request(argv[2], argv[1]);
	return 0;
}
