/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message with immediate data, and one of nothing else, through librpma: what its example 10
 * does, whose Sends carry immediate data.
 *
 *     rpma ADDRESS PORT            the server
 *     rpma ADDRESS PORT TEXT       the client
 */
#include <inttypes.h>
#include <librpma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE  1024
#define WORD  0x5eed0001
#define TIMES 2

static char memory[SIZE] __attribute__((aligned(4096)));

/** librpma's own words for what went wrong. */
static void need(int status, const char *what)
{
	if (status == 0)
		return;
	printf("%s: %s\n", what, rpma_err_2str(status));
	exit(1);
}

static struct rpma_peer *peer_of(const char *address, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context;
	struct rpma_peer *peer;

	need(rpma_utils_get_ibv_context(address, type, &context), "find the device");
	need(rpma_peer_new(context, &peer), "make a peer");
	return peer;
}

static void wait_for(struct rpma_conn *conn, enum rpma_conn_event wanted)
{
	enum rpma_conn_event event;

	need(rpma_conn_next_event(conn, &event), "wait for an event");
	if (event == wanted)
		return;
	printf("%s, not %s\n", rpma_utils_conn_event_2str(event),
		rpma_utils_conn_event_2str(wanted));
	exit(1);
}

static struct ibv_wc completion(struct rpma_conn *conn, enum ibv_wc_opcode wanted)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;
	int status;

	need(rpma_conn_get_cq(conn, &cq), "find the completion queue");
	/* An event tells of all that have come. */
	while ((status = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		need(rpma_cq_wait(cq), "wait for a completion");
	need(status, "take a completion");
	if (wc.status == IBV_WC_SUCCESS && wc.opcode == wanted)
		return wc;
	printf("opcode %d: %s\n", wc.opcode, ibv_wc_status_str(wc.status));
	exit(1);
}

static void serve(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_ep *ep;

	need(rpma_mr_reg(peer, memory, SIZE, RPMA_MR_USAGE_RECV, &mr), "register memory");
	need(rpma_ep_listen(peer, address, port, &ep), "listen");
	need(rpma_ep_next_conn_req(ep, NULL, &req), "wait for a request");
	for (unsigned i = 0; i < TIMES; i++)
		need(rpma_conn_req_recv(req, mr, i * SIZE / TIMES, SIZE / TIMES, NULL),
			"post a receive");
	need(rpma_conn_req_connect(&req, NULL, &conn), "accept");
	wait_for(conn, RPMA_CONN_ESTABLISHED);
	for (unsigned i = 0; i < TIMES; i++) {
		struct ibv_wc wc = completion(conn, IBV_WC_RECV);
		bool has_word = wc.wc_flags & IBV_WC_WITH_IMM;

		printf("received \"%.*s\" with 0x%" PRIx32 "\n", (int)wc.byte_len,
			memory + i * SIZE / TIMES, has_word ? be32toh(wc.imm_data) : 0);
	}
	wait_for(conn, RPMA_CONN_CLOSED);
	need(rpma_conn_disconnect(conn), "disconnect");
	need(rpma_conn_delete(&conn), "end the connection");
	need(rpma_ep_shutdown(&ep), "listen no more");
	need(rpma_mr_dereg(&mr), "release the memory");
	need(rpma_peer_delete(&peer), "end the peer");
}

static void ask(const char *address, const char *port, const char *text)
{
	struct rpma_peer *peer = peer_of(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	snprintf(memory, SIZE, "%s", text);
	need(rpma_mr_reg(peer, memory, SIZE, RPMA_MR_USAGE_SEND, &mr), "register memory");
	need(rpma_conn_req_new(peer, address, port, NULL, &req), "ask");
	need(rpma_conn_req_connect(&req, NULL, &conn), "connect");
	wait_for(conn, RPMA_CONN_ESTABLISHED);
	need(rpma_send_with_imm(conn, mr, 0, strlen(memory), RPMA_F_COMPLETION_ALWAYS, WORD, NULL),
		"send");
	completion(conn, IBV_WC_SEND);
	need(rpma_send_with_imm(conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, WORD + 1, NULL),
		"send nothing");
	completion(conn, IBV_WC_SEND);
	printf("sent\n");
	need(rpma_conn_disconnect(conn), "disconnect");
	wait_for(conn, RPMA_CONN_CLOSED);
	need(rpma_conn_delete(&conn), "end the connection");
	need(rpma_mr_dereg(&mr), "release the memory");
	need(rpma_peer_delete(&peer), "end the peer");
}

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 4) {
		printf("usage: rpma ADDRESS PORT [TEXT]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3)
		serve(argv[1], argv[2]);
	else
		ask(argv[1], argv[2], argv[3]);
	return 0;
}
