/* SPDX-License-Identifier: BSD-2-Clause */
#include "memif_pair.h"

#include "support/limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct port *server, *client;
static char client_device[128];
static const char *socket_name;
static time_t end;

static struct port *memif_pair_open_port(const char *device, uint16_t mtu)
{
	struct port_config cfg = {.device = device, .memory_mib = 8, .mtu = mtu};
	struct port_error e = {""};
	struct port *p = NULL;

	if (port_open(&cfg, &p, &e))
		fail_msg("%s", e.text);
	return p;
}

void memif_pair_client_arguments(const char *arguments)
{
	snprintf(client_device, sizeof client_device, "net_memif1,role=client,socket=%s%s",
		socket_name, arguments);
}

void memif_pair_open_client(void)
{
	client = memif_pair_open_port(client_device, 0);
}

/**
 * One driver's thread serves both ends, at each end's watch: a client that tries again and again
 * while nobody watches the server would fill its backlog and wait in connect() for ever.
 */
static bool memif_pair_is_up(struct port *server_end, struct port *client_end)
{
	bool c = port_watch(client_end), s = port_watch(server_end);

	return c && s;
}

void memif_pair_nap(void)
{
	assert_true(time(NULL) < end);
	usleep(10000);
}

void memif_pair_connect(void)
{
	while (!memif_pair_is_up(server, client))
		memif_pair_nap();
}

void memif_pair_open(const char *socket, const char *client_arguments)
{
	char device[128];

	end = time(NULL) + LIMIT_S;
	snprintf(device, sizeof device, "net_memif0,role=server,socket=%s", socket);
	socket_name = socket;
	memif_pair_client_arguments(client_arguments);
	server = memif_pair_open_port(device, 0);
	memif_pair_open_client();
	memif_pair_connect();
}

void memif_pair_open_second(const char *socket, uint16_t mtu, struct port *ends[2])
{
	const char *arguments = mtu > 2000 ? ",bsize=16384" : "";
	char device[128];

	snprintf(device, sizeof device, "net_memif2,id=1,role=server,socket=%s%s", socket,
		arguments);
	ends[0] = memif_pair_open_port(device, mtu);
	snprintf(device, sizeof device, "net_memif3,id=1,role=client,socket=%s%s", socket,
		arguments);
	ends[1] = memif_pair_open_port(device, mtu);
	while (!memif_pair_is_up(ends[0], ends[1]))
		memif_pair_nap();
}

void memif_pair_close(void)
{
	port_close(client);
	port_close(server);
}
