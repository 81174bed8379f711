/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config_value.h"

#include "base/number.h"
#include "provider/config_mpa.h"
#include "provider/config_parse.h"
#include "provider/config_patience.h"
#include "provider/config_slot.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *parse_port(struct config *c, const char *v)
{
	/* The EAL takes the driver's name up to the first comma; blanks are never part of it. */
	if (config_parse_text(v, c->port, sizeof c->port) != 0 || strpbrk(v, " \t") != NULL ||
		v[0] == ',' || v[0] == '-')
		return "DPDK device arguments of at most 255 characters without blanks, such as "
		       "net_memif0,role=server,socket=/tmp/uiwarp.sock or 0000:01:00.0";
	return NULL;
}

static const char *parse_eal(struct config *c, const char *v)
{
	if (config_parse_text(v, c->eal, sizeof c->eal) != 0)
		return "EAL arguments of at most 1023 characters";
	return NULL;
}

static const char *parse_mac(struct config *c, const char *v)
{
	const char *right =
		"a unicast Ethernet address of six hexadecimal pairs, such as 02:00:00:00:00:01";
	static const uint8_t zero[6];
	uint8_t mac[6];

	if (strlen(v) != 17)
		return right;
	for (int i = 0; i < 6; i++) {
		const char *p = v + (size_t)i * 3;
		char pair[3] = {p[0], p[1], '\0'};

		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]) ||
			(i < 5 && p[2] != ':'))
			return right;
		mac[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	if ((mac[0] & 1) != 0 || memcmp(mac, zero, sizeof mac) == 0)
		return right;
	memcpy(c->mac, mac, sizeof mac);
	return NULL;
}

static const char *parse_name(struct config *c, const char *v)
{
	const char *right =
		"a device name of at most 31 letters, digits, '_' or '-', beginning with a letter";

	if (!isalpha((unsigned char)v[0]))
		return right;
	for (const char *p = v; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			return right;
	return config_parse_text(v, c->name, sizeof c->name) == 0 ? NULL : right;
}

static const char *parse_address(struct config *c, const char *v)
{
	struct config_address a;
	unsigned bits;

	if (ip_addr_parse_cidr(v, &a.addr, &a.prefix_len) != 0 || strchr(v, '/') == NULL)
		return "an address with its prefix length, such as 10.0.0.1/24 or fd00::1/64";
	if (ip_addr_is_any(&a.addr) || ip_addr_is_multicast(&a.addr) ||
		ip_addr_is_loopback(&a.addr))
		return "a unicast address that is not of the loopback network";
	bits = ip_addr_is_v4(&a.addr) ? 32 : 128;
	if (a.prefix_len == 0 || a.prefix_len > bits)
		return "a prefix length from 1 to 32 (IPv4) or 1 to 128 (IPv6)";
	for (unsigned i = 0; i < c->num_addresses; i++)
		if (ip_addr_equal(&c->address[i].addr, &a.addr))
			return "every address only once";
	if (c->num_addresses == CONFIG_MAX_ADDRESSES)
		return "at most 16 addresses";
	c->address[c->num_addresses++] = a;
	return NULL;
}

static void reset_address(struct config *c)
{
	c->num_addresses = 0;
}

static const char *parse_gateway(struct config *c, const char *v)
{
	struct ip_addr a;

	if (ip_addr_parse(v, &a) != 0 || ip_addr_is_any(&a) || ip_addr_is_multicast(&a) ||
		ip_addr_is_loopback(&a))
		return "the unicast address of a router, without prefix length";
	for (unsigned i = 0; i < c->num_gateways; i++)
		if (ip_addr_equal(&c->gateway[i], &a))
			return "every gateway only once";
	if (c->num_gateways == CONFIG_MAX_GATEWAYS)
		return "at most 4 gateways";
	c->gateway[c->num_gateways++] = a;
	return NULL;
}

static void reset_gateway(struct config *c)
{
	c->num_gateways = 0;
}

static const char *parse_mtu(struct config *c, const char *v)
{
	uint64_t n;

	/* RFC 1122 section 3.3.3: every host takes datagrams of 576 bytes. */
	if (!number_parse(v, 576, 65535, &n))
		return "a number of bytes from 576 to 65535";
	c->mtu = (uint16_t)n;
	return NULL;
}

static const char *parse_progress(struct config *c, const char *v)
{
	const char *right = "auto, relaxed, dedicated, or dedicated:CORE with CORE from 0 to 1023";
	static const char dedicated[] = "dedicated";
	const char *core = v + sizeof dedicated - 1;
	uint64_t n;

	if (strcmp(v, "auto") == 0 || strcmp(v, "relaxed") == 0) {
		c->progress_dedicated = false;
		c->progress_relaxed = *v == 'r';
		c->progress_core = -1;
		return NULL;
	}
	if (strncmp(v, dedicated, sizeof dedicated - 1) != 0)
		return right;
	if (*core == '\0') {
		c->progress_core = -1;
	} else {
		if (*core != ':' || !number_parse(core + 1, 0, 1023, &n))
			return right;
		c->progress_core = (int)n;
	}
	c->progress_dedicated = true;
	c->progress_relaxed = false;
	return NULL;
}

static const char *parse_connect_mode(struct config *c, const char *v)
{
	static const char *const words[] = {"auto", "rdma_cm", NULL};
	int i = config_parse_word(v, words);

	if (i < 0)
		return "auto or rdma_cm";
	c->connect_rdma_cm = i == 1;
	return NULL;
}

static const char *parse_connect_port(struct config *c, const char *v)
{
	uint64_t n;

	if (!number_parse(v, 1, UINT16_MAX, &n))
		return "a port number from 1 to 65535";
	c->connect_port = (uint16_t)n;
	return NULL;
}

static const char *parse_congestion_control(struct config *c, const char *v)
{
	static const char *const words[] = {"cubic", "bbr", "newreno", NULL};

	if (config_parse_word(v, words) < 0)
		return "cubic, bbr or newreno";
	config_parse_text(v, c->congestion_control, sizeof c->congestion_control);
	return NULL;
}

static const char *parse_timestamps(struct config *c, const char *v)
{
	return config_parse_switch(v, &c->timestamps);
}

static const char *parse_sack(struct config *c, const char *v)
{
	return config_parse_switch(v, &c->sack);
}

static const char *parse_window_scale(struct config *c, const char *v)
{
	return config_parse_switch(v, &c->window_scale);
}

static const char *parse_ecn(struct config *c, const char *v)
{
	/* In the order of enum tcp_ecn_mode. */
	static const char *const words[] = {"accept", "off", "on", NULL};
	int i = config_parse_word(v, words);

	if (i < 0)
		return "accept, on or off";
	c->ecn = (enum tcp_ecn_mode)i;
	return NULL;
}

static const char *parse_syn_cookies(struct config *c, const char *v)
{
	/* In the order of enum tcp_syn_cookies. */
	static const char *const words[] = {"auto", "always", "off", NULL};
	int i = config_parse_word(v, words);

	if (i < 0)
		return "auto, always or off";
	c->syn_cookies = (enum tcp_syn_cookies)i;
	return NULL;
}

static const char *parse_capture(struct config *c, const char *v)
{
	return config_parse_text(v, c->capture, sizeof c->capture) == 0
		       ? NULL
		       : "the path of a pcapng file, at most 1023 characters";
}

static const char *parse_log(struct config *c, const char *v)
{
	static const char *const words[] = {"error", "warning", "info", "debug", NULL};
	int i = config_parse_word(v, words);

	if (i < 0)
		return "error, warning, info or debug";
	c->log = (enum log_level)i;
	return NULL;
}

static const char *parse_log_file(struct config *c, const char *v)
{
	return config_parse_text(v, c->log_file, sizeof c->log_file) == 0
		       ? NULL
		       : "the path of a file, at most 1023 characters";
}

static const char *parse_buffer(const char *v, uint32_t *out)
{
	uint64_t n;

	/* RFC 7323 section 2.3: a window is less than 2^30 bytes. */
	if (!number_parse_size(v, 16384, (1u << 30) - 1, &n))
		return "a number of bytes from 16K to 1023M; K and M may follow it";
	*out = (uint32_t)n;
	return NULL;
}

static const char *parse_send_buffer(struct config *c, const char *v)
{
	return parse_buffer(v, &c->send_buffer);
}

static const char *parse_receive_buffer(struct config *c, const char *v)
{
	return parse_buffer(v, &c->receive_buffer);
}

static const char *parse_memory(struct config *c, const char *v)
{
	uint64_t n;

	if (!number_parse(v, 8, 1u << 20, &n))
		return "a number of MiB from 8 to 1048576";
	c->memory = (uint32_t)n;
	return NULL;
}

static const char *parse_settle(struct config *c, const char *v)
{
	uint64_t n;

	if (!number_parse(v, 0, 60, &n))
		return "a number of seconds from 0 to 60";
	c->settle = (uint8_t)n;
	return NULL;
}

static const char *parse_rnr_timeout(struct config *c, const char *v)
{
	uint64_t n;

	if (!number_parse(v, 0, 600000, &n))
		return "a number of milliseconds from 0 to 600000";
	c->rnr_timeout = (uint32_t)n;
	return NULL;
}

static const char *parse_interface(struct config *c, const char *v)
{
	return config_parse_switch(v, &c->list_addresses);
}

const struct config_key config_keys[] = {
	{"port", false, parse_port, NULL},
	{"address", true, parse_address, reset_address},
	{"gateway", true, parse_gateway, reset_gateway},
	{"mtu", false, parse_mtu, NULL},
	{"eal", false, parse_eal, NULL},
	{"mac", false, parse_mac, NULL},
	{"name", false, parse_name, NULL},
	{"progress", false, parse_progress, NULL},
	{"peer", false, config_mpa_peer, NULL},
	{"crc", false, config_mpa_crc, NULL},
	{"markers", false, config_mpa_markers, NULL},
	{"placement", false, config_mpa_placement, NULL},
	{"mpa_revision", false, config_mpa_revision, NULL},
	{"rtr", false, config_mpa_rtr, NULL},
	{"fpdu", false, config_mpa_fpdu, NULL},
	{"connect_mode", false, parse_connect_mode, NULL},
	{"connect_port", false, parse_connect_port, NULL},
	{"congestion_control", false, parse_congestion_control, NULL},
	{"timestamps", false, parse_timestamps, NULL},
	{"sack", false, parse_sack, NULL},
	{"window_scale", false, parse_window_scale, NULL},
	{"ecn", false, parse_ecn, NULL},
	{"syn_cookies", false, parse_syn_cookies, NULL},
	{"capture", false, parse_capture, NULL},
	{"log", false, parse_log, NULL},
	{"log_file", false, parse_log_file, NULL},
	{"send_buffer", false, parse_send_buffer, NULL},
	{"receive_buffer", false, parse_receive_buffer, NULL},
	{"memory", false, parse_memory, NULL},
	{"interface", false, parse_interface, NULL},
	{"rnr_timeout", false, parse_rnr_timeout, NULL},
	{"settle", false, parse_settle, NULL},
	{"user_timeout", false, config_patience_user_timeout, NULL},
	{"zero_window_timeout", false, config_patience_zero_window, NULL},
	{"keepalive", false, config_patience_keepalive, NULL},
	{"startup_timeout", false, config_patience_startup, NULL},
	{"max_startups", false, config_patience_startups, NULL},
	{"max_startups_per_peer", false, config_patience_startups_per_peer, NULL},
	{"max_half_open", false, config_patience_half_open, NULL},
	{"max_half_open_per_peer", false, config_patience_half_open_per_peer, NULL},
	{"max_stalled_per_peer", false, config_patience_stalled_per_peer, NULL},
	{"slots", false, config_slot_range, NULL},
};

const unsigned config_num_keys = sizeof config_keys / sizeof config_keys[0];
_Static_assert(sizeof config_keys / sizeof config_keys[0] <= CONFIG_MAX_KEYS,
	"struct config remembers a line for each key");
