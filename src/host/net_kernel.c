/* SPDX-License-Identifier: BSD-2-Clause */
/* The host over the kernel's own TCP: sockets are all that it has below. */
#include "base/sysfs.h"
#include "host/config_kernel.h"
#include "host/guid.h"
#include "host/net_priv.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAC_LOCAL 2

static int net_kernel_open_engine(struct net *n, struct config_error *e)
{
	int r = poller_init_sock(&n->poller, &n->engine);

	if (r)
		snprintf(e->text, sizeof e->text, "the engine does not start: %s", strerror(-r));
	n->have_poller = r == 0;
	return r;
}

/** Each connection has a descriptor: of those that are closed already a quarter is enough. */
static uint32_t net_kernel_max_orphans(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / 4 > UINT32_MAX)
		return UINT32_MAX;
	return files.rlim_cur < 4 ? 1 : (uint32_t)(files.rlim_cur / 4);
}

static int net_kernel_open_sock(struct net *n, struct config_error *e)
{
	const struct config *c = &n->config;
	struct ip_addr addresses[CONFIG_MAX_ADDRESSES];
	struct sock_stack_config cfg = {
		.wheel = &n->engine.wheel,
		.log = &n->log.sink,
		.addresses = addresses,
		.num_addresses = c->host_addresses ? 0 : c->num_addresses,
		.congestion_control = *c->congestion_control ? c->congestion_control : NULL,
		.record_max = c->mpa.fpdu_max,
		.send_buffer = c->send_buffer,
		.receive_buffer = c->receive_buffer,
		.user_timeout_ms = c->patience.user_timeout,
		.zero_window_timeout_ms = c->patience.zero_window_timeout,
		.keepalive_ms = c->patience.keepalive,
		.memory = (uint64_t)c->memory << 20,
		.max_orphans = net_kernel_max_orphans(),
		.random = &net_random,
	};
	int r;

	for (unsigned i = 0; i < c->num_addresses; i++)
		addresses[i] = c->address[i].addr;
	r = sock_stack_create(&cfg, n->engine.now, &n->sock);
	if (r)
		snprintf(e->text, sizeof e->text, "the kernel's sockets cannot be used: %s",
			strerror(-r));
	n->poller.sock = n->sock;
	return r;
}

/** Each connection has a descriptor: strangers who say nothing leave half of them to others. */
static void net_kernel_limit_startups(struct config_patience *p)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || p->max_startups <= files.rlim_cur / 2)
		return;
	p->max_startups = files.rlim_cur < 4 ? 1 : (uint32_t)files.rlim_cur / 2;
}

static int net_kernel_open(struct net *n, struct config_error *e)
{
	int r;

	e->step = CONFIG_STEP_STACK;
	r = net_kernel_open_engine(n, e);
	net_kernel_limit_startups(&n->config.patience);
	return r ? r : net_kernel_open_sock(n, e);
}

/* ---- while it is open --------------------------------------------------------------------- */

static struct llp_stack *net_kernel_llp(struct net *n)
{
	return sock_llp_stack(n->sock);
}

/** Interfaces come and go below the kernel: what that means is its own. */
static bool net_kernel_has_carrier(const struct net *n)
{
	return false;
}

static bool net_kernel_name(const struct net *n, char name[IF_NAMESIZE])
{
	return config_kernel_interface(&n->config.address[0].addr, name);
}

static bool net_kernel_link(struct net *n, uint32_t *speed)
{
	return true;
}

/** The kernel waits for who configures any interface, and asks the NIC's driver. */
static uint32_t net_kernel_speed(const struct net *n)
{
	char name[IF_NAMESIZE], path[64];
	uint64_t mbps;

	if (!net_kernel_name(n, name))
		return 0;
	/* Not every interface has one, and -1, with or without a sign, is for "unknown". */
	snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
	mbps = sysfs_number(path);
	return mbps > INT32_MAX ? 0 : (uint32_t)mbps;
}

static bool net_kernel_is_gone(const struct net *n)
{
	return false;
}

static void net_kernel_housekeeping(struct net *n)
{
}

/** An identifier only: hardware addresses are the business of the kernel's interfaces. */
static void net_kernel_mac(const struct net *n, uint8_t mac[6])
{
	uint64_t guid = guid_from_config(&n->config);

	memcpy(mac, &guid, 6);
	mac[0] = MAC_LOCAL;
}

static uint16_t net_kernel_mtu(const struct net *n)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {0};
	char name[IF_NAMESIZE];
	int mtu = 1500;

	if (fd >= 0 && net_kernel_name(n, name)) {
		memcpy(r.ifr_name, name, sizeof r.ifr_name);
		if (ioctl(fd, SIOCGIFMTU, &r) == 0)
			mtu = r.ifr_mtu;
	}
	if (fd >= 0)
		close(fd);
	return mtu > UINT16_MAX ? UINT16_MAX : (uint16_t)mtu;
}

/* ---- ends --------------------------------------------------------------------------------- */

static bool net_kernel_is_parting(struct net *n)
{
	return sock_is_parting(n->sock);
}

static bool net_kernel_is_connected(struct net *n)
{
	return sock_stack_stats(n->sock)->connections != 0;
}

static void net_kernel_log_totals(struct net *n)
{
	const struct sock_stats *s = sock_stack_stats(n->sock);

	log_printf(&n->log.sink, LOG_LEVEL_DEBUG,
		"total: %llu bytes in by %llu system calls, %llu bytes out by %llu; %llu "
		"connections made, %llu accepted",
		(unsigned long long)s->bytes_in, (unsigned long long)s->receives,
		(unsigned long long)s->bytes_out, (unsigned long long)s->sends,
		(unsigned long long)s->connects, (unsigned long long)s->accepts);
}

static void net_kernel_reset_all(struct net *n)
{
	sock_reset_all(n->sock);
}

static void net_kernel_close_stack(struct net *n)
{
	if (n->sock)
		sock_stack_destroy(n->sock);
	n->sock = n->poller.sock = NULL;
}

static void net_kernel_close(struct net *n)
{
}

static void net_kernel_let_go(struct net *n)
{
	if (n->sock)
		sock_let_go(n->sock);
}

const struct net_ops net_kernel_ops = {
	.open = net_kernel_open,
	.llp = net_kernel_llp,
	.has_carrier = net_kernel_has_carrier,
	.link = net_kernel_link,
	.speed = net_kernel_speed,
	.is_gone = net_kernel_is_gone,
	.housekeeping = net_kernel_housekeeping,
	.mac = net_kernel_mac,
	.mtu = net_kernel_mtu,
	.is_parting = net_kernel_is_parting,
	.is_connected = net_kernel_is_connected,
	.log_totals = net_kernel_log_totals,
	.reset_all = net_kernel_reset_all,
	.end = net_kernel_reset_all,
	.close_stack = net_kernel_close_stack,
	.close = net_kernel_close,
	.open_mapper = net_mapper_open_kernel,
	.let_go = net_kernel_let_go,
};
