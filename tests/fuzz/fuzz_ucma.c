/* SPDX-License-Identifier: BSD-2-Clause */
/* The rdma_cm device under hostile commands, over a double of the endpoints. */
#include "base/ip_addr.h"
#include "fuzz.h"
#include "provider/cm/call.h"
#include "support/ep_fake.h"
#include "support/ucma_end.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define GUID 0x0102030405060708u

/** Where in a command's payload the program says where its answer or value is. */
static const uint8_t pointer_at[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = offsetof(struct rdma_ucm_create_id, response),
	[RDMA_USER_CM_CMD_DESTROY_ID] = offsetof(struct rdma_ucm_destroy_id, response),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = offsetof(struct rdma_ucm_query, response),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = offsetof(struct rdma_ucm_init_qp_attr, response),
	[RDMA_USER_CM_CMD_GET_EVENT] = offsetof(struct rdma_ucm_get_event, response),
	[RDMA_USER_CM_CMD_SET_OPTION] = offsetof(struct rdma_ucm_set_option, optval),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = offsetof(struct rdma_ucm_migrate_id, response),
	[RDMA_USER_CM_CMD_QUERY] = offsetof(struct rdma_ucm_query, response),
};
static const bool has_pointer[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = true,
	[RDMA_USER_CM_CMD_DESTROY_ID] = true,
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = true,
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = true,
	[RDMA_USER_CM_CMD_GET_EVENT] = true,
	[RDMA_USER_CM_CMD_SET_OPTION] = true,
	[RDMA_USER_CM_CMD_MIGRATE_ID] = true,
	[RDMA_USER_CM_CMD_QUERY] = true,
};
#define COMMANDS (sizeof has_pointer / sizeof has_pointer[0])

struct world {
	struct fuzz *in;
	struct ucma *u;
	int fd[2];
};

/** A pointer that is good for what the header says, or for an option's value; or NULL. */
static void set_pointer(uint32_t cmd, uint8_t *payload, size_t n, void *room)
{
	uint64_t value = (uintptr_t)room;
	size_t at;

	if (cmd >= COMMANDS || !has_pointer[cmd])
		return;
	at = pointer_at[cmd];
	if (n < at || n - at < sizeof value)
		return;
	if (payload[at] != 0xff) /* else NULL */
		memcpy(payload + at, &value, sizeof value);
	else
		memset(payload + at, 0, sizeof value);
}

/** MIGRATE_ID names a descriptor: one of ours, or none. */
static void set_descriptor(const struct world *w, uint32_t cmd, uint8_t *payload, size_t n)
{
	struct rdma_ucm_migrate_id q;

	if (cmd != RDMA_USER_CM_CMD_MIGRATE_ID || n < sizeof q)
		return;
	memcpy(&q, payload, sizeof q);
	q.fd = q.fd % 3 == 2 ? q.fd : (uint32_t)w->fd[q.fd % 3];
	memcpy(payload, &q, sizeof q);
}

static void command(struct world *w, uint8_t op)
{
	struct rdma_ucm_cmd_hdr h = {.cmd = fuzz_u8(w->in)};
	size_t want = fuzz_u16(w->in) % 640, got;
	uint8_t *buf = malloc(sizeof h + want + 1), *room;
	const uint8_t *p;
	ssize_t done;

	if (h.cmd < 0xf0)
		h.cmd %= COMMANDS + 6;
	h.out = op & 16 ? fuzz_u16(w->in) : 512;
	p = fuzz_bytes(w->in, want, &got);
	h.in = op & 32 ? fuzz_u16(w->in) : (uint16_t)want;
	room = malloc(h.out + 8u); /* exactly what the header says, but for an option's value */
	MUST(buf && room);
	memcpy(buf, &h, sizeof h);
	memset(buf + sizeof h, 0, want);
	memcpy(buf + sizeof h, p, got);
	memset(room, fuzz_u8(w->in), h.out + 8u);
	if (h.cmd != RDMA_USER_CM_CMD_SET_OPTION) {
		free(room);
		room = malloc(h.out ? h.out : 1u);
		MUST(room);
	}
	set_pointer(h.cmd, buf + sizeof h, want, room);
	set_descriptor(w, h.cmd, buf + sizeof h, want);
	errno = 0;
	done = ucma_write(w->u, w->fd[op >> 6 & 1], buf, sizeof h + want);
	MUST(done < 0 ? errno > 0 : done == (ssize_t)(sizeof h + want));
	free(room);
	free(buf);
}

static void event(struct world *w)
{
	uint8_t type = fuzz_u8(w->in) % (RNIC_EP_DEVICE_REMOVAL + 1), data[64] = "data";
	struct rnic_ep *last = ep_fake.last;

	if (!last)
		return;
	if (type == RNIC_EP_CONNECT_REQUEST) {
		ep_fake_request(last, "10.0.0.1", "10.0.0.2", data, fuzz_u8(w->in) % 64);
		ep_fake.last = last; /* the request is nobody's yet: nothing happens to it */
	} else if (fuzz_u8(w->in) & 1) {
		ep_fake_emit(last, type, -ECONNRESET);
	} else {
		ep_fake_emit_data(last, type, data, fuzz_u8(w->in) % 64, 300, 300);
	}
}

static void step(struct world *w)
{
	uint8_t op = fuzz_u8(w->in);

	switch (op & 15) {
	default:
		command(w, op);
		break;
	case 12:
	case 13:
		event(w);
		break;
	case 14:
		ep_fake.fail = -(int)(fuzz_u8(w->in) % 100);
		break;
	case 15:
		if (op & 128) {
			unsigned k = op >> 6 & 1;

			ucma_close(w->u, w->fd[k]);
			close(w->fd[k]);
			w->fd[k] = ucma_open(w->u, O_NONBLOCK | O_CLOEXEC);
			MUST(w->fd[k] >= 0);
		}
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	struct world w = {.in = &in};
	uint8_t bits = fuzz_u8(&in);

	ep_fake_reset();
	ep_fake.resolve_at_once = bits & 1;
	ep_fake.establish_at_once = bits & 2;
	ep_fake.has_ud = bits & 4;
	MUST(!ucma_create(ep_fake_rnic(), GUID, &w.u));
	for (unsigned k = 0; k < 2; k++) {
		w.fd[k] = ucma_open(w.u, O_NONBLOCK | O_CLOEXEC);
		MUST(w.fd[k] >= 0);
	}
	while (in.left)
		step(&w);
	ucma_close(w.u, w.fd[0]);
	close(w.fd[0]);
	ucma_destroy(w.u); /* closes the other channel; its descriptor is ours */
	close(w.fd[1]);
	MUST(ep_fake.live == 0);
	return 0;
}
