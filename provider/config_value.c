/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A decimal number and nothing else: no sign, no blanks, no octal or hexadecimal surprises. */
static int parse_number(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;

	if (*s == '\0')
		return -EINVAL;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		n = n * 10 + (unsigned)(*s - '0');
		if (n > max)
			return -ERANGE;
	}
	*out = n;
	return 0;
}

static int parse_range(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	int rc = parse_number(s, max, out);

	return rc == 0 && *out < min ? -ERANGE : rc;
}

/* "64K", "4M", "1G", or bytes. */
static int parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	char digits[24];
	size_t n = strlen(s);
	unsigned shift = 0;
	int rc;

	if (n == 0 || n >= sizeof digits)
		return -EINVAL;
	memcpy(digits, s, n + 1);
	switch (toupper((unsigned char)digits[n - 1])) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	}
	if (shift != 0)
		digits[n - 1] = '\0';
	rc = parse_number(digits, max >> shift, out);
	if (rc != 0)
		return rc;
	*out <<= shift;
	return *out < min ? -ERANGE : 0;
}

static int parse_text(const char *s, char *out, size_t size)
{
	size_t n = strlen(s);

	if (n >= size)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)s[i]))
			return -EINVAL;
	memcpy(out, s, n + 1);
	return 0;
}

/* The index of @p s in a NULL-terminated list of words, or -1. */
static int parse_word(const char *s, const char *const words[])
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	return -1;
}

static const char *parse_port(struct config *c, const char *v)
{
	/* The EAL takes the driver's name up to the first comma; blanks are never part of it. */
	if (parse_text(v, c->port, sizeof c->port) != 0 || strpbrk(v, " \t") != NULL ||
		v[0] == ',' || v[0] == '-')
		return "DPDK device arguments of at most 255 characters without blanks, such as "
		       "net_memif0,role=server,socket=/tmp/uiwarp.sock or 0000:01:00.0";
	return NULL;
}

static const char *parse_eal(struct config *c, const char *v)
{
	if (parse_text(v, c->eal, sizeof c->eal) != 0)
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
	return parse_text(v, c->name, sizeof c->name) == 0 ? NULL : right;
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
	if (parse_range(v, 576, 65535, &n) != 0)
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
		if (*core != ':' || parse_range(core + 1, 0, 1023, &n) != 0)
			return right;
		c->progress_core = (int)n;
	}
	c->progress_dedicated = true;
	c->progress_relaxed = false;
	return NULL;
}

static const char *parse_switch(const char *v, bool *out)
{
	static const char *const words[] = {"off", "on", NULL};
	int i = parse_word(v, words);

	if (i < 0)
		return "on or off";
	*out = i == 1;
	return NULL;
}

static const char *parse_crc(struct config *c, const char *v)
{
	return parse_switch(v, &c->mpa.crc);
}

static const char *parse_markers(struct config *c, const char *v)
{
	/* RFC 5044 section 4.3: the receiver decides, and this one does not take them. */
	if (strcmp(v, "off") != 0)
		return "off (receiving markers is not implemented)";
	c->mpa.markers = false;
	return NULL;
}

static const char *parse_revision(struct config *c, const char *v)
{
	uint64_t n;

	if (parse_range(v, 1, 2, &n) != 0)
		return "1 (RFC 5044) or 2 (RFC 6581)";
	c->mpa.revision = (uint8_t)n;
	return NULL;
}

static const char *parse_rtr(struct config *c, const char *v)
{
	const char *right = "none, or a list of write, read and send, such as write,read";
	uint8_t mask = 0;
	char list[32];
	char *save = NULL;

	if (strcmp(v, "none") != 0) {
		if (parse_text(v, list, sizeof list) != 0 || v[0] == ',' ||
			v[strlen(v) - 1] == ',' || strstr(v, ",,") != NULL)
			return right;
		for (char *w = strtok_r(list, ", \t", &save); w != NULL;
			w = strtok_r(NULL, ", \t", &save)) {
			uint8_t bit = strcmp(w, "write") == 0  ? MPA_RTR_WRITE
				      : strcmp(w, "read") == 0 ? MPA_RTR_READ
				      : strcmp(w, "send") == 0 ? MPA_RTR_SEND
							       : 0;

			if (bit == 0 || (mask & bit) != 0)
				return right;
			mask |= bit;
		}
	}
	c->mpa.rtr = mask;
	c->mpa.peer_to_peer = mask != 0;
	return NULL;
}

static const char *parse_congestion_control(struct config *c, const char *v)
{
	static const char *const words[] = {"cubic", "bbr", "newreno", NULL};

	if (parse_word(v, words) < 0)
		return "cubic, bbr or newreno";
	parse_text(v, c->congestion_control, sizeof c->congestion_control);
	return NULL;
}

static const char *parse_timestamps(struct config *c, const char *v)
{
	return parse_switch(v, &c->timestamps);
}

static const char *parse_sack(struct config *c, const char *v)
{
	return parse_switch(v, &c->sack);
}

static const char *parse_window_scale(struct config *c, const char *v)
{
	return parse_switch(v, &c->window_scale);
}

static const char *parse_ecn(struct config *c, const char *v)
{
	/* In the order of enum tcp_ecn_mode. */
	static const char *const words[] = {"accept", "off", "on", NULL};
	int i = parse_word(v, words);

	if (i < 0)
		return "accept, on or off";
	c->ecn = (enum tcp_ecn_mode)i;
	return NULL;
}

static const char *parse_syn_cookies(struct config *c, const char *v)
{
	/* In the order of enum tcp_syn_cookies. */
	static const char *const words[] = {"auto", "always", "off", NULL};
	int i = parse_word(v, words);

	if (i < 0)
		return "auto, always or off";
	c->syn_cookies = (enum tcp_syn_cookies)i;
	return NULL;
}

static const char *parse_capture(struct config *c, const char *v)
{
	return parse_text(v, c->capture, sizeof c->capture) == 0
		       ? NULL
		       : "the path of a pcapng file, at most 1023 characters";
}

static const char *parse_log(struct config *c, const char *v)
{
	static const char *const words[] = {"error", "warning", "info", "debug", NULL};
	int i = parse_word(v, words);

	if (i < 0)
		return "error, warning, info or debug";
	c->log = (enum log_level)i;
	return NULL;
}

static const char *parse_log_file(struct config *c, const char *v)
{
	return parse_text(v, c->log_file, sizeof c->log_file) == 0
		       ? NULL
		       : "the path of a file, at most 1023 characters";
}

static const char *parse_buffer(const char *v, uint32_t *out)
{
	uint64_t n;

	/* RFC 7323 section 2.3: a window is less than 2^30 bytes. */
	if (parse_size(v, 16384, (1u << 30) - 1, &n) != 0)
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

	if (parse_range(v, 8, 1u << 20, &n) != 0)
		return "a number of MiB from 8 to 1048576";
	c->memory = (uint32_t)n;
	return NULL;
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
	{"crc", false, parse_crc, NULL},
	{"markers", false, parse_markers, NULL},
	{"mpa_revision", false, parse_revision, NULL},
	{"rtr", false, parse_rtr, NULL},
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
};

const unsigned config_num_keys = sizeof config_keys / sizeof config_keys[0];
_Static_assert(sizeof config_keys / sizeof config_keys[0] <= CONFIG_MAX_KEYS,
	"struct config remembers a line for each key");
