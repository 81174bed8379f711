/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp doctor: see doctor.h. */
#include "base/argument.h"
#include "host/config_kernel.h"
#include "tools/commands.h"
#include "tools/configuration.h"
#include "tools/doctor.h"
#include "tools/ending.h"
#include "tools/help.h"
#include "tools/tcp_resolve.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTION_TCP_ONLY = 256 };

struct cmd_doctor_options {
	struct configuration configuration;
	const char *host;
	uint16_t port;
	bool tcp_only;
};

static error_t cmd_doctor_parse_argument(
	struct cmd_doctor_options *o, char *arg, struct argp_state *state)
{
	switch (state->arg_num) {
	case 0:
		o->host = arg;
		return 0;
	case 1:
		o->port = (uint16_t)argument_number(state, "port", arg, 1, 65535);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t cmd_doctor_parse_option(int key, char *arg, struct argp_state *state)
{
	struct cmd_doctor_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->configuration;
		return 0;
	case OPTION_TCP_ONLY:
		o->tcp_only = true;
		return 0;
	case ARGP_KEY_ARG:
		return cmd_doctor_parse_argument(o, arg, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option cmd_doctor_argp_options[] = {
	{"tcp-only", OPTION_TCP_ONLY, NULL, 0, "Connect, but do not begin MPA", 0},
	{0},
};

static const struct argp_child cmd_doctor_argp_children[] = {
	{&configuration_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};

static const struct argp cmd_doctor_argp = {cmd_doctor_argp_options, cmd_doctor_parse_option,
	"[PEER [PORT]]",
	"Look at configuration, port, addresses and neighbours; with PEER at the way there: route, "
	"ping, MTU; with PORT at what listens there: TCP and MPA. Says what is wrong and what to "
	"do."
	"\v"
	"The program that listens at PORT sees a connection come and go.\n\n"
	"Exit status: 0 nothing is wrong, 1 something is, 2 the configuration or the command line "
	"is.",
	cmd_doctor_argp_children, NULL, NULL};

/** @return true: there is a way to d->host, which d->peer is the address of. */
static bool cmd_doctor_find_peer(struct doctor *d)
{
	char why[TCP_RESOLVE_MAX];
	int rc = tcp_resolve(d->net, d->host, &d->peer, why);

	if (rc == 0)
		return true;
	doctor_wrong(d, "%s", why);
	if (rc == -ENOENT)
		doctor_advise(d, "see to its spelling, or give its address");
	else if (rc == -EINVAL)
		doctor_advise(
			d, "put '%%' and the interface behind it that leads there (\"ip link\")");
	else if (config_is_kernel(d->config))
		doctor_advise(d, "see \"ip route get %s\"", d->host);
	else
		doctor_advise(d,
			"give an address, and a \"gateway\" if it is not in the network of an "
			"\"address\"");
	return false;
}

/** Over the host's own TCP: what is below is the host's to look at. */
static void cmd_doctor_examine_kernel(struct doctor *d)
{
	char text[IP_ADDR_STRLEN];

	for (unsigned i = 0; i < d->config->num_addresses; i++)
		doctor_good(d, "the host has address %s",
			ip_addr_format(&d->config->address[i].addr, text));
	if (!d->host || !cmd_doctor_find_peer(d))
		return;
	if (d->port != 0)
		doctor_look_at_peer(d);
	else
		doctor_note(d,
			"whether %s answers is not tried: the way there is the host's (\"ping\"); "
			"give the port of its program, too",
			d->host);
}

/** All that needs the port. */
static void cmd_doctor_examine(struct doctor *d)
{
	if (config_is_kernel(d->config)) {
		cmd_doctor_examine_kernel(d);
		return;
	}
	doctor_look_at_port(d);
	doctor_look_at_neighbours(d);
	if (d->host && cmd_doctor_find_peer(d) && doctor_look_at_path(d) && d->port != 0)
		doctor_look_at_peer(d);
	doctor_look_at_frames(d);
	doctor_look_at_esp(d);
}

static void cmd_doctor_open_and_examine(struct doctor *d, struct config *c)
{
	struct config_error e;
	int rc;

	/* What is wrong is told here, in better words. */
	if (c->log > LOG_LEVEL_ERROR && c->log_file[0] == '\0')
		c->log = LOG_LEVEL_ERROR;
	rc = net_open(c, &d->net, &e);
	if (rc != 0) {
		doctor_explain_open(d, rc, &e);
		return;
	}
	ending_watch(d->net);
	if (!config_is_kernel(c))
		echo_init(&d->echo, net_ip(d->net), 0x7569);
	rc = net_start(d->net, NULL, &e);
	if (rc == 0)
		cmd_doctor_examine(d);
	else
		doctor_explain_start(d, rc, &e);
	net_linger(d->net);
	ending_hold();
	net_close(d->net);
}

/** As "uiwarp run" has it: an address that is named must be the host's. */
static bool cmd_doctor_is_misconfigured(const struct config *c, int rc)
{
	return rc == -EINVAL || (rc == -EADDRNOTAVAIL && !c->host_addresses);
}

int cmd_doctor(int argc, char **argv)
{
	static char name[] = "uiwarp doctor";
	struct cmd_doctor_options o = {0};
	struct config_error e;
	struct config c;
	struct doctor d = {.config = &c};
	bool is_default;
	int rc;

	argv[0] = name;
	argp_parse(&cmd_doctor_argp, argc, argv, 0, NULL, &o);
	is_default = configuration_set_default(&o.configuration);
	rc = configuration_apply(&o.configuration, name, &c);
	if (rc != 0)
		return rc;
	signal(SIGPIPE, SIG_IGN);
	d.host = o.host;
	d.port = o.port;
	d.only_tcp = o.tcp_only;
	rc = config_take_slot(&c, &e);
	if (rc != 0) {
		doctor_wrong(&d, "%s", e.text);
		doctor_advise_slot(&d, rc);
	} else {
		doctor_good(&d,
			is_default ? "no configuration is given: port %s, the default"
				   : "the configuration can be read: port %s",
			c.port);
		if (!config_is_kernel(&c))
			doctor_look_at_system(&d);
		doctor_look_at_certificate(&d);
		cmd_doctor_open_and_examine(&d, &c);
	}
	if (d.wrong == 0)
		printf("nothing is wrong\n");
	else
		printf("%u %s wrong\n", d.wrong, d.wrong == 1 ? "thing is" : "things are");
	if (cmd_doctor_is_misconfigured(&c, rc))
		return EXIT_USAGE;
	return d.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
