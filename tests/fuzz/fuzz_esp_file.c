/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of SAs and policies, whatever is in it, one after another in one host. A file that is
 * refused has a sentence and changes nothing; of one that is taken, each packet finds an answer,
 * and an SA that stays keeps its sequence number.
 */
#include "esp/database.h"
#include "fuzz.h"

#include <errno.h>

#define FILES_MAX 8

static struct esp_database db;

static void fill(void *ctx, void *to, size_t len)
{
	memset(to, 0x5a, len);
}

static struct ip_addr our(void)
{
	const uint8_t v4[4] = {10, 0, 0, 1};

	return ip_addr_from_v4(v4);
}

static bool host_has(void *ctx, const struct ip_addr *a)
{
	struct ip_addr mine = our();

	return ip_addr_equal(a, &mine);
}

static bool is_a_sentence(const char *why, size_t size)
{
	return strnlen(why, size) > 0 && strnlen(why, size) < size;
}

static void update(const uint8_t *text, size_t len)
{
	FILE *in = fmemopen(
		(void *)(uintptr_t)(len ? text : (const uint8_t *)"\n"), len ? len : 1, "r");
	const struct esp_host host = {host_has, NULL};
	struct esp_file *f, *before = db.file;
	unsigned had = db.inbound + db.outbound;
	char why[512] = "";

	MUST(in);
	if (esp_file_parse(in, "file", &host, &f, why, sizeof why) != 0) {
		MUST(is_a_sentence(why, sizeof why) && !f);
	} else if (esp_database_update(&db, f, 0, why, sizeof why) != 0) {
		MUST(is_a_sentence(why, sizeof why));
		MUST(db.file == before && db.inbound + db.outbound == had);
		esp_file_free(f);
	} else {
		MUST(db.file == f && db.inbound + db.outbound == f->n_states);
	}
	fclose(in);
}

static void look_up(struct fuzz *in)
{
	const uint8_t v4[4] = {10, 0, 0, fuzz_u8(in)};
	struct ip_flow f = {.src = our(),
		.dst = ip_addr_from_v4(v4),
		.proto = fuzz_u8(in),
		.src_port = fuzz_u8(in),
		.dst_port = fuzz_u8(in)};
	struct ip_addr to;
	struct esp_sa *sa;

	if (esp_database_output(&db, &f, &sa) == ESP_PROTECT)
		MUST(!sa || sa->config.outbound);
	else
		MUST(!sa);
	(void)esp_database_input(&db, &f, esp_database_find(&db, &f.dst, fuzz_u8(in) + 256));
	MUST(esp_database_room(&db, &f.src, &f.dst, 1500, &to) <= 1500);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};

	esp_database_init(&db, &(struct random_source){.fill = fill});
	for (unsigned i = 0; in.left != 0 && i < FILES_MAX; i++) {
		size_t len;
		const uint8_t *text = fuzz_bytes(&in, fuzz_u16(&in), &len);

		update(text, len);
		look_up(&in);
	}
	esp_database_fini(&db);
	return 0;
}
