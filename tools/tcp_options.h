/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tcp_options.h The command line of uiwarp tcp. */
#ifndef TOOLS_TCP_OPTIONS_H
#define TOOLS_TCP_OPTIONS_H

#include "tools/configuration.h"
#include "traffic/traffic.h"

#include <stdbool.h>
#include <stdint.h>

#define TCP_OPTIONS_PORT 5001

/** Times in ns; 0: no limit. */
struct tcp_options {
	enum traffic_role role;
	struct configuration configuration;
	bool listen;
	struct ip_endpoint local; /**< listen: where */
	const char *host;         /**< connect: whither */
	uint16_t port;
	unsigned parallel; /**< connections; when listening with once: until the end */
	bool once;
	uint64_t time;         /**< for which each connection is used */
	uint64_t bytes, count; /**< of each connection */
	uint32_t message;
	double rate;    /**< bit/s of each connection; 0: no limit */
	uint64_t stall; /**< until a connection is read from */
	uint64_t seed;
	uint64_t interval; /**< between reports; 0: none */
	bool verify, json;
	const char *congestion_control; /**< NULL: the configuration's */
};

/**
 * Parse the options. @p argv[0] is the role. An error ends the process with EXIT_USAGE and a
 * sentence.
 * @return false: there is no such role.
 */
bool tcp_options_parse(struct tcp_options *o, int argc, char **argv);

#endif
