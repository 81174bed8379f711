/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cancel.h"
#include "provider/shim/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum state {
	STATE_UNKNOWN, /* the environment was not looked at */
	STATE_INERT,   /* no configuration, or a wrong one */
	STATE_WAITING, /* for the first call of verbs or rdma_cm */
	STATE_RUNNING, /* the provider is there, and starts its stack when it is needed */
};

static struct {
	_Atomic int state;
	_Atomic unsigned starting; /* threads in or before shim_start() */
	_Atomic bool orphan;
	_Atomic bool told;   /* that there is no configuration */
	_Atomic pid_t owner; /* the process with the stack: a child of vfork() has our memory */
	pthread_mutex_t lock;
	const struct provider *provider;
	struct ibv_device *_Atomic device;
} shim_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread unsigned shim_start_inside __attribute__((tls_model("initial-exec")));

bool shim_inside(void)
{
	return shim_start_inside != 0;
}

void shim_enter(void)
{
	shim_start_inside++;
}

void shim_leave(void)
{
	shim_start_inside--;
}

/*
 * exit() has begun on this thread, perhaps in a signal handler inside a verb, and then the engine
 * is locked for good. Destructors that still want to destroy their objects must get an answer.
 * Other threads may be in verbs, and a destructor waits for them: the stack's own handler,
 * registered earlier and so called later, lets them through.
 */
static __thread bool shim_leaving;

bool shim_is_leaving(void)
{
	return shim_leaving;
}

bool shim_is_orphan(void)
{
	return shim_leaving || atomic_load_explicit(&shim_state.orphan, memory_order_relaxed);
}

struct ibv_device *shim_device(void)
{
	return atomic_load_explicit(&shim_state.device, memory_order_relaxed);
}

static bool shim_environment_has(const char *name)
{
	const char *v = secure_getenv(name);

	return v && *v != '\0';
}

bool shim_configured(void)
{
	int state = atomic_load_explicit(&shim_state.state, memory_order_acquire);
	int unknown = STATE_UNKNOWN;

	/* Hooks may run before libc has the environment. */
	if (state == STATE_UNKNOWN && environ) {
		state = shim_environment_has("UIWARP_CONFIG") || shim_environment_has("UIWARP_SET")
				? STATE_WAITING
				: STATE_INERT;
		if (!atomic_compare_exchange_strong(&shim_state.state, &unknown, state))
			state = unknown;
	}
	return state == STATE_WAITING || state == STATE_RUNNING;
}

static void shim_at_exit(void)
{
	shim_leaving = true;
}

/*
 * A child has our memory, but none of our threads, and locks that they held stay held. A stack that
 * was started in the parent is not for the child; otherwise the child may start one itself. Nothing
 * waits in the parent before a fork: shim_start() registers handlers of its own, for which libc has
 * a lock.
 */
static void shim_after_fork(void)
{
	int state = atomic_load(&shim_state.state);

	pthread_mutex_init(&shim_state.lock, NULL);
	shim_forget_locks();
	if (state == STATE_RUNNING ? !shim_state.provider->is_begun()
				   : atomic_load(&shim_state.starting) == 0)
		return;
	atomic_store_explicit(&shim_state.orphan, true, memory_order_relaxed);
	if (atomic_load(&shim_state.owner) == 0)
		atomic_store(&shim_state.owner, getppid());
	if (state != STATE_RUNNING)
		atomic_store(&shim_state.state, STATE_INERT);
}

__attribute__((constructor)) static void shim_watch_forks(void)
{
	if (shim_configured())
		pthread_atfork(NULL, NULL, shim_after_fork);
}

/* libuiwarp.so stands beside us: as installed, or one directory up in the build tree. */
static void *shim_load_provider(void)
{
	static const char *const places[] = {"%.*slibuiwarp.so", "%.*s../verbs/libuiwarp.so"};
	char path[4096];
	Dl_info self;
	const char *slash;
	void *h = NULL;

	if (dladdr(&shim_state, &self) == 0 || !self.dli_fname)
		return NULL;
	slash = strrchr(self.dli_fname, '/');
	for (unsigned i = 0; !h && i < sizeof places / sizeof places[0]; i++) {
		int n = snprintf(path, sizeof path, places[i],
			!slash ? 0 : (int)(slash + 1 - self.dli_fname), self.dli_fname);

		if (n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0) {
			h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			if (!h)
				fprintf(stderr, "uiwarp: %s\n", dlerror());
			return h;
		}
	}
	fprintf(stderr, "uiwarp: there is no libuiwarp.so beside %s\n", self.dli_fname);
	return NULL;
}

/* The stack is there. Its own handlers of exit() are registered, so that ours go first. */
static void shim_stack_started(void)
{
	shim_watch_faults(shim_state.provider);
	shim_watch_endings(shim_state.provider);
	atexit(shim_at_exit);
	at_quick_exit(shim_before_end);
	atomic_store(&shim_state.owner, getpid());
}

/*
 * glibc loads it for the first pthread_exit() or pthread_cancel(), and ends the process if there is
 * no descriptor for that any more, which may be our doing.
 */
static void shim_load_unwinder(void)
{
	(void)dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
}

static int shim_start(void)
{
	static const struct provider_host host = {.real_verbs = shim_find_verbs,
		.is_leaving = shim_is_leaving,
		.enter = shim_enter,
		.started = shim_stack_started,
		.leave = shim_leave};
	const struct provider *(*entry)(uint32_t);
	struct ibv_device *device = NULL;
	void *h = shim_load_provider();
	int rc;

	if (!h)
		return -ENOENT;
	shim_load_unwinder();
	entry = (const struct provider *(*)(uint32_t))shim_dlsym(h, "uiwarp_provider");
	shim_state.provider = !entry ? NULL : entry(PROVIDER_VERSION);
	if (!shim_state.provider) {
		fprintf(stderr, "uiwarp: libuiwarp.so and libuiwarp-preload.so do not belong "
				"together; install both from one build\n");
		return -ELIBBAD;
	}
	rc = shim_state.provider->start(&host, &device);
	if (rc == 0)
		atomic_store_explicit(&shim_state.device, device, memory_order_release);
	return rc;
}

const struct provider *shim_running(void)
{
	return atomic_load_explicit(&shim_state.state, memory_order_acquire) == STATE_RUNNING
		       ? shim_state.provider
		       : NULL;
}

bool shim_is_vfork_child(void)
{
	return !shim_is_orphan() && atomic_load(&shim_state.owner) != getpid();
}

void shim_before_end(void)
{
	const struct provider *p = shim_running();

	if (p && !shim_is_orphan() && !shim_is_vfork_child())
		p->before_end();
}

/*
 * LD_PRELOAD names us and there is no configuration: somebody has forgotten it. In
 * /etc/ld.so.preload we are there for all programs, and say nothing. The sentence comes once, at a
 * verbs call.
 */
static void shim_tell_unconfigured(void)
{
	const char *preload = secure_getenv("LD_PRELOAD");

	if (!environ || atomic_exchange(&shim_state.told, true) || !preload ||
		!strstr(preload, "libuiwarp-preload.so") || shim_environment_has("UIWARP_CONFIG") ||
		shim_environment_has("UIWARP_SET"))
		return;
	fprintf(stderr, "uiwarp: libuiwarp-preload.so is in LD_PRELOAD, but neither UIWARP_CONFIG "
			"nor UIWARP_SET is there: start the program with \"uiwarp run\"\n");
}

/* What is the parent's cannot be had here; its programmer wants to know why there is no device. */
static void shim_tell_orphan(void)
{
	static _Atomic bool told;

	if (!shim_leaving && !atomic_exchange(&told, true))
		fprintf(stderr,
			"uiwarp: this process has no RDMA device, as it was forked from process %d "
			"after that had used one; use it after fork() alone, or exec a program\n",
			(int)atomic_load(&shim_state.owner));
}

const struct provider *shim_provider(void)
{
	struct cancel_hold hold;
	int saved = errno;

	if (shim_start_inside != 0)
		return NULL;
	if (!shim_configured()) {
		if (!atomic_load_explicit(&shim_state.told, memory_order_relaxed))
			shim_tell_unconfigured();
		errno = saved;
		return NULL;
	}
	if (atomic_load_explicit(&shim_state.state, memory_order_acquire) == STATE_WAITING) {
		hold = cancel_hold();
		shim_enter();
		atomic_fetch_add(&shim_state.starting, 1);
		pthread_mutex_lock(&shim_state.lock);
		if (atomic_load_explicit(&shim_state.state, memory_order_relaxed) == STATE_WAITING)
			atomic_store_explicit(&shim_state.state,
				shim_start() == 0 ? STATE_RUNNING : STATE_INERT,
				memory_order_release);
		pthread_mutex_unlock(&shim_state.lock);
		atomic_fetch_sub(&shim_state.starting, 1);
		shim_leave();
		cancel_release(hold);
		errno = saved;
	}
	if (!shim_is_orphan())
		return shim_running();
	shim_tell_orphan();
	return NULL;
}
