/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA opposite a hostile stream: start-up frames and FPDUs, in segments of any size. */
#include "base/bytes.h"
#include "fuzz.h"
#include "mpa/mpa.h"
#include "support/llp_mem.h"

#define STEPS_MAX 2000000
/** Bytes sent for one input at most, either way: it may ask for one segment per byte. */
#define BUDGET (1 << 18)

struct user {
	struct fuzz *in;
	struct llp_mem *net;
	struct llp_mem_peer peer;
	struct mpa_config config;
	struct mpa *m; /* NULL once it is over: its own allocation, so that late uses are seen */
	struct mpa_enframe peer_tx; /* the peer counts for its markers */
	unsigned operational, ended;
	uint32_t sent;
};

static void end(struct user *u, bool abortive)
{
	if (!u->m)
		return;
	if (abortive)
		mpa_abort(u->m);
	else
		mpa_release(u->m);
	free(u->m);
	u->m = NULL;
}

static void answer(struct user *u, uint32_t len, bool join)
{
	uint8_t *room = u->m && u->sent < BUDGET ? mpa_reserve(u->m, len, join) : NULL;

	if (!room)
		return;
	MUST(len <= MPA_MULPDU_MAX);
	u->sent += len;
	memset(room, 0x5a, len);
	if (len & 1)
		mpa_cancel(u->m);
	else
		mpa_commit(u->m);
	mpa_push(u->m);
}

/** What a user may do in an upcall, as the input says. */
static void whim(struct user *u)
{
	uint8_t op = fuzz_u8(u->in);

	if (!u->m)
		return;
	switch (op & 15) {
	case 1:
		end(u, true);
		break;
	case 2:
		end(u, false);
		break;
	case 3:
		mpa_shutdown(u->m);
		break;
	case 4:
		mpa_drop_input(u->m);
		break;
	case 5:
		mpa_rx_resume(u->m);
		break;
	case 6:
	case 7:
		answer(u, 1 + fuzz_u16(u->in) % MPA_ULPDU_MAX, op & 16);
		break;
	}
}

static void on_connected(void *user)
{
	struct user *u = user;

	MUST(mpa_mulpdu(u->m) >= MPA_MULPDU_MIN);
	mpa_request(u->m, fuzz_u16(u->in), fuzz_u16(u->in), "hello", fuzz_u8(u->in) % 6);
}

static void read_start(const struct mpa_start *st)
{
	MUST(st->private_len <= MPA_PRIVATE_MAX);
	fuzz_touch(st->private_data, st->private_len);
}

static void on_request(void *user, const struct mpa_start *st)
{
	struct user *u = user;
	uint8_t op = fuzz_u8(u->in);

	read_start(st);
	if (op == 1) {
		if (mpa_reject(u->m, "no", 2) != 0)
			mpa_abort(u->m);
		free(u->m);
		u->m = NULL;
	} else if (op == 2) {
		whim(u);
	} else if (op != 3) {
		mpa_accept(u->m, st->ord, st->ird, st->rtr & (uint8_t)-st->rtr, "yes", op % 4);
	}
}

static void on_reply(void *user, const struct mpa_start *st)
{
	struct user *u = user;

	read_start(st);
	if (st->reject)
		end(u, false);
	else
		whim(u);
}

static void on_operational(void *user, const struct mpa_ulpdu *first)
{
	struct user *u = user;

	MUST(u->operational++ == 0);
	whim(u);
}

static void on_ulpdu(void *user, const struct mpa_ulpdu *p)
{
	struct user *u = user;
	struct mpa_cursor c = p->at;

	MUST(p->len <= MPA_ULPDU_MAX && u->operational == 1);
	for (uint32_t i = 0; i < p->len; i++, mpa_cursor_advance(&c, 1))
		fuzz_touch(mpa_cursor_at(&c), 1);
	whim(u);
}

static uint32_t kept(const struct mpa_ulpdu *p)
{
	return p->len < 14 ? p->len : 14;
}

/* No whim here: this upcall only looks. */
static uint32_t on_placement(void *user, const struct mpa_ulpdu *p)
{
	struct user *u = user;
	struct mpa_cursor c = p->at;

	MUST(p->len <= MPA_ULPDU_MAX && u->operational == 1);
	for (uint32_t i = 0; i < p->len; i++, mpa_cursor_advance(&c, 1))
		fuzz_touch(mpa_cursor_at(&c), 1);
	return kept(p);
}

static bool on_place(void *user, const struct mpa_ulpdu *p)
{
	struct user *u = user;

	on_placement(user, p);
	return (fuzz_u8(u->in) & 7) != 0;
}

static void on_placed(void *user, const struct mpa_ulpdu *p, bool whole)
{
	struct user *u = user;
	uint8_t copy[14];
	struct mpa_cursor c = p->at;

	MUST(u->operational == 1);
	mpa_cursor_copy(&c, copy, kept(p));
	whim(u);
}

static void on_other(void *user)
{
	whim(user);
}

static void on_error(void *user, enum mpa_error code, const char *reason)
{
	struct user *u = user;

	MUST(reason && u->ended++ == 0);
	if (fuzz_u8(u->in) & 1)
		answer(u, 64, false);
	end(u, fuzz_u8(u->in) & 1);
}

static void on_closed(void *user, int error)
{
	struct user *u = user;

	MUST(u->m && error <= 0);
	free(u->m);
	u->m = NULL;
}

static const struct mpa_user_ops ops = {
	.connected = on_connected,
	.request = on_request,
	.reply = on_reply,
	.operational = on_operational,
	.ulpdu = on_ulpdu,
	.placement = on_placement,
	.place = on_place,
	.placed = on_placed,
	.rx_done = on_other,
	.writable = on_other,
	.eof = on_other,
	.error = on_error,
	.closed = on_closed,
};

static const struct llp_user_ops no_ops;

static int accept_one(void *user, struct llp *l)
{
	struct user *u = user;

	if (!u->m)
		return -1;
	mpa_init_responder(u->m, l, &u->config, &ops, u);
	return 0;
}

static void connect_them(struct user *u, bool initiator)
{
	if (initiator) {
		struct llp_connect_params p = {.remote = llp_mem_endpoint(u->net, 1, 7174)};
		struct llp *l;

		llp_mem_peer_listen(&u->peer, u->net, 1, 7174);
		MUST(!llp_connect(llp_mem_stack(u->net, 0), &p, &no_ops, NULL, &l));
		mpa_init_initiator(u->m, l, &u->config, &ops, u);
	} else {
		struct ip_endpoint at = llp_mem_endpoint(u->net, 0, 7174);
		struct llp_listener *listener;

		MUST(!llp_listen(llp_mem_stack(u->net, 0), &at, 1, accept_one, u, &listener));
		llp_mem_peer_connect(&u->peer, u->net, 1, &at);
	}
	llp_mem_run(u->net, STEPS_MAX);
}

/** A start-up frame that is right but for what the input makes of it. */
static void send_start(struct user *u, bool reply)
{
	uint8_t frame[MPA_FRAME_MAX] = {0};
	uint16_t len = fuzz_u8(u->in);

	memcpy(frame, reply ? MPA_REPLY_KEY : MPA_REQUEST_KEY, MPA_KEY_LEN);
	frame[MPA_AT_FLAGS] = fuzz_u8(u->in);
	frame[MPA_AT_REVISION] = fuzz_u8(u->in);
	store_be16(frame + MPA_AT_PD_LENGTH, len);
	store_be16(frame + MPA_AT_PRIVATE_DATA + MPA_AT_IRD, fuzz_u16(u->in));
	store_be16(frame + MPA_AT_PRIVATE_DATA + MPA_AT_ORD, fuzz_u16(u->in));
	llp_mem_send_raw(u->peer.llp, frame, MPA_HEADER_LEN + len);
	mpa_enframe_init(&u->peer_tx, true, u->config.markers);
}

static void send_fpdu(struct user *u, uint32_t len)
{
	uint32_t total = mpa_enframe_len(&u->peer_tx, len);
	uint8_t *fpdu = calloc(1, total);
	size_t got;
	const uint8_t *p = fuzz_bytes(u->in, len < 64 ? len : 64, &got);

	MUST(fpdu);
	u->sent += len;
	memcpy(fpdu + mpa_enframe_lead(&u->peer_tx), p, got);
	mpa_enframe_finish(&u->peer_tx, fpdu, len);
	llp_mem_send_raw(u->peer.llp, fpdu, total);
	free(fpdu);
}

/* Bytes of any kind, which are also a part of some stream that came out of order. */
static void send_raw(struct user *u)
{
	size_t got;
	const uint8_t *p = fuzz_bytes(u->in, 1u + fuzz_u8(u->in), &got);
	const struct llp_iov v = {.base = p, .len = got};
	const struct mpa_cursor c = {.v = &v, .n = 1};
	struct mpa_deframe d = {.crc = true, .markers = got & 1};
	uint64_t at = fuzz_u32(u->in), start;
	struct mpa_fpdu f;

	if (!got)
		return;
	llp_mem_send_raw(u->peer.llp, p, got);
	u->peer_tx.at += got;
	if (mpa_deframe_find(&d, at, &c, got, &start))
		MUST(start >= at && start < at + got);
	d.at = at;
	if (mpa_deframe_look(&d, &c, got, &f) == MPA_DEFRAME_GOOD)
		MUST(f.len <= got && f.ulpdu.len < f.len);
}

static void step(struct user *u, bool initiator)
{
	uint8_t op = fuzz_u8(u->in);

	if (!u->peer.llp || op >= 0xf8) {
		whim(u);
		return;
	}
	switch (op & 7) {
	case 0:
	case 1:
		send_raw(u);
		break;
	case 2:
		send_start(u, initiator);
		break;
	case 3:
		send_fpdu(u, fuzz_u8(u->in));
		break;
	case 4:
		if (u->sent < BUDGET)
			send_fpdu(u, fuzz_u16(u->in));
		break;
	case 5:
		llp_shutdown(u->peer.llp);
		break;
	case 6:
		if (op & 0x80) {
			llp_mem_fail(u->peer.llp, -104);
		} else if (op & 0x40) {
			if (u->m) /* as if much had come before, and all of it aligned */
				u->m->rx_aligned = MPA_ALIGNED_ENOUGH;
			llp_mem_ooo(u->peer.llp, 1u + (op >> 3 & 7));
		}
		break;
	default:
		llp_mem_run(u->net, STEPS_MAX);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	struct user u = {.in = &in, .net = llp_mem_create()};
	uint8_t bits = fuzz_u8(&in), segment = fuzz_u8(&in), more = fuzz_u8(&in);
	bool initiator = bits & 1;

	u.m = calloc(1, sizeof *u.m);
	MUST(u.m);
	u.config = (struct mpa_config){.revision = bits & 2 ? 1 : 2,
		.crc = bits & 4 ? MPA_CRC_PREFERRED + (more >> 1 & 1) : MPA_CRC_OFF,
		.markers = more & 1,
		.fpdu_max = more & 4 ? 600 : 0,
		.rtr = bits >> 4 & 7,
		.peer_to_peer = bits & 8};
	if (bits & 0x80)
		llp_mem_set_random_segment(u.net, 1u + segment, segment);
	else
		llp_mem_set_segment(u.net, segment);
	llp_mem_set_buffer(u.net, 1 << 16);
	connect_them(&u, initiator);
	while (in.left)
		step(&u, initiator);
	llp_mem_run(u.net, STEPS_MAX);
	end(&u, true);
	llp_mem_peer_done(&u.peer);
	llp_mem_run(u.net, STEPS_MAX);
	MUST(llp_mem_open_count(u.net) == 0);
	llp_mem_destroy(u.net);
	return 0;
}
