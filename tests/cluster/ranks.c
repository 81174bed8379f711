/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What MPI programs do most, with every byte looked at: allreduce, alltoall, messages of all sizes
 * in both directions at once; then latency and bandwidth between the first two ranks for each size,
 * as OSU's benchmarks define and print them.
 *
 *     mpirun -n RANKS ranks [ROUNDS]
 *
 * Rank 0 prints a line for each part that was right on all ranks. MPI_Abort() with status 1 at the
 * first byte that was not.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST (1 << 20)
#define WINDOW  64

static int rank, ranks, rounds = 100;

static void wrong(const char *what, size_t at, uint64_t got, uint64_t expected)
{
	fprintf(stderr, "rank %d: %s: element %zu is %llu, not %llu\n", rank, what, at,
		(unsigned long long)got, (unsigned long long)expected);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void part_done(const char *name)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		printf("%s ok with %d ranks\n", name, ranks);
		fflush(stdout);
	}
}

static void *memory(size_t n)
{
	void *p = malloc(n);

	if (p == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(p, 0xee, n);
	return p;
}

static void allreduce(void)
{
	uint64_t *mine = memory(LARGEST);
	uint64_t *sum = memory(LARGEST);

	for (size_t n = 1; n <= LARGEST / sizeof *mine; n *= 2) {
		for (size_t i = 0; i < n; i++)
			mine[i] = (i + n) * (uint64_t)(rank + 1);
		MPI_Allreduce(mine, sum, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
		for (size_t i = 0; i < n; i++) {
			uint64_t expected = (i + n) * (uint64_t)(ranks * (ranks + 1) / 2);

			if (sum[i] != expected)
				wrong("allreduce", i, sum[i], expected);
		}
	}
	free(mine);
	free(sum);
	part_done("allreduce");
}

/* What a rank sends to another, which no other piece of any message is like. */
static uint32_t element(int from, int to, size_t n, size_t i)
{
	return (uint32_t)(((unsigned)from << 28) ^ ((unsigned)to << 24) ^ (n * 2654435761u) ^ i);
}

static void alltoall(void)
{
	size_t most = LARGEST / 4 / sizeof(uint32_t);
	uint32_t *out = memory(most * sizeof *out * (size_t)ranks);
	uint32_t *in = memory(most * sizeof *in * (size_t)ranks);

	for (size_t n = 1; n <= most; n *= 4) {
		for (int to = 0; to < ranks; to++)
			for (size_t i = 0; i < n; i++)
				out[(size_t)to * n + i] = element(rank, to, n, i);
		MPI_Alltoall(out, (int)n, MPI_UINT32_T, in, (int)n, MPI_UINT32_T, MPI_COMM_WORLD);
		for (int from = 0; from < ranks; from++)
			for (size_t i = 0; i < n; i++)
				if (in[(size_t)from * n + i] != element(from, rank, n, i))
					wrong("alltoall", (size_t)from * n + i,
						in[(size_t)from * n + i],
						element(from, rank, n, i));
	}
	free(out);
	free(in);
	part_done("alltoall");
}

/* Round a ring, so that each sends and receives at once. */
static void ring(void)
{
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	uint8_t *out = memory(LARGEST), *in = memory(LARGEST);

	for (size_t n = 0; n <= LARGEST; n = n == 0 ? 1 : n * 2) {
		for (size_t i = 0; i < n; i++)
			out[i] = (uint8_t)(i * 7 + (size_t)rank + n);
		MPI_Sendrecv(out, (int)n, MPI_BYTE, next, 1, in, (int)n, MPI_BYTE, before, 1,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (size_t i = 0; i < n; i++)
			if (in[i] != (uint8_t)(i * 7 + (size_t)before + n))
				wrong("ring", i, in[i], (uint8_t)(i * 7 + (size_t)before + n));
	}
	free(out);
	free(in);
	part_done("ring");
}

/* Large messages need fewer rounds to be measured. */
static int rounds_of(int n)
{
	return n <= 8192 ? rounds : 1 + rounds / 10;
}

static void ping(uint8_t *buf, int n)
{
	if (rank == 0) {
		MPI_Send(buf, n, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
		MPI_Recv(buf, n, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(buf, n, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(buf, n, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
	}
}

/* A window full one way, and one byte back when the other has all of it. */
static void push(uint8_t *buf, int n)
{
	MPI_Request requests[WINDOW];

	for (int w = 0; w < WINDOW; w++) {
		if (rank == 0)
			MPI_Isend(buf, n, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[w]);
		else
			MPI_Irecv(buf, n, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &requests[w]);
	}
	MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
	if (rank == 0)
		MPI_Recv(buf, 1, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(buf, 1, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
}

/* Seconds that one round takes, after a few that do not count. */
static double seconds_of(void (*round)(uint8_t *, int), uint8_t *buf, int n)
{
	double begin;

	for (int i = 0; i < 1 + rounds_of(n) / 10; i++)
		round(buf, n);
	begin = MPI_Wtime();
	for (int i = 0; i < rounds_of(n); i++)
		round(buf, n);
	return (MPI_Wtime() - begin) / rounds_of(n);
}

static void measure(uint8_t *buf)
{
	if (rank == 0)
		printf("# %-16s %14s\n", "Size", "Latency (us)");
	for (int n = 0; n <= LARGEST; n = n == 0 ? 1 : n * 2) {
		double s = seconds_of(ping, buf, n);

		if (rank == 0)
			printf("latency   %-8d %14.2f\n", n, s / 2 * 1e6);
	}
	if (rank == 0)
		printf("# %-16s %14s\n", "Size", "Bandwidth (MB/s)");
	for (int n = 1; n <= LARGEST; n *= 2) {
		double s = seconds_of(push, buf, n);

		if (rank == 0)
			printf("bandwidth %-8d %14.2f\n", n, (double)n * WINDOW / s / 1e6);
	}
}

int main(int argc, char **argv)
{
	uint8_t *buf;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1)
		rounds = atoi(argv[1]);
	if (rounds < 1)
		rounds = 1;
	allreduce();
	alltoall();
	ring();
	if (rank < 2 && ranks >= 2) {
		buf = memory(LARGEST);
		measure(buf);
		free(buf);
	}
	part_done("all");
	MPI_Finalize();
	return 0;
}
