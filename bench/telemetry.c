/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it costs to be watched: the same Writes in short blocks, with telemetry off, on, and asked
 * as a table asks. In turns, so whatever the machine does meanwhile it does to all. One line of
 * JSON, of each turn in ns:
 *
 *     cpu_...    processor time of all threads for the first block, the one in which it is asked:
 *                what is more than without is what being asked once costs
 *     time_...   the time that its Writes took, by the clock
 *     least_...  processor time of the turn's cheapest block, which nothing has disturbed: what is
 *                more than without is what every block costs
 *
 *     telemetry [-n TURNS]
 */
#include "host/telemetry.h"
#include "base/clock_id.h"
#include "base/number.h"
#include "host/net.h"
#include "host/net_telemetry.h"
#include "host/slot.h"
#include "host/telemetry_socket.h"
#include "pair.h"
#include "provider/telemetry.h"
#include "sample.h"

#include <string.h>
#include <sys/socket.h>

#define SIZE     (1u << 20)
#define WRITES_8 (1u << 11)
#define WRITES_M 1
#define BLOCKS   16

enum variant { OFF, ON, ASKED, VARIANTS };

static const char *const variant_names[VARIANTS] = {"off", "on", "asked"};
/** As `uiwarp top` asks, of one page each. */
static const char *const asked[] = {"/uiwarp/info", "/uiwarp/qps", "/uiwarp/connections"};

enum figure { CPU, TIME, LEAST, FIGURES };

static const char *const figure_names[FIGURES] = {"cpu", "time", "least"};

struct turn {
	uint64_t ns[FIGURES];
};

/** A client of one end's telemetry, connected and greeted. */
static int client_open(struct pair_end *d)
{
	char directory[1024], greeting[4096];
	int fd;

	pair_must(slot_directory(directory, sizeof directory), "directory");
	fd = telemetry_socket_connect(directory, telemetry_name(net_telemetry(d->net)));
	pair_must(fd, "telemetry");
	if (recv(fd, greeting, sizeof greeting, 0) <= 0)
		err(1, "telemetry's greeting");
	return fd;
}

static void client_ask(int fd, const char *command)
{
	if (send(fd, command, strlen(command), 0) < 0)
		err(1, "%s", command);
}

static void client_hear(int fd)
{
	static char answer[TELEMETRY_OUTPUT + 1];
	ssize_t n = recv(fd, answer, sizeof answer - 1, 0);

	if (n <= 0)
		err(1, "telemetry's answer");
	answer[n] = '\0';
	if (strstr(answer, ":{\"error\":"))
		errx(1, "%s", answer);
}

/** Ask if @p fd has clients, do the Writes, and hear the answers, which are in cpu alone. */
static void measure_block(
	struct pair_end *end, const int *fd, unsigned n, uint32_t len, struct turn *turn)
{
	const unsigned requests = 2 * sizeof asked / sizeof asked[0];
	uint64_t cpu = clock_id_ns(CLOCK_PROCESS_CPUTIME_ID), begun = sample_now_ns();

	for (unsigned i = 0; fd && i < requests; i++)
		client_ask(fd[i % 2], asked[i / 2]);
	pair_stream(&end[0], &end[1], n, len, 1);
	turn->ns[TIME] = sample_now_ns() - begun;
	for (unsigned i = 0; fd && i < requests; i++)
		client_hear(fd[i % 2]);
	turn->ns[CPU] = clock_id_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
}

static struct turn measure_turn(enum variant v, struct pair_end *end, unsigned n, uint32_t len)
{
	struct turn turn, more;
	int fd[2];

	for (unsigned i = 0; v != OFF && i < 2; i++)
		pair_must(telemetry_start(net_telemetry(end[i].net)), "telemetry");
	for (unsigned i = 0; v == ASKED && i < 2; i++)
		fd[i] = client_open(&end[i]);
	measure_block(end, NULL, n, len, &turn); /* caches, and a thread that begins */
	measure_block(end, v == ASKED ? fd : NULL, n, len, &turn);
	turn.ns[LEAST] = UINT64_MAX;
	for (unsigned i = 0; i < BLOCKS; i++) {
		measure_block(end, NULL, n, len, &more);
		if (more.ns[CPU] < turn.ns[LEAST])
			turn.ns[LEAST] = more.ns[CPU];
	}
	for (unsigned i = 0; v == ASKED && i < 2; i++)
		close(fd[i]);
	for (unsigned i = 0; v != OFF && i < 2; i++)
		telemetry_stop(net_telemetry(end[i].net));
	return turn;
}

static void print_figure(
	const char *what, const struct turn *turn, uint64_t turns, enum variant v, enum figure f)
{
	printf(", \"%s_%s_%s\": [", figure_names[f], what, variant_names[v]);
	for (uint64_t i = 0; i < turns; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)turn[i * VARIANTS + v].ns[f]);
	printf("]");
}

/** Each variant comes first as often as the others, and after each of them as often. */
static void measure_all(
	const char *what, struct pair_end *end, uint64_t turns, unsigned n, uint32_t len)
{
	struct turn *turn = calloc(turns, VARIANTS * sizeof *turn);

	if (!turn)
		err(1, "turns");
	for (uint64_t i = 0; i < turns; i++)
		for (unsigned step = 0; step < VARIANTS; step++) {
			enum variant v = (enum variant)((i + (i % 2 ? step : 2 * step)) % VARIANTS);

			turn[i * VARIANTS + v] = measure_turn(v, end, n, len);
		}
	for (unsigned v = 0; v < VARIANTS; v++)
		for (unsigned f = 0; f < FIGURES; f++)
			print_figure(what, turn, turns, (enum variant)v, (enum figure)f);
	free(turn);
}

int main(int argc, char **argv)
{
	static struct pair_end end[2];
	uint64_t turns = 3000;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) != -1)
		if (opt != 'n' || !number_parse(optarg, 1, 100000, &turns))
			errx(2, "usage: telemetry [-n TURNS]");
	pair_open(&end[0], &end[1], 1500, (const char *const[]){NULL});
	for (unsigned i = 0; i < 2; i++)
		provider_telemetry_add(net_telemetry(end[i].net), end[i].rnic);
	printf("{\"turns\": %llu", (unsigned long long)turns);
	measure_all("rate", end, turns, WRITES_8, 8);
	measure_all("bandwidth", end, turns, WRITES_M, SIZE);
	printf("}\n");
	return 0;
}
