/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host under test and a foreign RNIC set up a stream, do all that the RFCs allow to each other,
 * and end it. In some runs the peer does one illegal thing. Then all must come to its end.
 *
 * usage: test_foreign_rnic [FROM:TO | SEED]    (one SEED: and prints each segment)
 */
#include "foreign_host.h"
#include "support/seeds.h"
#include "support/thorough.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** How a stream ends. */
enum ending {
	END_BY_PEER,
	END_BY_HOST,
	END_BY_BOTH,
	END_ABORTED,    /**< by the peer's TCP */
	END_STOPPED,    /**< the host's program moves its queue pair to ERROR */
	END_TERMINATED, /**< by a Terminate of the peer */
	END_MUTE,       /**< the host disconnects, and the peer says no more */
	ENDINGS
};

/** Virtual time in which all must have ended: the longest of the host's own limits, and some. */
#define PATIENCE_MS 30000
#define ROUNDS_MOST 30000

static struct seeds seeds = {.first = 1, .last = 5000, .step = THOROUGH_STEP(10)};

static struct foreign_world world;
static struct foreign_rnic peer;
static struct foreign_host host;

static struct run {
	enum ending ending;
	bool early;  /**< it ends while all is under way */
	bool ended;  /**< the end has begun */
	bool breaks; /**< the peer shall do something illegal */
	bool silent; /**< behind a Terminate the peer says nothing, not even FIN */
	unsigned actions;
} run;

static void start(uint64_t seed)
{
	memset(&world, 0, offsetof(struct foreign_world, noise));
	memset((uint8_t *)&world + offsetof(struct foreign_world, memory), 0,
		sizeof world - offsetof(struct foreign_world, memory));
	world.random.state = seed;
	world.trace = seeds_are_one(&seeds);
	run = (struct run){
		.ending = world_below(&world, ENDINGS), .early = world_chance(&world, 0.4)};
	run.breaks = world_chance(&world, 0.35);
	run.silent = world_chance(&world, 0.2);
	run.actions = 20 + world_below(&world, world_chance(&world, 0.3) ? 1000 : 200);
	foreign_rnic_start(&peer, &world);
	foreign_host_start(&host, &world, &peer);
	/* To an older revision the host may ask again, in that one. */
	peer.rejects = !run.breaks && !peer.initiator && peer.revision >= peer.host_revision &&
		       world_chance(&world, 0.04);
}

static bool is_clean(void)
{
	return !world.broken && !world.excused && !world.stopped;
}

static bool is_over(void)
{
	return pair_count(&host.pair.a, RNIC_EP_DISCONNECTED) != 0;
}

/** Of the start-up: it has failed, or the peer has been rejected. */
static bool has_no_stream(void)
{
	const struct side *s = &host.pair.a;
	bool refused = peer.startup_flaw && peer.initiator && (peer.tcp.closed || peer.tcp.eof);

	return pair_count(s, RNIC_EP_REJECTED) || pair_count(s, RNIC_EP_CONNECT_ERROR) ||
	       pair_count(s, RNIC_EP_UNREACHABLE) || (refused && !foreign_host_is_connected(&host));
}

/* ---- one step ---------------------------------------------------------------------------------
 */

static void pass_time(uint64_t ms)
{
	host.pair.clock += ms * PAIR_MS;
	(void)foreign_host_move(&host, 1);
}

static void move(unsigned steps)
{
	foreign_host_move(&host, steps);
	foreign_rnic_input(&peer);
}

static void step(void)
{
	switch (world_below(&world, 8)) {
	case 0:
	case 1:
		move(1 + world_below(&world, 10));
		break;
	case 2:
		move(1000);
		break;
	case 3:
	case 4:
		foreign_host_act(&host);
		break;
	case 5:
		foreign_host_poll(&host);
		break;
	case 6:
		foreign_rnic_act(&peer);
		if (world_chance(&world, 0.05))
			pass_time(1);
		break;
	default:
		foreign_rnic_act(&peer);
		break;
	}
}

/* ---- ends -------------------------------------------------------------------------------------
 */

static bool reads_wait(void)
{
	for (unsigned i = 0; i < world.requests; i++)
		if (request_is_read(&world.request[i]) && !world.request[i].answered)
			return true;
	return false;
}

static void close_peer(void)
{
	foreign_rnic_close(&peer);
	if (!peer.fin)
		return;
	/* What has no receive is dropped then, and what is behind it. */
	if (world.deliveries > world.receives)
		world.excused = true;
	/* The host waits for answers that will not come. */
	if (!world.broken && (reads_wait() || peer.inbounds))
		world.excused = true;
}

static void disconnect_host(void)
{
	/* A responder that may not send yet never will. */
	if (peer.initiator && !peer.heard)
		world.excused = true;
	if (foreign_host_has_all(&host))
		peer.owed = peer.outbounds;
	foreign_host_disconnect(&host);
}

static void end_stream(void)
{
	run.ended = true;
	switch (run.ending) {
	case END_BY_PEER:
		close_peer();
		run.ended = peer.fin;
		break;
	case END_BY_HOST:
		disconnect_host();
		break;
	case END_BY_BOTH:
		disconnect_host();
		close_peer();
		break;
	case END_ABORTED:
		world.excused = true;
		foreign_rnic_abort(&peer);
		break;
	case END_STOPPED:
		foreign_host_stop(&host);
		break;
	case END_MUTE:
		world.excused = true;
		peer.gone = true;
		disconnect_host();
		break;
	default:
		run.ended = peer.may_send && !peer.rtr_due && !peer.fin && !peer.send.open;
		if (!run.ended)
			break;
		world.excused = true;
		foreign_rnic_terminate(&peer);
		break;
	}
}

/** The peer's side of an end that the host has begun. */
static void follow(void)
{
	if (peer.gone)
		return;
	if (peer.terminate >= 0 || world.broken || world.stopped || world.excused) {
		if (!run.silent && peer.host_fin && peer.tcp.llp) {
			peer.fin = true;
			llp_shutdown(peer.tcp.llp);
		}
	} else if (peer.host_fin && foreign_rnic_is_idle(&peer)) {
		close_peer();
	}
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static void do_much(void)
{
	for (unsigned i = 0; i < run.actions && !world.wrong && !is_over(); i++) {
		step();
		if (run.breaks && !world.broken && !peer.fin && world_chance(&world, 0.03))
			(void)foreign_rnic_break(&peer);
		if (run.early && !run.ended && foreign_host_is_connected(&host) &&
			world_chance(&world, 0.01))
			end_stream();
		follow();
	}
}

static bool all_is_idle(void)
{
	return foreign_host_is_connected(&host) && foreign_host_is_idle(&host) &&
	       foreign_rnic_is_idle(&peer) && peer.has_sent;
}

/** The peer answers all that it is asked, and nothing new begins. */
static void come_to_rest(void)
{
	unsigned n = 0;

	peer.calm = true;
	while (!world.wrong && !is_over() && !has_no_stream()) {
		foreign_host_connect(&host);
		if (foreign_host_is_connected(&host) && !peer.may_send)
			foreign_host_act(&host); /* a responder waits for the first FPDU */
		foreign_host_post_due(&host);
		foreign_rnic_act(&peer);
		move(100);
		foreign_host_poll(&host);
		follow();
		if (all_is_idle() && !foreign_host_move(&host, 1))
			break;
		if (!is_clean() && n > 300)
			break;
		if (++n > ROUNDS_MOST)
			return world_wrong(&world, "the stream does not come to rest");
	}
}

static void come_to_end(void)
{
	for (unsigned ms = 0; !world.wrong && !is_over() && !has_no_stream(); ms += 10) {
		foreign_host_connect(&host);
		if (!run.ended && foreign_host_is_connected(&host))
			end_stream();
		foreign_host_post_due(&host);
		foreign_rnic_act(&peer);
		pass_time(10);
		move(1000);
		foreign_host_poll(&host);
		follow();
		if (peer.startup_flaw && ms == 1000) {
			world.excused = true;
			foreign_rnic_abort(&peer);
		}
		if (ms > PATIENCE_MS)
			return world_wrong(&world, "the stream does not end");
	}
	while (foreign_host_move(&host, 1000))
		;
	foreign_rnic_input(&peer);
	/* What is posted now is flushed. */
	for (unsigned i = 0; i < 4 && is_over(); i++)
		foreign_host_act(&host);
}

/** The illegal thing was noticed, and told as it should be. */
static void check_deed(void)
{
	bool told = peer.terminate >= 0;

	/* Early octets may come when the host has answered: then they are an FPDU. */
	if (peer.startup_flaw && peer.startup_flaw != FOREIGN_FLAW_EARLY &&
		foreign_host_is_connected(&host))
		world_wrong(&world, "a stream was set up by a bad frame");
	if (!peer.must || told || world.excused || world.stopped || world.closed)
		return;
	world_wrong(&world, "no Terminate tells of the illegal thing");
}

/** In good order both have said all. */
static void check_clean(void)
{
	if (world.closed ? peer.owed : peer.outbounds)
		world_wrong(&world, "the host leaves a request of the peer without an answer");
	for (unsigned i = 0; i < world.requests; i++)
		if (!request_is_local(&world.request[i]) && !world.request[i].seen)
			world_wrong(&world, "a request of the host was not sent");
}

static void check(void)
{
	if (foreign_host_is_connected(&host))
		foreign_host_check_end(&host, is_clean());
	else if (!peer.startup_flaw && !peer.rejects)
		world_wrong(&world, "there is no stream");
	if (peer.rejects && !pair_count(&host.pair.a, RNIC_EP_REJECTED))
		world_wrong(&world, "a rejection is not told");
	if (world.broken)
		check_deed();
	else if (is_clean() && !peer.rejects)
		check_clean();
}

static void explain(uint64_t seed)
{
	print_error("seed %" PRIu64 ": %s\n", seed, world.wrong);
	print_error("  peer: %s, revision %u%s%s%s, IRD %u, ORD %u; %s%s\n",
		peer.initiator ? "initiator" : "responder", peer.revision,
		peer.p2p ? ", peer-to-peer" : "", peer.tx.crc ? ", CRCs" : "",
		peer.markers ? ", markers" : "", peer.ird, peer.ord,
		peer.deed ? peer.deed : "nothing illegal", world.broken ? "" : " (not yet)");
	print_error(
		"  host: %u of %u requests, %u of %u receives, %u messages; ORD %u; ending %d%s%s, "
		"Terminate %x\n",
		world.polled, world.requests, world.received, world.receives, world.deliveries,
		peer.host_ord, run.ending, run.early ? ", early" : "", run.ended ? ", begun" : "",
		(unsigned)peer.terminate);
	fail();
}

static void test_all_that_is_allowed(void **state)
{
	for (uint64_t seed = seeds.first; seed <= seeds.last; seed += seeds.step) {
		start(seed);
		do_much();
		come_to_rest();
		come_to_end();
		if (!world.wrong)
			check();
		if (world.wrong)
			explain(seed);
		foreign_host_end(&host);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_that_is_allowed),
	};
	struct prng r = {0};

	if (!seeds_take(&seeds, argc, argv))
		return 2;
	for (unsigned i = 0; i < NOISE_LEN; i++)
		world.noise[i] = (uint8_t)prng_u64(&r);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
