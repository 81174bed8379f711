/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls_memory.h"

#include "support/alloc_fault.h"

#include <string.h>

struct llp_mem *mem;
struct tls_user client, server;
bool rationed;

static struct tls_files files;
static struct tls_config client_config, server_config;

int set_up(void **state)
{
	memset(&client, 0, sizeof client);
	memset(&server, 0, sizeof server);
	memset(&client_config, 0, sizeof client_config);
	tls_files_open(&files);
	tls_files_write(&files, "psk", "node:00112233445566778899aabbccddeeff\n");
	client_config.mode = TLS_REQUIRED;
	tls_files_path(&files, "psk", client_config.psk);
	server_config = client_config;
	mem = llp_mem_create();
	return 0;
}

int tear_down(void **state)
{
	alloc_fault_chance(0, 0);
	tls_user_close(&client);
	tls_user_close(&server);
	llp_mem_destroy(mem);
	tls_files_close(&files);
	return 0;
}

void begin(uint64_t records_max)
{
	tls_user_open(&client, mem, 0, &client_config, records_max);
	tls_user_open(&server, mem, 1, &server_config, 0);
	tls_user_listen(&server, mem, 1, PORT);
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	assert_true(client.connected && server.connected);
}

void have_memory(bool have)
{
	if (rationed)
		server.stack->kept.most = have ? 0 : 1;
	else
		alloc_fault_chance(have ? 0 : 1, 1);
}

void bring(size_t at, size_t len, uint32_t record)
{
	tls_user_stream(&client, at, len, record);
	llp_mem_run(mem, STEPS);
	assert_false(server.closed);
}

void go_on(void)
{
	server.pause = false;
	llp_resume(server.llp);
	llp_mem_run(mem, STEPS);
}
