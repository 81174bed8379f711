/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a TLS handshake costs, without TCP, MPA and rdma_cm: both ends in one thread, and the
 * processor's time of each.
 *
 *     tls_handshakes COUNT CA CERTIFICATE KEY CERTIFICATE KEY     of the server, then of the client
 *
 * The server is 10.77.0.1, the client 10.77.0.2. Prints one line of JSON.
 */
#include "base/clock_id.h"
#include "base/number.h"
#include "sample.h"
#include "tls/handshake.h"

#include <stdbool.h>
#include <string.h>

struct tls_side {
	struct tls_config config;
	struct tls_credentials_source source;
	struct ip_endpoint peer;
	struct tls_handshake *handshake;
	uint64_t ns; /**< the processor's */
};

static void tls_side_open(struct tls_side *s, const char *peer, char **files)
{
	struct tls_error e;

	s->config = (struct tls_config){.mode = TLS_REQUIRED};
	snprintf(s->config.ca, sizeof s->config.ca, "%s", files[0]);
	snprintf(s->config.certificate, sizeof s->config.certificate, "%s", files[1]);
	snprintf(s->config.key, sizeof s->config.key, "%s", files[2]);
	if (ip_addr_parse(peer, &s->peer.addr))
		errx(1, "%s", peer);
	if (tls_credentials_open(&s->source, &s->config, NULL, &e))
		errx(1, "%s", e.text);
}

/** Carry what waits. @return false: nothing did. */
static bool tls_side_carry(struct tls_side *from, struct tls_side *to)
{
	uint8_t bytes[4096];
	size_t n = tls_handshake_pending(from->handshake);
	uint64_t begin;

	if (n == 0)
		return false;
	if (n > sizeof bytes)
		n = sizeof bytes;
	tls_handshake_output(from->handshake, bytes, n);
	begin = clock_id_ns(CLOCK_THREAD_CPUTIME_ID);
	(void)tls_handshake_input(to->handshake, bytes, n);
	to->ns += clock_id_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	return true;
}

static void tls_side_begin(struct tls_side *s, bool server)
{
	uint64_t begin = clock_id_ns(CLOCK_THREAD_CPUTIME_ID);

	s->handshake = tls_handshake_create(&s->source, &s->peer, server, time(NULL));
	s->ns += clock_id_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	if (!s->handshake)
		errx(1, "no memory");
}

static void tls_side_end(struct tls_side *s)
{
	uint64_t begin = clock_id_ns(CLOCK_THREAD_CPUTIME_ID);

	if (s->handshake->state != TLS_HANDSHAKE_DONE)
		errx(1, "no handshake: %s", s->handshake->reason);
	tls_handshake_free(s->handshake);
	s->ns += clock_id_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

int main(int argc, char **argv)
{
	static struct tls_side server, client;
	uint64_t count;

	if (argc != 7 || !number_parse(argv[1], 1, UINT32_MAX, &count))
		errx(2, "usage: tls_handshakes COUNT CA CERTIFICATE KEY CERTIFICATE KEY");
	tls_side_open(&server, "10.77.0.2", (char *[]){argv[2], argv[3], argv[4]});
	tls_side_open(&client, "10.77.0.1", (char *[]){argv[2], argv[5], argv[6]});
	for (uint64_t i = 0; i < count; i++) {
		tls_side_begin(&server, true);
		tls_side_begin(&client, false);
		while (tls_side_carry(&client, &server) || tls_side_carry(&server, &client))
			;
		tls_side_end(&server);
		tls_side_end(&client);
	}
	printf("{\"server_us\": %.1f, \"client_us\": %.1f}\n",
		(double)server.ns / 1e3 / (double)count, (double)client.ns / 1e3 / (double)count);
	tls_credentials_close(&server.source);
	tls_credentials_close(&client.source);
	return 0;
}
