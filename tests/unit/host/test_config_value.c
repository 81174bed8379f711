/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct config c;
static struct config_error e;

static int start_over(void **state)
{
	config_init(&c);
	return 0;
}

static void right(const char *assignment)
{
	if (config_set(&c, "--set", assignment, &e) != 0)
		fail_msg("%s: %s", assignment, e.text);
}

static void wrong(const char *assignment, const char *expected)
{
	if (config_set(&c, "--set", assignment, &e) != -EINVAL)
		fail_msg("%s was taken", assignment);
	if (strstr(e.text, expected) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", e.text, expected);
}

static void test_port(void **state)
{
	char text[300];

	right("port=0000:01:00.0");
	wrong("port=net null0", "DPDK device arguments");
	wrong("port=-a", "DPDK device arguments");
	wrong("port=,x", "DPDK device arguments");
	memset(text, 'x', sizeof text);
	memcpy(text, "port=", 5);
	text[5 + 255] = '\0';
	right(text);
	assert_int_equal(strlen(c.port), 255);
	text[5 + 255] = 'x';
	text[5 + 256] = '\0';
	wrong(text, "at most 255");
}

static void test_address(void **state)
{
	right("address=10.0.0.1/24,fd00::1/64");
	assert_int_equal(c.num_addresses, 2);
	wrong("address=10.0.0.2", "with its prefix length");
	wrong("address=10.0.0.256/24", "with its prefix length");
	wrong("address=10.0.0.2/33", "prefix length");
	wrong("address=10.0.0.2/0", "prefix length from 1 to 32");
	wrong("address=10.0.0.1/8", "only once");
	wrong("address=224.0.0.1/8", "unicast");
	wrong("address=0.0.0.0/8", "unicast");
	wrong("address=::/128", "unicast");
	wrong("gateway=127.0.0.1", "unicast");
	wrong("address=10.0.0.3/24,,10.0.0.4/24", "one comma");
	wrong("address=10.0.0.3/24,", "one comma");
}

static void test_address_too_many(void **state)
{
	char text[64];

	for (int i = 1; i <= CONFIG_MAX_ADDRESSES; i++) {
		snprintf(text, sizeof text, "address=10.0.0.%d/24", i);
		right(text);
	}
	wrong("address=10.0.0.100/24", "at most 16");
	assert_int_equal(c.num_addresses, CONFIG_MAX_ADDRESSES);
}

static void test_gateway(void **state)
{
	right("gateway=10.0.0.254");
	right("gateway=fe80::1");
	wrong("gateway=10.0.0.254/24", "without prefix length");
	wrong("gateway=router", "unicast address of a router");
	wrong("gateway=10.0.0.254", "only once");
	right("gateway=10.0.0.1,10.0.0.2");
	wrong("gateway=10.0.0.3", "at most 4");
}

static void test_numbers(void **state)
{
	right("mtu=576");
	right("mtu=65318");
	wrong("mtu=575", "576");
	wrong("mtu=65319", "65318");
	wrong("mtu=-1", "576");
	wrong("mtu=0x600", "576");
	wrong("mtu=1500 bytes", "576");
	wrong("mtu=99999999999999999999999999999", "65318");
	right("memory=64");
	wrong("memory=1", "from 8");
	wrong("memory=64M", "MiB");
}

static void test_sizes(void **state)
{
	right("send_buffer=16384");
	assert_int_equal(c.send_buffer, 16384);
	right("send_buffer=4M");
	assert_int_equal(c.send_buffer, 4 << 20);
	right("receive_buffer=64k");
	assert_int_equal(c.receive_buffer, 64 << 10);
	wrong("receive_buffer=1K", "16K");
	wrong("receive_buffer=1G", "1023M");
	wrong("receive_buffer=99999999999999999999999G", "1023M");
	wrong("receive_buffer=K", "16K");
	wrong("receive_buffer=64KB", "16K");
}

static void test_mac(void **state)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0xab, 0xCD};

	right("mac=02:00:00:00:ab:CD");
	assert_memory_equal(c.mac, mac, 6);
	wrong("mac=02:00:00:00:00", "six hexadecimal pairs");
	wrong("mac=02-00-00-00-00-01", "six hexadecimal pairs");
	wrong("mac=03:00:00:00:00:01", "unicast");
	wrong("mac=00:00:00:00:00:00", "unicast");
	wrong("mac=02:00:00:00:00:0g", "six hexadecimal pairs");
}

static void test_name(void **state)
{
	right("name=my-rnic_1");
	wrong("name=1st", "beginning with a letter");
	wrong("name=a/b", "letters, digits");
	wrong("name=abcdefghijklmnopqrstuvwxyz012345", "at most 31");
}

static void test_progress(void **state)
{
	right("progress=dedicated:3");
	assert_true(c.progress_dedicated);
	assert_int_equal(c.progress_core, 3);
	right("progress=dedicated");
	assert_int_equal(c.progress_core, -1);
	right("progress=auto");
	assert_false(c.progress_dedicated);
	right("progress=relaxed");
	assert_true(c.progress_relaxed && !c.progress_dedicated);
	right("progress=dedicated:3");
	assert_true(!c.progress_relaxed && c.progress_dedicated);
	right("progress=relaxed");
	right("progress=auto");
	assert_false(c.progress_relaxed || c.progress_dedicated);
	wrong("progress=relaxed:3", "relaxed");
	wrong("progress=dedicated:", "CORE");
	wrong("progress=dedicated:-1", "CORE");
	wrong("progress=dedicated3", "CORE");
	wrong("progress=busy", "auto, relaxed, dedicated");
}

static void test_tcp_options(void **state)
{
	assert_true(c.timestamps && c.sack && c.window_scale);
	right("timestamps=off");
	assert_false(c.timestamps);
	wrong("timestamps=no", "on or off");
	right("sack=off");
	assert_false(c.sack);
	wrong("sack=1", "on or off");
	right("window_scale=off");
	assert_false(c.window_scale);
	right("window_scale=on");
	assert_true(c.window_scale);
	wrong("window_scale=7", "on or off");
	assert_int_equal(c.ecn, TCP_ECN_ACCEPT);
	right("ecn=on");
	assert_int_equal(c.ecn, TCP_ECN_ON);
	right("ecn=off");
	assert_int_equal(c.ecn, TCP_ECN_OFF);
	wrong("ecn=yes", "accept, on or off");
	assert_int_equal(c.syn_cookies, TCP_COOKIES_AUTO);
	right("syn_cookies=always");
	assert_int_equal(c.syn_cookies, TCP_COOKIES_ALWAYS);
	right("syn_cookies=off");
	assert_int_equal(c.syn_cookies, TCP_COOKIES_OFF);
	wrong("syn_cookies=on", "auto, always or off");
}

static void test_connect(void **state)
{
	assert_int_equal(config_pairing_port(&c), 61525);
	right("connect_port=7");
	assert_int_equal(config_pairing_port(&c), 7);
	right("connect_mode=rdma_cm");
	assert_int_equal(config_pairing_port(&c), 0);
	right("connect_mode=auto");
	assert_int_equal(config_pairing_port(&c), 7);
	wrong("connect_mode=on", "auto or rdma_cm");
	assert_int_equal(c.port_mapper, PORT_MAPPER_AUTO);
	right("port_mapper=off");
	assert_int_equal(c.port_mapper, PORT_MAPPER_OFF);
	right("port_mapper=auto");
	assert_int_equal(c.port_mapper, PORT_MAPPER_AUTO);
	right("port_mapper=required");
	assert_int_equal(c.port_mapper, PORT_MAPPER_REQUIRED);
	wrong("port_mapper=on", "auto, off or required");
	wrong("connect_port=0", "1 to 65535");
	wrong("connect_port=65536", "1 to 65535");
	right("rnr_timeout=0");
	right("rnr_timeout=600000");
	wrong("rnr_timeout=600001", "0 to 600000");
}

static void test_patience(void **state)
{
	static const struct {
		const char *key;
		uint32_t *is, usual, least;
		bool or_zero;
	} keys[] = {
		{"user_timeout", &c.patience.user_timeout, 30000, 1000, false},
		{"zero_window_timeout", &c.patience.zero_window_timeout, 0, 1000, true},
		{"keepalive", &c.patience.keepalive, 10000, 1000, true},
		{"startup_timeout", &c.patience.startup_timeout, 10000, 100, false},
	};
	char text[64], range[64];

	for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const char *key = keys[i].key;
		bool or_zero = keys[i].or_zero;

		assert_int_equal(*keys[i].is, keys[i].usual);
		snprintf(range, sizeof range, "%sa number of milliseconds from %u to 86400000",
			or_zero ? "0 or " : "", keys[i].least);
		snprintf(text, sizeof text, "%s=%u", key, keys[i].least);
		right(text);
		assert_int_equal(*keys[i].is, keys[i].least);
		snprintf(text, sizeof text, "%s=86400000", key);
		right(text);
		assert_int_equal(*keys[i].is, 86400000);
		snprintf(text, sizeof text, "%s=0", key);
		if (or_zero)
			right(text);
		else
			wrong(text, range);
		assert_int_equal(*keys[i].is, or_zero ? 0 : 86400000);
		snprintf(text, sizeof text, "%s=%u", key, keys[i].least - 1);
		wrong(text, range);
		snprintf(text, sizeof text, "%s=1", key);
		wrong(text, range);
		snprintf(text, sizeof text, "%s=86400001", key);
		wrong(text, range);
		snprintf(text, sizeof text, "%s=30s", key);
		wrong(text, range);
		snprintf(text, sizeof text, "%s=off", key);
		wrong(text, range);
	}
}

static void test_how_many(void **state)
{
	static const struct {
		const char *key;
		uint32_t *is, usual;
		bool or_zero;
	} keys[] = {
		{"max_startups", &c.patience.max_startups, 4096, false},
		{"max_startups_per_peer", &c.patience.max_startups_per_peer, 1024, false},
		{"max_half_open", &c.patience.max_half_open, 4096, false},
		{"max_half_open_per_peer", &c.patience.max_half_open_per_peer, 512, false},
		{"max_stalled_per_peer", &c.patience.max_stalled_per_peer, 0, true},
		{"tls_handshakes_per_peer", &c.tls.handshakes_per_peer, 1000, true},
	};
	char text[64];

	/* No single peer can take all the places. */
	assert_true(c.patience.max_startups_per_peer < c.patience.max_startups);
	assert_true(c.patience.max_half_open_per_peer < c.patience.max_half_open);
	for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		assert_int_equal(*keys[i].is, keys[i].usual);
		snprintf(text, sizeof text, "%s=1", keys[i].key);
		right(text);
		assert_int_equal(*keys[i].is, 1);
		snprintf(text, sizeof text, "%s=65536", keys[i].key);
		right(text);
		snprintf(text, sizeof text, "%s=65537", keys[i].key);
		wrong(text, "to 65536");
		snprintf(text, sizeof text, "%s=0", keys[i].key);
		if (keys[i].or_zero)
			right(text);
		else
			wrong(text, "from 1 to 65536");
		assert_int_equal(*keys[i].is, keys[i].or_zero ? 0 : 65536);
	}
}

static void test_mpa(void **state)
{
	assert_int_equal(c.mpa.crc, MPA_CRC_PREFERRED);
	right("crc=off");
	assert_int_equal(c.mpa.crc, MPA_CRC_OFF);
	right("crc=required");
	assert_int_equal(c.mpa.crc, MPA_CRC_REQUIRED);
	right("crc=on");
	assert_int_equal(c.mpa.crc, MPA_CRC_PREFERRED);
	wrong("crc=yes", "preferred, required or off");
	right("markers=on");
	assert_true(c.mpa.markers);
	right("markers=off");
	assert_false(c.mpa.markers);
	wrong("markers=both", "on or off");
	right("placement=in-order");
	assert_true(c.mpa.in_order);
	right("peer=siw");
	assert_true(c.mpa.in_order);
	right("placement=auto");
	assert_false(c.mpa.in_order);
	wrong("placement=on", "auto or in-order");
	right("mpa_revision=1");
	assert_int_equal(c.mpa.revision, 1);
	wrong("mpa_revision=0", "RFC 6581");
	wrong("mpa_revision=3", "RFC 6581");
	right("fpdu=1024");
	assert_int_equal(c.mpa.fpdu_max, 1024);
	right("fpdu=segment");
	assert_int_equal(c.mpa.fpdu_max, 0);
	wrong("fpdu=159", "from 160 to 65535");
	wrong("fpdu=65536", "from 160 to 65535");
}

static void test_rtr(void **state)
{
	right("rtr=none");
	assert_int_equal(c.mpa.rtr, 0);
	assert_false(c.mpa.peer_to_peer);
	right("rtr=send, write");
	assert_int_equal(c.mpa.rtr, MPA_RTR_SEND | MPA_RTR_WRITE);
	assert_int_equal(c.mpa.rtr_order[0], MPA_RTR_SEND);
	assert_int_equal(c.mpa.rtr_order[1], MPA_RTR_WRITE);
	assert_int_equal(c.mpa.rtr_order[2], 0);
	assert_true(c.mpa.peer_to_peer);
	wrong("rtr=write,write", "write, read and send");
	wrong("rtr=write,none", "write, read and send");
	wrong("rtr=,write", "write, read and send");
}

/* Each preset can be used, and gives way to what is said beside it, in either order. */
static void test_peer(void **state)
{
	static const char *const peers[] = {"peer=auto", "peer=rfc", "peer=siw", "peer=cxgb4",
		"peer=irdma", "peer=qed", "peer=smbdirect"};

	wrong("peer=mlx5", "auto, rfc, siw, cxgb4, irdma, qed or smbdirect");
	right("peer=siw");
	assert_int_equal(c.mpa.rtr, MPA_RTR_WRITE | MPA_RTR_READ);
	assert_int_equal(c.mpa.private_max, 256);
	right("peer=cxgb4");
	assert_int_equal(c.mpa.rtr_order[0], MPA_RTR_READ);
	assert_int_equal(c.mpa.settle_ms, 0);
	right("peer=smbdirect");
	assert_int_equal(c.mpa.revision, 1);
	right("peer=auto");
	assert_int_equal(c.mpa.revision, 2);
	assert_int_equal(c.mpa.private_max, 0);
	right("crc=off");
	right("markers=on");
	right("mpa_revision=1");
	right("fpdu=500");
	right("rtr=send");
	for (unsigned i = 0; i < sizeof peers / sizeof peers[0]; i++) {
		right(peers[i]);
		assert_int_equal(c.mpa.crc, MPA_CRC_OFF);
		assert_true(c.mpa.markers);
		assert_int_equal(c.mpa.revision, 1);
		assert_int_equal(c.mpa.fpdu_max, 500);
		assert_int_equal(c.mpa.rtr, MPA_RTR_SEND);
		assert_int_equal(c.mpa.rtr_order[0], MPA_RTR_SEND);
		assert_true(c.mpa.peer_to_peer);
	}
	right("crc=required");
	assert_int_equal(c.mpa.crc, MPA_CRC_REQUIRED);
}

static void test_words(void **state)
{
	right("congestion_control=newreno");
	assert_string_equal(c.congestion_control, "newreno");
	wrong("congestion_control=vegas", "cubic, bbr or newreno");
	right("log=info");
	assert_int_equal(c.log, LOG_LEVEL_INFO);
	wrong("log=loud", "warning");
	right("log_file=/tmp/x.log");
	right("capture=/tmp/x.pcapng");
	right("eal=--no-telemetry -l 0");
	assert_string_equal(c.eal, "--no-telemetry -l 0");
	wrong("eal=a\tb", "EAL arguments");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_port, start_over),
		cmocka_unit_test_setup(test_address, start_over),
		cmocka_unit_test_setup(test_address_too_many, start_over),
		cmocka_unit_test_setup(test_gateway, start_over),
		cmocka_unit_test_setup(test_numbers, start_over),
		cmocka_unit_test_setup(test_sizes, start_over),
		cmocka_unit_test_setup(test_mac, start_over),
		cmocka_unit_test_setup(test_name, start_over),
		cmocka_unit_test_setup(test_progress, start_over),
		cmocka_unit_test_setup(test_tcp_options, start_over),
		cmocka_unit_test_setup(test_connect, start_over),
		cmocka_unit_test_setup(test_patience, start_over),
		cmocka_unit_test_setup(test_how_many, start_over),
		cmocka_unit_test_setup(test_mpa, start_over),
		cmocka_unit_test_setup(test_rtr, start_over),
		cmocka_unit_test_setup(test_peer, start_over),
		cmocka_unit_test_setup(test_words, start_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
