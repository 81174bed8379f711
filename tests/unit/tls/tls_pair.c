/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls_pair.h"

struct tls_files files;
struct llp_mem *mem;
struct tls_user client, server;
struct tls_config client_config, server_config;

int set_up(void **state)
{
	tls_files_open(&files);
	tls_files_issue(&files, "one", "IP:10.0.0.1,DNS:one.test", 10);
	tls_files_issue(&files, "two", "IP:10.0.0.2,DNS:two.test", 10);
	tls_files_issue(&files, "old", "IP:10.0.0.2", -1);
	tls_files_config(&files, "one", &client_config);
	tls_files_config(&files, "two", &server_config);
	mem = llp_mem_create();
	return 0;
}

int tear_down(void **state)
{
	llp_mem_destroy(mem);
	tls_files_close(&files);
	return 0;
}

void open_both(uint64_t records_max)
{
	tls_user_open(&client, mem, 0, &client_config, records_max);
	tls_user_open(&server, mem, 1, &server_config, records_max);
	tls_user_listen(&server, mem, 1, PORT);
	tls_user_connect(&client, mem, 1, PORT);
}

void connect_both(uint64_t records_max)
{
	open_both(records_max);
	llp_mem_run(mem, STEPS);
	assert_true(client.connected && client.protected_);
	assert_true(server.connected && server.protected_);
}

void close_both(void)
{
	tls_user_close(&client);
	tls_user_close(&server);
}
