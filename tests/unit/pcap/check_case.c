/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"
#include "support/cap_bytes.h"

void check_found(struct cap_maker *m, const struct follow_config *config, char ids[CHECK_IDS_LEN])
{
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct check k = {.report = {0}};
	struct follow w;

	assert_non_null(c);
	assert_int_equal(follow_init(&w, config, &check_ops, &k), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	cap_close(c);
	*ids = '\0';
	for (unsigned i = 0; i < REQUIREMENTS; i++)
		if (k.report.count[i] != 0) {
			size_t n = strlen(ids);

			snprintf(ids + n, CHECK_IDS_LEN - n, "%s%s", n == 0 ? "" : " ",
				requirement((enum requirement_id)i)->id);
		}
}

void start(struct cap_maker *m, unsigned side, const char *key, uint8_t flags, uint8_t revision,
	long ird, long ord)
{
	uint8_t p[MPA_HEADER_LEN + MPA_ENHANCED_LEN] = {0};
	bool words = ird >= 0;

	memcpy(p, key, MPA_KEY_LEN);
	p[MPA_AT_FLAGS] = flags;
	p[MPA_AT_REVISION] = revision;
	store_be16(p + MPA_AT_PD_LENGTH, words ? MPA_ENHANCED_LEN : 0);
	store_be16(p + MPA_AT_PRIVATE_DATA, (uint16_t)ird);
	store_be16(p + MPA_AT_PRIVATE_DATA + 2, (uint16_t)ord);
	cap_maker_text(m, side, p, words ? sizeof p : MPA_HEADER_LEN);
}

void request(struct cap_maker *m, uint8_t flags, uint8_t revision, long ird, long ord)
{
	cap_maker_handshake(m);
	start(m, 0, MPA_REQUEST_KEY, flags, revision, ird, ord);
}

void reply(struct cap_maker *m, uint8_t flags, uint8_t revision, long ird, long ord)
{
	start(m, 1, MPA_REPLY_KEY, flags, revision, ird, ord);
}

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

void fpdu(struct cap_maker *m, unsigned side, const char *hex)
{
	uint8_t p[256];
	size_t n = 0;

	for (; *hex != '\0'; hex++) {
		if (*hex == ' ')
			continue;
		p[n++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
		hex++;
	}
	cap_maker_fpdu(m, side, p, n);
}

void running(struct cap_maker *m)
{
	cap_maker_start(m);
	cap_maker_send(m, 0, 1, 4);
	cap_maker_send(m, 1, 1, 4);
}

static void make(const struct check_case *c, struct cap_maker *m)
{
	(c->make != NULL ? c->make : running)(m);
	for (unsigned i = 0; i < sizeof c->fpdus / sizeof *c->fpdus && c->fpdus[i] != NULL; i++)
		fpdu(m, c->fpdus[i][0] == '<', c->fpdus[i] + 1);
}

void check_cases(const struct check_case *cases, size_t n)
{
	static const struct follow_config config;
	unsigned failed = 0;

	for (size_t i = 0; i < n; i++) {
		char ids[CHECK_IDS_LEN];
		struct cap_maker m;

		cap_maker_init(&m);
		make(&cases[i], &m);
		check_found(&m, &config, ids);
		if (strcmp(ids, cases[i].ids) != 0) {
			print_error("%s: found \"%s\", expected \"%s\"\n", cases[i].name, ids,
				cases[i].ids);
			failed++;
		}
		cap_maker_free(&m);
	}
	assert_int_equal(failed, 0);
}
