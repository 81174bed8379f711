/* SPDX-License-Identifier: BSD-2-Clause */
/* The port mapper's datagrams in a capture, from the frame to the line that shows them. */
#include "pcap/describe_mapper.h"

#include "iwpm/message.h"
#include "pcap/follow.h"
#include "pcap/show.h"

#include "support/cap_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** A capture of raw IP packets, 1 us apart. */
struct capture {
	uint8_t bytes[2048];
	size_t len;
	unsigned frames;
};

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof v); /* of this machine: the magic number tells */
}

static void begin(struct capture *c)
{
	*c = (struct capture){.len = 24};
	put32(c->bytes, 0xa1b2c3d4);
	c->bytes[4] = 2;
	c->bytes[6] = 4;
	put32(c->bytes + 16, 65535);
	put32(c->bytes + 20, 101);
}

static struct ip_endpoint at(const char *addr, uint16_t port)
{
	struct ip_endpoint e = {.port = port};

	assert_int_equal(ip_addr_parse(addr, &e.addr), 0);
	return e;
}

static size_t put_ip(
	uint8_t *p, const struct ip_endpoint *from, const struct ip_endpoint *to, size_t len)
{
	if (ip_addr_is_v4(&from->addr)) {
		p[0] = 0x45;
		store_be16(p + 2, (uint16_t)(20 + len));
		p[8] = 64;
		p[9] = 17;
		memcpy(p + 12, from->addr.b + 12, 4);
		memcpy(p + 16, to->addr.b + 12, 4);
		return 20;
	}
	p[0] = 0x60;
	store_be16(p + 4, (uint16_t)len);
	p[6] = 17;
	memcpy(p + 8, &from->addr, 16);
	memcpy(p + 24, &to->addr, 16);
	return 40;
}

/** @param captured octets of @p data that are in the capture. @param claimed UDP's own length. */
static void datagram(struct capture *c, struct ip_endpoint from, struct ip_endpoint to,
	const void *data, size_t len, size_t captured, size_t claimed)
{
	uint8_t *record = c->bytes + c->len, *p = record + 16;
	size_t header = put_ip(p, &from, &to, 8 + len);

	store_be16(p + header, from.port);
	store_be16(p + header + 2, to.port);
	store_be16(p + header + 4, (uint16_t)claimed);
	memcpy(p + header + 8, data, captured);
	put32(record, 1);
	put32(record + 4, c->frames++);
	put32(record + 8, (uint32_t)(header + 8 + captured));
	put32(record + 12, (uint32_t)(header + 8 + len));
	c->len += 16 + header + 8 + captured;
}

static void message(struct capture *c, enum iwpm_type type, bool v6, uint16_t port)
{
	struct ip_endpoint cp = at(v6 ? "fd00::1" : "10.0.0.1", 40000), pm = cp;
	struct ip_endpoint ap = at(v6 ? "fd00::2" : "10.0.0.2", port), server = ap;
	struct iwpm_message m = {.type = type,
		.handle = 0x00ff12c4d5e6f708,
		.accepting = ap,
		.connecting = cp,
		.mapped = cp};
	uint8_t data[IWPM_MESSAGE_MAX];
	size_t len = iwpm_message_put(&m, data);
	bool asks = type == IWPM_REQUEST || type == IWPM_ACK;

	pm.port = 50000;
	server.port = IWPM_PORT;
	datagram(c, asks ? pm : server, asks ? server : pm, data, len, len, 8 + len);
}

/** The frame at @p record, the last one, in fragments of @p size, of IPv4. */
static void split(struct capture *c, size_t record, size_t size)
{
	size_t len = c->len - record - 36;
	uint8_t copy[36 + 8 + IWPM_MESSAGE_MAX];

	memcpy(copy, c->bytes + record, 36 + len);
	c->len = record;
	c->frames--;
	for (size_t at = 0; at < len; at += size) {
		size_t n = len - at < size ? len - at : size;
		uint8_t *p = c->bytes + c->len;

		memcpy(p, copy, 36);
		put32(p + 4, c->frames++);
		put32(p + 8, (uint32_t)(20 + n));
		put32(p + 12, (uint32_t)(20 + n));
		store_be16(p + 18, (uint16_t)(20 + n));
		store_be16(p + 20, 77);
		store_be16(p + 22, (uint16_t)(at / 8 | (at + n < len ? 0x2000 : 0)));
		memcpy(p + 36, copy + 36 + at, n);
		c->len += 36 + n;
	}
}

static char *shown(struct capture *c, struct select *s, bool json)
{
	static const struct follow_config config;
	struct show w = {.json = json};
	struct cap_error e;
	struct cap_file *file = cap_open_bytes(c->bytes, c->len, &e);
	struct follow f;
	size_t len;
	char *text;

	w.out = open_memstream(&text, &len);
	assert_non_null(w.out);
	assert_non_null(file);
	s->ops = &show_ops;
	s->user = &w;
	assert_int_equal(follow_init(&f, &config, &select_ops, s), 0);
	assert_int_equal(follow_capture(&f, file, &e), CAP_END);
	cap_close(file);
	fclose(w.out);
	return text;
}

static void expect(struct capture *c, struct select *s, bool json, const char *text)
{
	char *said = shown(c, s, json);

	assert_string_equal(said, text);
	free(said);
}

static void messages_are_named(void **state)
{
	struct select all = {0};
	struct capture c;

	begin(&c);
	message(&c, IWPM_REQUEST, false, 7174);
	message(&c, IWPM_ACCEPT, false, 33781);
	message(&c, IWPM_ACK, false, 33781);
	message(&c, IWPM_REJECT, true, 7174);
	expect(&c, &all, false,
		"     1 0.000000 10.0.0.1:50000 > 10.0.0.2:3935 port mapper Request "
		"00ff12c4d5e6f708 for 10.0.0.2:7174 from 10.0.0.1:40000 mapped to 10.0.0.1:40000\n"
		"     2 0.000001 10.0.0.2:3935 > 10.0.0.1:50000 port mapper Accept "
		"00ff12c4d5e6f708 mapped to 10.0.0.2:33781\n"
		"     3 0.000002 10.0.0.1:50000 > 10.0.0.2:3935 port mapper Ack "
		"00ff12c4d5e6f708 mapped to 10.0.0.2:33781\n"
		"     4 0.000003 [fd00::2]:3935 > [fd00::1]:50000 port mapper Reject "
		"00ff12c4d5e6f708 of [fd00::2]:7174\n");
}

static void messages_in_json(void **state)
{
	struct select all = {0};
	struct capture c;

	begin(&c);
	message(&c, IWPM_REQUEST, true, 7174);
	message(&c, IWPM_REJECT, false, 7174);
	expect(&c, &all, true,
		"{\"event\":\"port_mapper\",\"frame\":1,\"time_ns\":1000000000,"
		"\"from\":\"[fd00::1]:50000\",\"to\":\"[fd00::2]:3935\",\"type\":\"Request\","
		"\"handle\":\"00ff12c4d5e6f708\",\"accepting\":\"[fd00::2]:7174\","
		"\"connecting\":\"[fd00::1]:40000\",\"mapped\":\"[fd00::1]:40000\"}\n"
		"{\"event\":\"port_mapper\",\"frame\":2,\"time_ns\":1000001000,"
		"\"from\":\"10.0.0.2:3935\",\"to\":\"10.0.0.1:50000\",\"type\":\"Reject\","
		"\"handle\":\"00ff12c4d5e6f708\",\"accepting\":\"10.0.0.2:7174\","
		"\"connecting\":\"10.0.0.1:40000\"}\n");
}

static void what_is_no_message_is_shown_as_that(void **state)
{
	static const uint8_t data[IWPM_MESSAGE_MAX] = {0xc4};
	struct ip_endpoint from = at("10.0.0.1", 50000), to = at("10.0.0.2", IWPM_PORT);
	struct select all = {0};
	struct capture c;

	begin(&c);
	datagram(&c, from, to, data, 64, 64, 72); /* of another version */
	datagram(&c, from, to, data, 64, 47, 72);
	datagram(&c, from, to, data, 64, 64, 8); /* what is behind is not UDP's */
	datagram(&c, from, to, data, 64, 64, 73);
	datagram(&c, from, to, data, 64, 64, 7);
	to.port++;
	datagram(&c, from, to, data, 64, 64, 72);
	expect(&c, &all, false,
		"     1 0.000000 10.0.0.1:50000 > 10.0.0.2:3935 port mapper 64 octets that are no "
		"message\n"
		"     2 0.000001 10.0.0.1:50000 > 10.0.0.2:3935 port mapper 64 octets that are no "
		"message, or cut off by the snap length\n"
		"     3 0.000002 10.0.0.1:50000 > 10.0.0.2:3935 port mapper 0 octets that are no "
		"message\n");
}

static void fragments_are_put_together(void **state)
{
	struct select all = {0};
	struct capture c;
	size_t last;

	for (size_t size = 8; size < 64; size += 8) {
		char expected[160];

		begin(&c);
		message(&c, IWPM_ACCEPT, false, 33781);
		split(&c, 24, size);
		snprintf(expected, sizeof expected,
			"%6u 0.%06u 10.0.0.2:3935 > 10.0.0.1:50000 port mapper Accept "
			"00ff12c4d5e6f708 mapped to 10.0.0.2:33781\n",
			c.frames, c.frames - 1);
		expect(&c, &all, false, expected);
	}
	/* Of a fragment that is cut, and what is behind it, nothing is read. */
	begin(&c);
	message(&c, IWPM_ACCEPT, false, 33781);
	split(&c, 24, 16);
	last = c.len - 1;
	memmove(c.bytes + 24 + 52 + 51, c.bytes + 24 + 52 + 52, last - (24 + 52 + 51));
	c.len = last;
	put32(c.bytes + 24 + 52 + 8, 35);
	expect(&c, &all, false,
		"     4 0.000003 10.0.0.2:3935 > 10.0.0.1:50000 port mapper 48 octets that are no "
		"message, or cut off by the snap length\n");
}

static void they_are_selected_by_host_and_time(void **state)
{
	struct select one = {.num_ids = 1, .ids = {1}}, net = {.num_nets = 1};
	struct capture c;
	char *said;

	begin(&c);
	message(&c, IWPM_REQUEST, false, 7174);
	message(&c, IWPM_REQUEST, true, 7174);
	expect(&c, &one, false, "");
	net.nets[0] = (struct select_net){at("fd00::", 0).addr, 64};
	said = shown(&c, &net, false);
	assert_non_null(strstr(said, "     2 0.000001 [fd00::1]"));
	assert_null(strstr(said, "10.0.0.1"));
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_named),
		cmocka_unit_test(messages_in_json),
		cmocka_unit_test(what_is_no_message_is_shown_as_that),
		cmocka_unit_test(fragments_are_put_together),
		cmocka_unit_test(they_are_selected_by_host_and_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
