/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tool of others' does with libuiwarp-tcp: nothing of this tree but the installed header.
 * Two hosts, packets carried between them 5 ms each way, a half-close. Compiled as C and as C++.
 */
#include <uiwarp_tcp.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS    1000000ull
#define BYTES 200000

static uint64_t now = 1000 * MS;
static struct uiwarp_tcp *host[2];

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "outsider: %s\n", what);
	exit(1);
}

/** Carry what both have sent, and let 5 ms pass. */
static void carry(void)
{
	static uint8_t packets[2][4096][1500];
	static size_t len[2][4096];
	unsigned n[2] = {0, 0};

	for (int i = 0; i < 2; i++)
		while (n[i] < 4096 &&
			(len[i][n[i]] = uiwarp_tcp_output(host[i], packets[i][n[i]], 1500, NULL)))
			n[i]++;
	now += 5 * MS;
	for (int i = 0; i < 2; i++) {
		uiwarp_tcp_advance(host[i], now);
		for (unsigned k = 0; k < n[1 - i]; k++)
			must(!uiwarp_tcp_input(host[i], packets[1 - i][k], len[1 - i][k]), "input");
	}
}

static struct sockaddr_in server(void)
{
	struct sockaddr_in a;

	memset(&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_port = htons(7);
	inet_pton(AF_INET, "192.0.2.2", &a.sin_addr);
	return a;
}

static void make_host(int i, const char *address)
{
	struct uiwarp_tcp_config cfg;

	memset(&cfg, 0, sizeof cfg);
	cfg.seed = 1 + (uint64_t)i;
	must(!uiwarp_tcp_create(&cfg, now, &host[i]), "create");
	must(!uiwarp_tcp_add_address(host[i], address), "add_address");
}

/** Send all and close that side; the other takes all and sees the end. */
static size_t transfer(int c, int s)
{
	static uint8_t text[BYTES], buf[BYTES + 1];
	size_t sent = 0, got = 0;
	int closed = 0;
	ssize_t n;

	for (size_t i = 0; i < BYTES; i++)
		text[i] = (uint8_t)(i * 7 + (i >> 8));
	for (int i = 0; i < 1000; i++) {
		n = sent < BYTES ? uiwarp_tcp_send(host[0], c, text + sent, BYTES - sent, 0) : 0;
		must(n >= 0 || n == -EAGAIN, "send");
		sent += n > 0 ? (size_t)n : 0;
		if (sent == BYTES && !closed)
			must(!uiwarp_tcp_shutdown(host[0], c, SHUT_WR), "shutdown"), closed = 1;
		while ((n = uiwarp_tcp_recv(host[1], s, buf + got, BYTES - got + 1, 0)) > 0)
			got += (size_t)n;
		if (n == 0)
			break;
		must(n == -EAGAIN, "recv");
		carry();
	}
	must(got == BYTES && !memcmp(text, buf, BYTES), "the bytes are others");
	return got;
}

int main(void)
{
	struct sockaddr_in to = server();
	struct uiwarp_tcp_info info;
	int l, c, s = -EAGAIN;

	make_host(0, "192.0.2.1/24");
	make_host(1, "192.0.2.2/24");
	l = uiwarp_tcp_socket(host[1], AF_INET);
	must(l >= 0 && !uiwarp_tcp_bind(host[1], l, (struct sockaddr *)&to, sizeof to), "bind");
	must(!uiwarp_tcp_listen(host[1], l, 4), "listen");
	c = uiwarp_tcp_socket(host[0], AF_INET);
	must(uiwarp_tcp_connect(host[0], c, (struct sockaddr *)&to, sizeof to) == -EINPROGRESS,
		"connect");
	for (int i = 0; i < 10 && s == -EAGAIN; i++) {
		carry();
		s = uiwarp_tcp_accept(host[1], l, NULL, NULL);
	}
	must(s >= 0, "accept");
	transfer(c, s);
	must(!uiwarp_tcp_info(host[0], c, &info), "info");
	must(!strcmp(info.state, "FIN-WAIT-2") || !strcmp(info.state, "FIN-WAIT-1"), info.state);
	must(info.srtt >= 10 * MS && info.retransmits == 0, "what info says");
	must(!uiwarp_tcp_close(host[1], s), "close");
	carry();
	carry();
	must(!uiwarp_tcp_connection(host[0], 0, NULL, NULL, &info), "connection");
	must(!strcmp(info.state, "TIME-WAIT"), info.state);
	uiwarp_tcp_destroy(host[0]);
	uiwarp_tcp_destroy(host[1]);
	printf("%d bytes in %llu ms of virtual time\n", BYTES,
		(unsigned long long)(now / MS - 1000));
	return 0;
}
