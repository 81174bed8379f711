/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `uiwarp wan --control`: lines that change paths while frames are on their way. Each frame that a
 * path takes comes out once, with as many copies as it says, and not before its time; what a line
 * may not say changes nothing.
 */
#include "fuzz.h"
#include "tools/wan_control.h"
#include "wan/line.h"
#include "wan/options.h"

#include <unistd.h>

#define CAPACITY  64
#define TEXT_MAX  255
#define HOUR      UINT64_C(3600000000000)
#define LEN_MAX   9018u
#define DIRECTION 2

enum op { SAY, PUT, PASS, HANG_UP, OPS };

struct frame {
	uint64_t put_at;
};

struct world {
	struct fuzz *in;
	struct wan_control control;
	struct wan_path *path[DIRECTION];
	uint64_t now, live[DIRECTION];
	int say;
};

static struct world w;

/** The double of the bridge. */
struct wan_path *wan_bridge_path(struct wan_bridge *b, unsigned d)
{
	return w.path[d];
}

static void *copy_frame(void *ctx, void *frame)
{
	struct frame *copy = malloc(sizeof *copy);

	MUST(copy);
	*copy = *(struct frame *)frame;
	++*(uint64_t *)ctx;
	return copy;
}

static void *corrupt_frame(void *ctx, void *frame, uint64_t random)
{
	fuzz_touch(frame, sizeof(struct frame));
	return frame;
}

/* ---- what the input does -----------------------------------------------------------------------
 */

/** What it says of bad lines is for nobody. */
static void read_control(void)
{
	static FILE *nowhere;
	FILE *told = stderr;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	MUST(nowhere);
	stderr = nowhere;
	wan_control_read(&w.control);
	stderr = told;
}

static void check_config(const struct wan_path_config *c)
{
	MUST(c->rate == 0 || (c->rate >= 1000 && c->rate <= UINT64_C(1000000000000)));
	MUST(c->delay <= HOUR && c->jitter <= HOUR && c->reorder_by <= HOUR);
	MUST(c->reorder >= 0 && c->reorder <= 1 && c->duplicate >= 0 && c->duplicate <= 1);
	MUST(c->corrupt >= 0 && c->corrupt <= 1);
	MUST(c->queue_unit != WAN_QUEUE_TIME || c->queue != UINT64_MAX);
	MUST((c->reorder > 0) == (c->reorder_by > 0));
	wan_options_bytes(c);
}

static void say(void)
{
	size_t got;
	const uint8_t *p = fuzz_bytes(w.in, fuzz_u8(w.in), &got);

	if (w.say >= 0 && got)
		MUST(write(w.say, p, got) == (ssize_t)got);
	read_control();
	for (unsigned d = 0; d < DIRECTION; d++)
		check_config(wan_path_config(w.path[d]));
}

static void hang_up(void)
{
	if (w.say >= 0)
		close(w.say);
	w.say = -1;
	read_control();
}

static void put(void)
{
	uint16_t what = fuzz_u16(w.in);
	unsigned d = what & 1;
	struct frame *f = malloc(sizeof *f);

	MUST(f);
	f->put_at = w.now;
	if (wan_path_put(w.path[d], w.now, f, 14 + (what >> 1) % LEN_MAX, 14) == WAN_TAKEN)
		w.live[d]++;
	else
		free(f);
}

static void take_due(unsigned d)
{
	uint64_t due, last = 0;
	struct frame *f;

	while ((f = wan_path_take(w.path[d], w.now, &due)) != NULL) {
		MUST(due <= w.now && due >= f->put_at && due >= last);
		last = due;
		free(f);
		w.live[d]--;
	}
	MUST(wan_path_next(w.path[d]) > w.now || wan_path_next(w.path[d]) == WAN_NEVER);
}

static void check_path(unsigned d)
{
	const struct wan_path_stats *s = wan_path_get_stats(w.path[d]);

	MUST(s->fate[WAN_TAKEN] + s->duplicated - s->frames_out == w.live[d]);
	MUST(w.live[d] <= CAPACITY);
	MUST((wan_path_next(w.path[d]) == WAN_NEVER) == (w.live[d] == 0));
}

static void step(void)
{
	switch (fuzz_u8(w.in) % OPS) {
	case SAY:
		say();
		break;
	case PUT:
		put();
		break;
	case PASS:
		w.now += UINT64_C(1) << fuzz_u8(w.in) % 44;
		for (unsigned d = 0; d < DIRECTION; d++)
			take_due(d);
		break;
	default:
		hang_up();
	}
	for (unsigned d = 0; d < DIRECTION; d++)
		check_path(d);
}

/* ---- lines that say something ---------------------------------------------------------------- */

static size_t record_len(const uint8_t *p, size_t left)
{
	static const size_t rest[OPS] = {[PUT] = 2, [PASS] = 1};
	size_t len = 1 + rest[*p % OPS];

	if (*p % OPS == SAY && left > 1)
		len = 2u + p[1];
	return len < left ? len : left;
}

static unsigned draw(unsigned *state, unsigned below)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % below;
}

static size_t write_line(char *to, size_t room, unsigned *state)
{
	static const char *const to_whom[] = {"", "a-to-b ", "b-to-a ", "a-to-b"};
	static const char *const value[] = {"0", "50ms", "1%", "1g", "none", "0.5", "100%", "1500",
		"3600s", "64k", "10", "1s", "200us", "1k", "1000g", "-1", "nan", "1e400", "", "yes",
		"0.1%/1%", "10ms/20ms", "100f", "10MB"};
	const unsigned values = sizeof value / sizeof value[0];
	unsigned keys = 0, n = 1 + draw(state, 3);
	size_t len = (size_t)snprintf(to, room, "%s", to_whom[draw(state, 4)]);

	while (wan_options[keys].name)
		keys++;
	for (unsigned i = 0; i < n; i++)
		len += (size_t)snprintf(to + len, room - len, "%s%s=%s", i ? "," : "",
			wan_options[draw(state, keys)].name, value[draw(state, values)]);
	return len + (size_t)snprintf(to + len, room - len, "\n");
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/** Now and then a line of keys and values comes in between two records. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	unsigned state = seed;
	char line[TEXT_MAX + 1];
	size_t len, at = 0;

	len = draw(&state, 3) ? 0 : write_line(line, sizeof line, &state);
	if (!len || len > TEXT_MAX || size + 2 + len > max_size)
		return fuzz_mutate(data, size, max_size);
	while (at < size && draw(&state, 4))
		at += record_len(data + at, size - at);
	memmove(data + at + 2 + len, data + at, size - at);
	data[at] = SAY;
	data[at + 1] = (uint8_t)len;
	memcpy(data + at + 2, line, len);
	return size + 2 + len;
}

/* ---- run
 * -------------------------------------------------------------------------------------------- */

static void open_paths(void)
{
	struct wan_path_config written, wire;
	struct wan_options_error e;

	wan_options_init(&written);
	wire = written;
	MUST(!wan_options_finish(&wire, &written, &e));
	for (unsigned d = 0; d < DIRECTION; d++) {
		const struct wan_path_ops ops = {copy_frame, corrupt_frame, &w.live[d]};

		w.control.path[d] = written;
		w.path[d] = wan_path_create(&wire, &ops, CAPACITY, d + 1);
		MUST(w.path[d]);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	int fd[2];

	MUST(!pipe(fd));
	w = (struct world){.in = &in, .control.fd = fd[0], .say = fd[1], .now = 1};
	open_paths();
	while (in.left)
		step();
	w.now = WAN_NEVER - 1;
	for (unsigned d = 0; d < DIRECTION; d++) {
		take_due(d);
		check_path(d);
		MUST(!w.live[d]);
		wan_path_destroy(w.path[d]);
	}
	if (w.say >= 0)
		close(w.say);
	close(fd[0]);
	return 0;
}
