/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures of more than anybody has memory for, to standard output:
 *
 *     uiwarp-many connections N    N connections, all open at one time, a Read of each without
 * answer uiwarp-many reads N          one connection with N Reads without answer uiwarp-many flows
 * N          N TCP connections that are not iWARP
 */
#include "support/cap_maker.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_HEADER   24
#define RECORD_HEADER 16
#define AT_IP         (RECORD_HEADER + 14)
#define AT_TCP        (AT_IP + 20)

/* Connections between two hosts; then it is the turn of others. */
#define PER_HOST 60000

static void put(const void *bytes, size_t len)
{
	if (fwrite(bytes, 1, len, stdout) != len) {
		perror("uiwarp-many");
		exit(EXIT_FAILURE);
	}
}

/* The client's address and port become those of the n-th connection; no CRC covers them. */
static void put_as(uint8_t *record, size_t len, uint32_t n)
{
	bool from = load_be32(record + AT_IP + 16) == 0x0a000002;
	uint32_t client = 0x0a010000 + n / PER_HOST;

	if (load_be32(record + AT_IP + 16) >= 0x0a010000)
		from = false;
	store_be32(record + AT_IP + (from ? 12 : 16), client);
	store_be16(record + AT_TCP + (from ? 0 : 2), (uint16_t)(1024 + n % PER_HOST));
	put(record, len);
}

/* Frame by frame, of all of them. */
static void put_many(struct cap_maker *m, uint32_t n)
{
	put(m->bytes, FILE_HEADER);
	for (size_t at = FILE_HEADER; at < m->len;) {
		size_t len = RECORD_HEADER + load_le32(m->bytes + at + 8);

		for (uint32_t i = 0; i < n; i++)
			put_as(m->bytes + at, len, i);
		at += len;
	}
}

static void connections(struct cap_maker *m, uint32_t n)
{
	cap_maker_start(m);
	cap_maker_send(m, 0, 1, 16);
	cap_maker_read_request(m, 0, 1, 4096);
	put_many(m, n);
}

static void flows(struct cap_maker *m, uint32_t n)
{
	cap_maker_handshake(m);
	cap_maker_text(m, 0, "GET / HTTP/1.1\r\n", 16);
	put_many(m, n);
}

static void reads(struct cap_maker *m, uint32_t n)
{
	cap_maker_start(m);
	put(m->bytes, m->len);
	for (uint32_t i = 1; i <= n; i++) {
		m->len = 0;
		cap_maker_read_request(m, 0, i, 4096);
		put(m->bytes, m->len);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(struct cap_maker *m, uint32_t n);
	} kinds[] = {{"connections", connections}, {"reads", reads}, {"flows", flows}};
	struct cap_maker m;

	for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(argv[1], kinds[i].name) == 0) {
			cap_maker_init(&m);
			kinds[i].make(&m, (uint32_t)strtoul(argv[2], NULL, 10));
			cap_maker_free(&m);
			return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
		}
	fprintf(stderr, "usage: uiwarp-many connections|reads|flows N\n");
	return EXIT_FAILURE;
}
