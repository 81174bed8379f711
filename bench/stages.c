/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a message costs our stack, stage by stage, without a second core: two stacks in one process
 * on the two ends of a memif, driven by one thread in turn. So no cache line travels between cores,
 * and a busy machine shows in the tail alone. One line of JSON, in ns:
 *
 *     post_wire  from the post of an 8-byte Send to the frame in the port's hands
 *     post       to the return from the post
 *     complete   of the peer's poll that finds the frame and returns its completion
 *     own        of the sender's own poll, which finds the Send done
 *     write_8    of an 8-byte Write, both ends together, posted one by one
 *     lists_8    the same, in lists of 16
 *     packet     of a full packet of 1 MiB Writes, both ends together
 *
 *     stages [-n SENDS] [-m MTU] [-s KEY=VALUE]...
 *
 * A setting is for both ends: tls=required with tls_psk=FILE, or ipsec=FILE, show what encryption
 * costs.
 */
#include "base/number.h"
#include "pair.h"
#include "sample.h"

#include <err.h>
#include <rte_cycles.h>
#include <stdlib.h>
#include <unistd.h>

#define SIZE     (1u << 20)
#define WRITES_8 (1u << 16)
#define WRITES_M 256
#define TURNS    9
#define SETTINGS 8

enum stage { POST_WIRE, POST, COMPLETE, OWN, STAGES };

static const char *const stage_names[STAGES] = {"post_wire", "post", "complete", "own"};

/* ---- measurements ------------------------------------------------------------------------- */

/** A Send from one end to the other. @return false: it waited for others, and tells nothing. */
static bool send_once(struct pair_end *from, struct pair_end *to, uint64_t *t[STAGES], size_t i)
{
	uint64_t begin, posted, own, look;

	pair_receive(to);
	begin = rte_rdtsc();
	pair_post(from, to, RDMAP_WR_SEND, 8, 1);
	posted = rte_rdtsc();
	while (!pair_reap(from, 1))
		;
	own = rte_rdtsc();
	if (from->handed < begin || from->handed > posted) {
		while (!pair_reap(to, 1))
			;
		return false;
	}
	look = rte_rdtsc();
	while (!pair_reap(to, 1))
		;
	t[COMPLETE][i] = rte_rdtsc() - look;
	t[POST_WIRE][i] = from->handed - begin;
	t[POST][i] = posted - begin;
	t[OWN][i] = own - posted;
	return true;
}

static void measure_sends(struct pair_end *a, struct pair_end *b, size_t n, double ns)
{
	uint64_t *t[STAGES];
	size_t got = 0;

	for (unsigned s = 0; s < STAGES; s++)
		if (!(t[s] = calloc(n, sizeof **t)))
			err(1, "samples");
	for (size_t i = 0; i < 1000; i++)
		send_once(i % 2 ? a : b, i % 2 ? b : a, t, 0);
	for (size_t i = 0; got < n && i < 4 * n; i++)
		got += send_once(i % 2 ? a : b, i % 2 ? b : a, t, got);
	printf("{\"sends\": %zu, ", got);
	for (unsigned s = 0; s < STAGES; s++) {
		sample_sort(t[s], got);
		printf("\"%s\": %.1f, \"%s_p10\": %.1f, ", stage_names[s],
			(double)t[s][got / 2] * ns, stage_names[s], (double)t[s][got / 10] * ns);
		free(t[s]);
	}
}

/** The median cost of one of @p n, in ns; @p packets: of a packet instead. */
static double measure_stream(struct pair_end *a, struct pair_end *b, unsigned n, uint32_t len,
	unsigned list, bool packets)
{
	double v[TURNS];

	pair_stream(a, b, n, len, list);
	for (unsigned i = 0; i < TURNS; i++) {
		uint64_t frames = a->frames;
		uint64_t ns = pair_stream(a, b, n, len, list);

		v[i] = (double)ns / (double)(packets ? a->frames - frames : n);
	}
	return sample_median(v, TURNS);
}

int main(int argc, char **argv)
{
	static struct pair_end a, b;
	const char *settings[SETTINGS + 1] = {NULL};
	uint64_t n = 100000, mtu = 1500;
	unsigned set = 0;
	bool bad = false;
	double ns;
	int opt;

	while ((opt = getopt(argc, argv, "n:m:s:")) != -1) {
		if (opt == 's' && set < SETTINGS)
			settings[set++] = optarg;
		else
			bad |= opt == 'n'   ? !number_parse(optarg, 1, 10000000, &n)
			       : opt == 'm' ? !number_parse(optarg, 1280, 9000, &mtu)
					    : true;
	}
	if (bad || optind != argc) {
		fprintf(stderr, "usage: stages [-n SENDS] [-m MTU] [-s KEY=VALUE]...\n");
		return 2;
	}
	pair_open(&a, &b, mtu, settings);
	ns = 1e9 / (double)rte_get_tsc_hz();
	measure_sends(&a, &b, n, ns);
	printf("\"write_8\": %.1f, ", measure_stream(&a, &b, WRITES_8, 8, 1, false));
	printf("\"lists_8\": %.1f, ", measure_stream(&a, &b, WRITES_8, 8, PAIR_LIST, false));
	printf("\"packet\": %.1f}\n", measure_stream(&a, &b, WRITES_M, SIZE, 1, true));
	return 0;
}
