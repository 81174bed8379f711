/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/eal.h"
#include "dpdk-port/eal_leftover.h"
#include "dpdk-port/eal_log.h"
#include "dpdk-port/intr_gate.h"
#include "dpdk-port/pool.h"
#include "dpdk-port/spawn.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_random.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define EAL_MAX_ARGS 64
#define EAL_TEXT     2048
/** How long a driver may keep the interrupt thread from what is tried there. */
#define TURN_PATIENCE_NS 500000000

/* The EAL is a singleton of the process, hence this. */
static struct {
	pthread_mutex_t lock;
	enum { EAL_IDLE, EAL_OURS, EAL_JOINED } state;
	bool failed; /**< a start of ours did not succeed */
	struct clock_sample sample;
} eal_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** The arguments of rte_eal_init(), and the text they point into. */
struct eal_args {
	int argc;
	char *argv[EAL_MAX_ARGS + 1];
	char text[EAL_TEXT];
	size_t len;
	bool user; /**< some are the user's */
	int result, error;
};

bool eal_is_software(const char *device)
{
	return strncmp(device, "net_", 4) == 0 || strncmp(device, "virtio_user", 11) == 0 ||
	       strncmp(device, "eth_", 4) == 0;
}

static bool eal_args_add(struct eal_args *a, const char *word, size_t len)
{
	if (a->argc == EAL_MAX_ARGS || len >= sizeof a->text - a->len)
		return false;
	a->argv[a->argc++] = memcpy(a->text + a->len, word, len);
	a->text[a->len + len] = '\0';
	a->len += len + 1;
	return true;
}

static bool eal_args_word(struct eal_args *a, const char *word)
{
	return eal_args_add(a, word, strlen(word));
}

/** Split @p text at blanks; single or double quotes keep them. */
static bool eal_args_split(struct eal_args *a, const char *text)
{
	char word[EAL_TEXT];
	size_t n;

	while (*text) {
		char quote = 0;

		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			break;
		for (n = 0; *text && (quote || !isspace((unsigned char)*text)); text++) {
			if (!quote && (*text == '\'' || *text == '"'))
				quote = *text;
			else if (quote && *text == quote)
				quote = 0;
			else if (n < sizeof word - 1)
				word[n++] = *text;
		}
		if (quote || !eal_args_add(a, word, n))
			return false;
	}
	return true;
}

/** True if one of the words is option @p name, alone or as "name=value". */
static bool eal_args_has(const struct eal_args *a, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < a->argc; i++)
		if (strncmp(a->argv[i], name, len) == 0 &&
			(!a->argv[i][len] || a->argv[i][len] == '='))
			return true;
	return false;
}

/** One lcore that floats over the CPUs that the process may use. */
static void eal_format_lcores(char *buf, size_t len)
{
	cpu_set_t set;
	size_t n = (size_t)snprintf(buf, len, "0@(");
	const char *sep = "";

	if (sched_getaffinity(0, sizeof set, &set)) {
		CPU_ZERO(&set);
		CPU_SET(0, &set);
	}
	for (int i = 0; i < CPU_SETSIZE && n < len - 8; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		n += (size_t)snprintf(buf + n, len - n, "%s%d", sep, i);
		sep = ",";
	}
	snprintf(buf + n, len - n, ")");
}

static const char *eal_log_option(const struct log_sink *log)
{
	/* Errors are always wanted: one of them is the reason when a port does not open. */
	switch (log ? log->max_level : LOG_LEVEL_ERROR) {
	case LOG_LEVEL_DEBUG:
		return "*:debug";
	default:
		return "*:warning";
	}
}

/** Add @p option and its @p value, unless the @p user has it. */
static bool eal_args_default(
	struct eal_args *a, const struct eal_args *user, const char *option, const char *value)
{
	if (eal_args_has(user, option))
		return true;
	return eal_args_word(a, option) && (!value || eal_args_word(a, value));
}

/** Ordinary memory and nothing shared: no root, no hugepages, no files. */
static bool eal_args_software(
	struct eal_args *a, const struct eal_args *user, const struct port_config *cfg)
{
	uint32_t mib = cfg->memory_mib ? cfg->memory_mib : POOL_DEFAULT_MIB;
	bool ok = eal_args_default(a, user, "--no-pci", NULL);
	char text[16];

	if (eal_args_has(user, "--in-memory") || eal_args_has(user, "--huge-dir") ||
		eal_args_has(user, "--socket-mem"))
		return ok; /* hugepages after all */
	/* This is address space: pages are touched by the pools that are made of it. */
	snprintf(text, sizeof text, "%u", RTE_MIN(mib, 1u << 18) * 2 + 384);
	/* A memif without copies shows its peer the buffers, as one file. */
	if (strstr(cfg->device, "zero-copy=yes"))
		ok = ok && eal_args_default(a, user, "--single-file-segments", NULL);
	return ok && eal_args_default(a, user, "--no-huge", NULL) &&
	       eal_args_default(a, user, "--no-shconf", NULL) &&
	       eal_args_default(a, user, "-m", text);
}

/** PCI devices that the user names, under a software device: the ports of a bond. */
static bool eal_args_name_pci(const struct eal_args *user)
{
	return eal_args_has(user, "-a") || eal_args_has(user, "--allow");
}

/** Hugepages that vanish with the process, and only the device asked for. */
static bool eal_args_hardware(
	struct eal_args *a, const struct eal_args *user, const struct port_config *cfg)
{
	bool ok = true;

	if (!eal_args_has(user, "--proc-type") && !eal_args_has(user, "--no-huge"))
		ok = eal_args_default(a, user, "--in-memory", NULL);
	/* The host's other NICs are not ours to take. */
	if (!eal_args_has(user, "-b") && !eal_is_software(cfg->device))
		ok = ok && eal_args_default(a, user, "-a", cfg->device);
	return ok;
}

/**
 * Does it say that the process is to be other than DPDK's primary one? That would wait for a
 * primary process, without end where nothing is shared, and a port is of one process.
 */
static bool eal_args_are_secondary(const struct eal_args *a)
{
	static const char option[] = "--proc-type";

	for (int i = 0; i < a->argc; i++) {
		const char *word = a->argv[i];
		size_t len = strcspn(word, "=");

		/* As getopt_long() takes it: no other begins with its first letter. */
		if (len < 3 || len >= sizeof option || strncmp(word, option, len) != 0)
			continue;
		word = word[len] ? word + len + 1 : a->argv[i + 1];
		if (word && strcasecmp(word, "primary") != 0)
			return true;
	}
	return false;
}

static int eal_args_build(struct eal_args *a, const struct port_config *cfg, struct port_error *e)
{
	struct eal_args user = {0};
	char buf[512];
	bool ok;

	if (cfg->eal && !eal_args_split(&user, cfg->eal)) {
		snprintf(e->text, sizeof e->text,
			"eal arguments \"%.200s\": a quote is not closed, or they are too long",
			cfg->eal);
		return -EINVAL;
	}
	if (eal_args_has(&user, "-h") || eal_args_has(&user, "--help") ||
		eal_args_has(&user, "--")) {
		snprintf(e->text, sizeof e->text,
			"eal arguments \"%.200s\": -h, --help and -- have no place here", cfg->eal);
		return -EINVAL;
	}
	if (eal_args_are_secondary(&user)) {
		snprintf(e->text, sizeof e->text,
			"eal arguments \"%.200s\": --proc-type can be primary alone, as a port "
			"is of one process",
			cfg->eal);
		return -EINVAL;
	}
	/* EAL calls openlog() with its own name for the program: this leaves syslog's as it is. */
	ok = eal_args_word(a, program_invocation_short_name);
	eal_format_lcores(buf, sizeof buf);
	if (!eal_args_has(&user, "-l") && !eal_args_has(&user, "-c"))
		ok = ok && eal_args_default(a, &user, "--lcores", buf);
	eal_leftover_prefix(buf, sizeof buf, getpid());
	ok = ok && eal_args_default(a, &user, "--file-prefix", buf);
	if (!eal_args_has(&user, "--telemetry"))
		ok = ok && eal_args_default(a, &user, "--no-telemetry", NULL);
	ok = ok && eal_args_default(a, &user, "--log-level", eal_log_option(cfg->log));
	if (eal_is_software(cfg->device) && !eal_args_name_pci(&user))
		ok = ok && eal_args_software(a, &user, cfg);
	else
		ok = ok && eal_args_hardware(a, &user, cfg);
	/* The user's come last and so have the last word. */
	a->user = user.argc > 0;
	for (int i = 0; i < user.argc; i++)
		ok = ok && eal_args_word(a, user.argv[i]);
	if (ok)
		return 0;
	snprintf(e->text, sizeof e->text, "eal arguments: too many or too long");
	return -EINVAL;
}

static void *eal_thread(void *arg)
{
	struct eal_args *a = arg;
	char *argv[EAL_MAX_ARGS + 1];
	FILE *out = stdout, *err = stderr, *usage = NULL, *complaint = NULL;

	memcpy(argv, a->argv, sizeof argv); /* EAL permutes it */
	/* Arguments of the user's can be wrong, and then EAL prints its usage to stdout, and getopt
	 * to stderr what it could not make out. */
	if (a->user) {
		usage = eal_log_stream((int)RTE_LOG_DEBUG);
		complaint = eal_log_stream((int)RTE_LOG_ERR);
	}
	if (usage && complaint) {
		stdout = usage;
		stderr = complaint;
	}
	a->result = rte_eal_init(a->argc, argv);
	a->error = rte_errno;
	stdout = out;
	stderr = err;
	if (usage)
		fclose(usage);
	if (complaint)
		fclose(complaint);
	return NULL;
}

/** Run eal_thread() without the program's signals, which the EAL's own threads inherit. */
static int eal_run_thread(struct eal_args *a)
{
	pthread_t t;
	int r = spawn_thread(&t, NULL, eal_thread, a);

	if (r == 0)
		pthread_join(t, NULL);
	return r;
}

/** @return why it has not started, which @p e says in a sentence. */
static int eal_refused(
	const struct eal_args *a, const struct port_config *cfg, struct port_error *e)
{
	char reason[400];

	if (!eal_log_reason(reason, sizeof reason))
		snprintf(reason, sizeof reason, "%s", rte_strerror(a->error));
	/* The device is an argument that it parses. */
	if (!a->user && strstr(reason, "failed to parse device")) {
		snprintf(e->text, sizeof e->text,
			"port \"%.100s\": that is no device of DPDK's; expected the address of "
			"a PCI device (\"lspci -D\"), or a virtual one such as net_memif0",
			cfg->device);
		return -EINVAL;
	}
	snprintf(e->text, sizeof e->text, "DPDK does not start%s%.100s%s: %.340s",
		a->user ? " with eal arguments \"" : "", a->user ? cfg->eal : "",
		a->user ? "\"" : "", reason);
	return a->user ? -EINVAL : -ENODEV;
}

static int eal_init(const struct port_config *cfg, struct port_error *e)
{
	struct eal_args a = {0};
	struct clock_sample sample = clock_sample_now();
	FILE *before = rte_log_get_stream(), *log;
	char reason[400];
	uint64_t seed;
	int r;

	r = eal_args_build(&a, cfg, e);
	if (r)
		return r;
	log = eal_log_stream(0);
	eal_log_to(cfg->log);
	eal_log_watch();
	if (log)
		rte_openlog_stream(log);
	r = eal_run_thread(&a);
	/* EAL made itself a directory that it has no use for without a shared configuration. */
	eal_leftover_remove(rte_eal_get_runtime_dir());
	if (r) {
		snprintf(e->text, sizeof e->text, "no thread to start DPDK on: %s", strerror(-r));
	} else if (a.result >= 0) {
		eal_state.state = EAL_OURS;
		eal_state.sample = sample;
		/* DPDK drew its seed when it was loaded. Drivers make up MAC addresses of it, and
		 * those of two processes forked since then must differ. */
		if (getrandom(&seed, sizeof seed, 0) == sizeof seed)
			rte_srand(seed);
		eal_log_reason(reason, sizeof reason);
		return 0;
	} else if (a.error == EALREADY && !eal_state.failed) {
		eal_state.state = EAL_JOINED;
	} else {
		eal_state.failed = true; /* from some failures the EAL does not recover */
		r = eal_refused(&a, cfg, e);
	}
	/* The stream is not closed: a thread of the EAL's may be about to write to it. */
	rte_openlog_stream(before == stderr ? NULL : before);
	eal_log_reason(reason, sizeof reason);
	return r;
}

int eal_start(const struct port_config *cfg, struct port_error *e)
{
	int r = 0;

	pthread_mutex_lock(&eal_state.lock);
	if (eal_state.state == EAL_IDLE)
		r = eal_init(cfg, e);
	pthread_mutex_unlock(&eal_state.lock);
	return r;
}

struct turn {
	void (*fn)(void *arg);
	void *arg;
	sem_t over;
};

static void eal_take_turn(void *arg)
{
	struct turn *t = arg;

	t->fn(t->arg);
	sem_post(&t->over);
}

/** @return false: there is no memory for it. */
static bool eal_queue_turn(struct turn *t, uint64_t us)
{
	if (sem_init(&t->over, 0, 0) || rte_eal_alarm_set(us, eal_take_turn, t))
		return false;
	intr_gate_let_go();
	return true;
}

static void eal_await_turn(struct turn *t)
{
	while (sem_wait(&t->over))
		; /* a signal of the program's */
	sem_destroy(&t->over);
}

void eal_call_in_later_turn(uint64_t us, void (*fn)(void *arg), void *arg)
{
	struct turn t = {.fn = fn, .arg = arg};

	if (eal_queue_turn(&t, us))
		eal_await_turn(&t);
	else
		fn(arg); /* out of turn is better than not at all */
}

void eal_call_in_turn(void (*fn)(void *arg), void *arg)
{
	eal_call_in_later_turn(1, fn, arg);
}

bool eal_try_in_turn(void (*fn)(void *arg), void *arg)
{
	struct turn t = {.fn = fn, .arg = arg};
	struct timespec end;
	int r;

	if (!eal_queue_turn(&t, 1))
		return false;
	end = clock_after(TURN_PATIENCE_NS);
	do
		r = sem_clockwait(&t.over, CLOCK_MONOTONIC, &end);
	while (r && errno == EINTR);
	if (r && rte_eal_alarm_cancel(eal_take_turn, &t) == 1) {
		sem_destroy(&t.over);
		return false;
	}
	if (r)
		eal_await_turn(&t); /* it has begun meanwhile */
	else
		sem_destroy(&t.over);
	return true;
}

const struct clock_sample *eal_clock_sample(void)
{
	return eal_state.state == EAL_OURS ? &eal_state.sample : NULL;
}
