/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/stack.h"

#include "dpdk-port/capture.h"
#include "dpdk-port/poller.h"
#include "dpdk-port/thread.h"
#include "ip/ip.h"
#include "provider/stack_log.h"
#include "tcp/tcp.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/** How long the end of the process is put off for what peers have yet to acknowledge. */
#define LINGER_NS UINT64_C(1000000000)

/** How long to wait at the start for a link that is slow to come up, a NIC's or a TAP's. */
#define LINK_NS UINT64_C(3000000000)

/*
 * RDMA programs expect to hear of a dead peer in less than the 100 s that RFC 1122 section 4.2.3.5
 * gives to people at terminals: also when they only receive, hence the keep-alive.
 */
#define USER_TIMEOUT_MS 30000
#define KEEPALIVE_MS    10000

/** How long a peer gets to take a reset from a link that vanishes with us. */
#define PARTING_NS 5000000

struct stack {
	struct config config;
	struct stack_log log;
	struct engine engine;
	struct poller poller;
	struct port *port;
	struct capture *capture;
	struct ip_stack *ip;
	struct tcp_stack *tcp;
	struct rnic *rnic;
	struct engine_thread *thread;
	bool have_poller;
	bool told_unfilled; /**< of frames with unfilled checksums, once */
	unsigned forks;     /**< of the process, when it was opened */
	struct stack *next; /**< of all that are open */
};

/* The process's own: it has exits and forks of which every stack must know. */
static struct {
	pthread_mutex_t lock;
	struct stack *open;
	_Atomic unsigned forks;
	bool hooked;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void random_fill(void *ctx, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			abort(); /* unpredictability is what STags and sequence numbers rest on */
		p += n;
		len -= (size_t)n;
	}
}

static const struct random_source kernel_random = {.fill = random_fill};

/* ---- opening, step by step ---------------------------------------------------------------- */

static int open_port(struct stack *s, struct config_error *e)
{
	static const uint8_t none[6];
	const struct config *c = &s->config;
	struct port_config cfg = {
		.device = c->port,
		.eal = *c->eal ? c->eal : NULL,
		.mac = memcmp(c->mac, none, sizeof none) ? c->mac : NULL,
		.mtu = c->mtu,
		.memory_mib = c->memory,
		.log = &s->log.sink,
	};
	struct port_error pe = {""};
	int r = port_open(&cfg, &s->port, &pe);

	if (r)
		snprintf(e->text, sizeof e->text, "%s", pe.text);
	return r;
}

/** The path with %p replaced by the process's number: programs in a pair share a configuration. */
static void capture_path(const char *pattern, char *path, size_t len)
{
	const char *at = strstr(pattern, "%p");

	if (at)
		snprintf(
			path, len, "%.*s%d%s", (int)(at - pattern), pattern, (int)getpid(), at + 2);
	else
		snprintf(path, len, "%s", pattern);
}

static int open_capture(struct stack *s, struct config_error *e)
{
	char path[CONFIG_MAX_PATH + 16];
	int r;

	if (!*s->config.capture)
		return 0;
	capture_path(s->config.capture, path, sizeof path);
	r = capture_open(
		path, s->config.port, clock_ns(&s->poller.clock), &s->log.sink, &s->capture);
	if (r)
		snprintf(
			e->text, sizeof e->text, "capture file \"%.300s\": %s", path, strerror(-r));
	else
		port_set_capture(s->port, s->capture);
	return r;
}

static int open_engine(struct stack *s, struct config_error *e)
{
	int r = poller_init(&s->poller, &s->engine, s->port);

	if (r)
		snprintf(e->text, sizeof e->text, "the engine does not start: %s", strerror(-r));
	s->have_poller = r == 0;
	return r;
}

static int add_addresses(struct stack *s, struct config_error *e)
{
	const struct config *c = &s->config;
	char text[IP_ADDR_STRLEN];
	int r;

	for (unsigned i = 0; i < c->num_addresses; i++) {
		const struct config_address *a = &c->address[i];

		r = ip_addr_add(s->ip, &a->addr, a->prefix_len, s->engine.now);
		if (r && r != -EEXIST) {
			snprintf(e->text, sizeof e->text, "address %s/%u: %s",
				ip_addr_format(&a->addr, text), a->prefix_len, strerror(-r));
			return r;
		}
	}
	for (unsigned i = 0; i < c->num_gateways; i++) {
		const struct ip_addr *g = &c->gateway[i];
		struct ip_addr any = {{0}};

		if (ip_addr_is_v4(g))
			any = ip_addr_from_v4(any.b);
		r = ip_route_add(s->ip, &any, 0, g);
		if (r && r != -EEXIST) {
			snprintf(e->text, sizeof e->text, "gateway %s: %s", ip_addr_format(g, text),
				strerror(-r));
			return r;
		}
	}
	return 0;
}

static int open_ip(struct stack *s, struct config_error *e)
{
	const struct port_caps *caps = port_get_caps(s->port);
	struct ip_stack_config cfg = {
		.mtu = caps->mtu,
		.wheel = &s->engine.wheel,
		.pool = port_pool(s->port),
		.random = kernel_random,
		.log = &s->log.sink,
		.transmit = poller_transmit,
		.transmit_ctx = s->port,
		.tx_ipv4_cksum = caps->tx_ipv4_cksum,
		.tx_tcp_cksum = caps->tx_tcp_cksum,
	};
	int r;

	memcpy(cfg.mac, caps->mac, sizeof cfg.mac);
	r = ip_stack_create(&cfg, s->engine.now, &s->ip);
	if (r) {
		snprintf(e->text, sizeof e->text, "the IP layer does not start: %s", strerror(-r));
		return r;
	}
	s->poller.ip = s->ip;
	return add_addresses(s, e);
}

static int open_tcp(struct stack *s, struct config_error *e)
{
	const struct config *c = &s->config;
	struct tcp_stack_config cfg = {
		.ip = s->ip,
		.wheel = &s->engine.wheel,
		.pool = port_pool(s->port),
		.random = kernel_random,
		.log = &s->log.sink,
		.congestion_control = *c->congestion_control ? c->congestion_control : NULL,
		.send_buffer = c->send_buffer,
		.receive_buffer = c->receive_buffer,
		.user_timeout_ms = USER_TIMEOUT_MS,
		.keepalive_ms = KEEPALIVE_MS,
	};
	int r = tcp_stack_create(&cfg, s->engine.now, &s->tcp);

	if (r == -EINVAL)
		snprintf(e->text, sizeof e->text, "congestion_control: there is none named \"%s\"",
			c->congestion_control);
	else if (r)
		snprintf(e->text, sizeof e->text, "TCP does not start: %s", strerror(-r));
	s->poller.tcp = s->tcp;
	return r;
}

static int open_rnic(struct stack *s, struct config_error *e)
{
	struct rnic_config cfg = {
		.engine = &s->engine,
		.net = tcp_llp_stack(s->tcp),
		.random = kernel_random,
		.log = &s->log.sink,
		.mpa = s->config.mpa,
	};
	int r = rnic_create(&cfg, &s->rnic);

	if (r)
		snprintf(e->text, sizeof e->text, "the RNIC does not start: %s", strerror(-r));
	return r;
}

static void link_changed(void *ctx, bool up)
{
	struct stack *s = ctx;

	log_printf(&s->log.sink, LOG_LEVEL_INFO, "port %s: link %s", s->config.port,
		up ? "up" : "down");
	rnic_port_changed(s->rnic, up);
}

static void housekeeping(void *ctx)
{
	struct stack *s = ctx;

	if (s->told_unfilled || !ip_stack_stats(s->ip)->rx_cksum_unfilled)
		return;
	s->told_unfilled = true;
	log_printf(&s->log.sink, LOG_LEVEL_WARNING,
		"frames come without their TCP checksum, which the sender leaves to hardware that "
		"is "
		"not there: run \"ethtool -K DEVICE tx off\" on the other side");
}

static int open_thread(struct stack *s, struct config_error *e)
{
	struct engine_thread_config cfg = {
		.poller = &s->poller,
		.dedicated = s->config.progress_dedicated,
		.core = s->config.progress_dedicated ? s->config.progress_core : -1,
		.link_changed = link_changed,
		.housekeeping = housekeeping,
		.ctx = s,
		.log = &s->log.sink,
	};
	int r = engine_thread_start(&cfg, &s->thread);

	if (r && cfg.core >= 0)
		snprintf(e->text, sizeof e->text,
			"progress = dedicated:%d: this process cannot run on that core: %s",
			cfg.core, strerror(-r));
	else if (r)
		snprintf(e->text, sizeof e->text, "the engine's thread does not start: %s",
			strerror(-r));
	return r;
}

static void nap(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

/** A memif is ready without its peer, who may come at any time; other ports have a cable. */
static bool has_carrier(const struct stack *s)
{
	return strcmp(port_get_caps(s->port)->driver, "net_memif") != 0;
}

/** Programs look at the port's state once, at their start, and give up when it is down. */
static int await_link(struct stack *s, struct config_error *e)
{
	uint64_t end = clock_ns(&s->poller.clock) + LINK_NS;
	uint32_t speed;
	uint16_t mtu;
	bool up = false;

	while (has_carrier(s) && !up && clock_ns(&s->poller.clock) < end) {
		stack_link(s, &mtu, &speed, &up);
		if (!up)
			nap(10000000);
	}
	return 0;
}

/* ---- closing ------------------------------------------------------------------------------ */

/** True while a peer has yet to acknowledge what we sent before we closed. */
static bool is_parting(struct stack *s)
{
	struct ip_endpoint local, remote;
	struct tcp_info info;
	bool parting = false;

	engine_lock(&s->engine);
	for (unsigned i = 0; !parting && tcp_connection_get(s->tcp, i, &local, &remote, &info); i++)
		parting = !strcmp(info.state, "FIN-WAIT-1") || !strcmp(info.state, "FIN-WAIT-2") ||
			  !strcmp(info.state, "CLOSING") || !strcmp(info.state, "LAST-ACK");
	engine_unlock(&s->engine);
	return parting;
}

/** Connections that were closed in good order are not in the kernel's care when we are gone. */
static void linger(struct stack *s)
{
	uint64_t end;

	if (!s->tcp || !s->thread)
		return;
	end = clock_ns(&s->poller.clock) + LINGER_NS;
	while (is_parting(s) && clock_ns(&s->poller.clock) < end)
		nap(200000);
}

/** What a person wants to know of a run that was slower than it should be. */
static void log_totals(struct stack *s)
{
	const struct tcp_stats *t = tcp_stack_stats(s->tcp);
	const struct port_stats *p = port_get_stats(s->port);

	log_printf(&s->log.sink, LOG_LEVEL_DEBUG,
		"total: %llu frames in, %llu out, %llu not taken by the port; TCP: %llu segments "
		"in, "
		"%llu out, %llu retransmitted, %llu timeouts, %llu out of order, %llu duplicate",
		(unsigned long long)p->rx_packets, (unsigned long long)p->tx_packets,
		(unsigned long long)p->tx_dropped, (unsigned long long)t->segments_in,
		(unsigned long long)t->segments_out, (unsigned long long)t->retransmits,
		(unsigned long long)t->timeouts, (unsigned long long)t->out_of_order,
		(unsigned long long)t->duplicate);
}

/**
 * Undo what stack_open() did, as far as it came.
 * @param end the process ends: its other threads may be inside a verb, so leave them all their
 *        objects, and the engine locked for good.
 */
static void dismantle(struct stack *s, bool end)
{
	struct ip_endpoint local, remote;
	struct tcp_info info;
	bool connected = s->tcp && tcp_connection_get(s->tcp, 0, &local, &remote, &info);

	engine_thread_stop(s->thread);
	if (s->thread)
		log_totals(s);
	if (s->rnic && !end)
		rnic_destroy(s->rnic);
	if (s->have_poller)
		engine_lock(&s->engine);
	if (s->tcp)
		tcp_stack_destroy(s->tcp);
	s->poller.tcp = NULL;
	if (s->ip)
		ip_stack_destroy(s->ip);
	s->poller.ip = NULL;
	if (s->port) {
		port_flush(s->port);
		port_set_capture(s->port, NULL);
		/* What was connected has been reset: let that reach the peers before the link goes.
		 */
		if (connected && port_link(s->port, NULL))
			nap(PARTING_NS);
	}
	capture_close(s->capture);
	if (end)
		return;
	if (s->have_poller) {
		engine_unlock(&s->engine);
		poller_fini(&s->poller);
	}
	if (s->port)
		port_close(s->port);
	stack_log_close(&s->log);
	free(s);
}

/* ---- the process ends, or doubles --------------------------------------------------------- */

static void at_exit(void)
{
	struct stack *s;

	pthread_mutex_lock(&process.lock);
	for (s = process.open; s; s = s->next) {
		if (stack_is_orphan(s))
			continue;
		linger(s);
		dismantle(s, true);
	}
	process.open = NULL;
	pthread_mutex_unlock(&process.lock);
}

static void in_child(void)
{
	atomic_fetch_add(&process.forks, 1);
	pthread_mutex_init(&process.lock, NULL);
}

static void process_add(struct stack *s)
{
	pthread_mutex_lock(&process.lock);
	if (!process.hooked) {
		process.hooked = true;
		pthread_atfork(NULL, NULL, in_child);
		atexit(at_exit);
	}
	s->forks = atomic_load(&process.forks);
	s->next = process.open;
	process.open = s;
	pthread_mutex_unlock(&process.lock);
}

/** @return false if at_exit() has taken care of it. */
static bool process_remove(struct stack *s)
{
	struct stack **at;
	bool found;

	pthread_mutex_lock(&process.lock);
	for (at = &process.open; *at && *at != s; at = &(*at)->next)
		;
	found = *at != NULL;
	if (found)
		*at = s->next;
	pthread_mutex_unlock(&process.lock);
	return found;
}

bool stack_is_orphan(const struct stack *s)
{
	return s->forks != atomic_load_explicit(&process.forks, memory_order_relaxed);
}

/* ---- the interface ------------------------------------------------------------------------ */

int stack_open(const struct config *c, struct stack **out, struct config_error *e)
{
	static int (*const steps[])(struct stack *, struct config_error *) = {open_port,
		open_engine, open_capture, open_ip, open_tcp, open_rnic, open_thread, await_link};
	struct stack *s = calloc(1, sizeof *s);
	int r;

	if (!s) {
		snprintf(e->text, sizeof e->text, "no memory");
		return -ENOMEM;
	}
	s->config = *c;
	r = stack_log_open(&s->log, c->log, c->log_file);
	if (r) {
		snprintf(e->text, sizeof e->text, "log_file \"%.300s\": %s", c->log_file,
			strerror(-r));
		free(s);
		return r;
	}
	for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !r; i++)
		r = steps[i](s, e);
	if (r) {
		dismantle(s, false);
		return r;
	}
	process_add(s);
	*out = s;
	return 0;
}

void stack_close(struct stack *s)
{
	if (!s || stack_is_orphan(s) || !process_remove(s))
		return;
	linger(s);
	dismantle(s, false);
}

struct rnic *stack_rnic(struct stack *s)
{
	return s->rnic;
}

const struct config *stack_config(const struct stack *s)
{
	return &s->config;
}

void stack_mac(const struct stack *s, uint8_t mac[6])
{
	memcpy(mac, port_get_caps(s->port)->mac, 6);
}

void stack_link(const struct stack *cs, uint16_t *mtu, uint32_t *speed, bool *up)
{
	struct stack *s = (struct stack *)(uintptr_t)cs; /* the lock is all that changes */

	*mtu = port_get_caps(s->port)->mtu;
	*speed = 0;
	*up = false;
	if (stack_is_orphan(s))
		return;
	engine_lock(&s->engine);
	*up = port_link(s->port, speed);
	engine_unlock(&s->engine);
}
