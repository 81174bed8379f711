/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process finds in the file system when it starts: slots, claims of addresses and memif's
 * sockets, among files of any kind that others have left there; and device arguments of any form.
 * Nothing is removed but a socket that nobody has bound, and no two have the same slot.
 */
#include "dpdk-port/memif.h"
#include "dpdk-port/socket_file.h"
#include "fuzz.h"
#include "host/claim.h"
#include "host/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define NAMES 4
#define HELD  4

struct world {
	struct fuzz *in;
	int server[NAMES]; /* -1: none */
	struct slot_hold hold[HELD];
	unsigned slot[HELD];
	struct claim claim[HELD];
};

static struct world w;
static char directory[] = "/tmp/uiw-fuzz.XXXXXX";

/** Of the files that the input knows: two that slots use, one of a claim, one of a memif. */
static const char *path_of(unsigned i)
{
	static const char *const name[NAMES] = {
		"g.1", "g.2", "address.0000000000000000", "memif.sock"};
	static char path[sizeof directory + 32];

	snprintf(path, sizeof path, "%s/%s", directory, name[i % NAMES]);
	return path;
}

/* ---- what others do ----------------------------------------------------------------------------
 */

static void leave_socket(unsigned i, bool bound)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, (bound ? SOCK_SEQPACKET : SOCK_DGRAM) | SOCK_CLOEXEC, 0);

	MUST(fd >= 0);
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", path_of(i));
	if (!bind(fd, (struct sockaddr *)&sun, sizeof sun) && bound && !listen(fd, 1) &&
		w.server[i] < 0)
		w.server[i] = fd;
	else
		close(fd);
}

static bool slot_is_held(unsigned i)
{
	for (unsigned k = 0; k < HELD; k++)
		if (w.hold[k].n && w.slot[k] == i + 1)
			return true;
	return false;
}

static void remove_file(unsigned i)
{
	/* Deleted while it is held, it would be held twice: so says slot.c, and nobody deletes it.
	 */
	if (slot_is_held(i))
		return;
	if (unlink(path_of(i)))
		rmdir(path_of(i));
	if (w.server[i] >= 0)
		close(w.server[i]);
	w.server[i] = -1;
}

static void leave(void)
{
	uint8_t how = fuzz_u8(w.in);
	unsigned i = how % NAMES;
	int fd;

	switch (how >> 2 & 7) {
	case 0:
		remove_file(i);
		break;
	case 1:
		(void)!mkdir(path_of(i), 0700);
		break;
	case 2:
		(void)!symlink(how & 128 ? "memif.sock" : "/etc/passwd", path_of(i));
		break;
	case 3:
		(void)!mkfifo(path_of(i), 0600);
		break;
	case 4:
	case 5:
		leave_socket(i, how >> 2 & 1);
		break;
	case 6:
		fd = open(
			path_of(i), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		break;
	default:
		if (w.server[i] >= 0)
			close(w.server[i]);
		w.server[i] = -1;
	}
}

/* ---- what we do
 * ---------------------------------------------------------------------------------- */

static void slots(void)
{
	uint8_t how = fuzz_u8(w.in);
	unsigned i = how % HELD, slot;
	struct slot_places p = {.n = 1};

	if (w.hold[i].n) {
		slot_release(&w.hold[i]);
		return;
	}
	snprintf(p.path[0], sizeof p.path[0], "%s", directory);
	if (slot_take(&p, "g", 1, 1 + (how >> 2 & 3), &slot, &w.hold[i]))
		return;
	for (unsigned k = 0; k < HELD; k++)
		MUST(k == i || !w.hold[k].n || w.slot[k] != slot);
	w.slot[i] = slot;
}

/** Device arguments: words that a memif has, their values, and anything else. */
static void any_device(char *to, size_t room)
{
	static const char *const words[] = {"net_memif", "net_memif0", ",socket=", ",role=server",
		",role=client", ",role=master", ",socket-abstract=no", ",socket-abstract=yes",
		",id=", "0", "1", "4294967296", ",rsize=", "14", ",bsize=", "2048", "65536", "-1",
		",", "=", "net_tap0,iface=", "net_af_packet0,iface=", "memif.sock", "@", "[", "]",
		"%s"};
	uint8_t n = fuzz_u8(w.in) % 16;
	size_t len = 0;

	to[0] = '\0';
	while (n-- && len < room - 1) {
		uint8_t which = fuzz_u8(w.in);

		if (which < sizeof words / sizeof words[0])
			len += (size_t)snprintf(to + len, room - len, "%s", words[which]);
		else if (which == 0xfe)
			len += (size_t)snprintf(to + len, room - len, "%s", path_of(3));
		else
			len += (size_t)snprintf(to + len, room - len, "%c", which & 127);
	}
}

static void claims(void)
{
	struct claim *c = &w.claim[fuzz_u8(w.in) % HELD];
	struct config cfg = {.num_addresses = 1 + fuzz_u8(w.in) % 3};
	struct config_error e;

	if (c->n) {
		claim_release(c);
		return;
	}
	any_device(cfg.port, sizeof cfg.port);
	for (unsigned i = 0; i < cfg.num_addresses; i++)
		cfg.address[i].addr.b[15] = fuzz_u8(w.in);
	/* Record locks are the process's: against itself there are none. */
	MUST(!claim_take(c, directory, &cfg, &e));
	MUST(c->n <= cfg.num_addresses);
}

static bool is_stale_socket(const char *path, bool server)
{
	struct stat st;

	return !lstat(path, &st) && S_ISSOCK(st.st_mode) && !server;
}

static void memifs(void)
{
	char device[CONFIG_MAX_PORT], absolute[CONFIG_MAX_PORT], name[64];
	size_t len = 1 + fuzz_u8(w.in);
	bool stale[NAMES];
	struct stat st;

	any_device(device, sizeof device);
	for (unsigned i = 0; i < NAMES; i++)
		stale[i] = is_stale_socket(path_of(i), w.server[i] >= 0) || lstat(path_of(i), &st);
	socket_file_forget_stale(device);
	for (unsigned i = 0; i < NAMES; i++)
		MUST(stale[i] || !lstat(path_of(i), &st));
	if (!memif_absolute(device, absolute, len < sizeof absolute ? len : sizeof absolute))
		MUST(strlen(absolute) < len);
	memif_is_served(device);
	MUST(memif_file_size(device) < UINT64_C(1) << 32);
	if (memif_is_named(device))
		memif_why_absent(device, name, 1 + len % sizeof name);
}

/* ---- run
 * ------------------------------------------------------------------------------------------- */

static void step(void)
{
	static void (*const steps[])(void) = {leave, slots, claims, memifs};

	steps[fuzz_u8(w.in) % 4]();
}

static void remove_directory(void)
{
	char command[sizeof directory + 16];

	snprintf(command, sizeof command, "rm -rf %s", directory);
	(void)!system(command);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	MUST(mkdtemp(directory));
	return atexit(remove_directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* For paths that are relative. */
	MUST(before >= 0 && !chdir(directory));
	w = (struct world){.in = &in};
	for (unsigned i = 0; i < NAMES; i++)
		w.server[i] = -1;
	while (in.left)
		step();
	for (unsigned i = 0; i < HELD; i++) {
		slot_release(&w.hold[i]);
		claim_release(&w.claim[i]);
	}
	for (unsigned i = 0; i < NAMES; i++)
		remove_file(i);
	MUST(!fchdir(before));
	close(before);
	return 0;
}
