/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever a memif's peer says, the driver is told nothing that would harm it. */
#include "memif_control_case.h"

#include "dpdk-port/memif_ring.h"

/** What the driver would do with what it was told. */
static struct {
	unsigned regions, rings[2];
	uint64_t size[MEMIF_REGIONS_MAX];
} model;

static uint32_t drawn = 1;

/** One of @p n. */
static uint32_t draw(uint32_t n)
{
	drawn = drawn * 1664525u + 1013904223u;
	return (drawn >> 8) % n;
}

/** What an honest client says next. */
static struct memif_peer_message next_message(void)
{
	if (channels() == 0)
		return init();
	if (!model.regions)
		return region(0, FILE_SIZE);
	if (!model.rings[1])
		return ring(1, 0);
	return model.rings[0] ? of_type(MEMIF_PEER_CONNECT) : ring(0, 384);
}

/** What is plausible, or near to that. */
static struct memif_peer_message draw_message(void)
{
	static const uint32_t offsets[] = {0, 384, 8, FILE_SIZE - 384, FILE_SIZE - 368, 1u << 31};
	static const uint64_t sizes[] = {FILE_SIZE, 4096, FILE_SIZE + 1, 0, UINT64_MAX};
	struct memif_peer_message m = of_type((uint16_t)draw(10));

	if (draw(4) || m.type == MEMIF_PEER_INIT)
		return draw(4) ? next_message() : init();
	if (m.type == MEMIF_PEER_ADD_REGION)
		m = region((uint16_t)(draw(4) ? model.regions : draw(17)), sizes[draw(5)]);
	if (m.type == MEMIF_PEER_ADD_RING) {
		m = ring((uint16_t)draw(2), offsets[draw(6)]);
		m.ring.index = (uint16_t)(draw(3) / 2);
		m.ring.region = (uint16_t)(draw(3) / 2);
		m.ring.log2_size = (uint8_t)(4 * (1 + draw(2) * draw(20)));
	}
	if (draw(20) == 0)
		m.rest[draw(sizeof m.rest)] = (uint8_t)draw(256);
	return m;
}

/** The driver does what it is told: nothing of it would harm. */
static void obey(const struct memif_peer_message *m)
{
	uint64_t len;

	switch (m->type) {
	case MEMIF_PEER_INIT:
		memset(&model, 0, sizeof model);
		break;
	case MEMIF_PEER_ADD_REGION:
		assert_int_equal(m->region.index, model.regions);
		assert_in_range(m->region.size, 1, FILE_SIZE);
		model.size[model.regions++] = m->region.size;
		break;
	case MEMIF_PEER_ADD_RING:
		assert_in_range(m->ring.log2_size, 0, MEMIF_RING_LOG2_MAX);
		len = 128 + (UINT64_C(16) << m->ring.log2_size);
		assert_in_range(m->ring.region, 0, model.regions - 1);
		assert_true(m->ring.offset + len <= model.size[m->ring.region]);
		assert_int_equal(m->ring.index, 0);
		assert_int_equal(model.rings[m->ring.to_server & 1]++, 0);
		break;
	case MEMIF_PEER_CONNECT:
		assert_int_equal(model.rings[0] + model.rings[1], 2);
		break;
	default:
		break;
	}
}

static void nothing_harms_of_what_passes(void **state)
{
	unsigned connections = 0;

	for (unsigned i = 0; i < 50000; i++) {
		struct memif_peer_message m = draw_message();
		bool has_file = m.type == MEMIF_PEER_ADD_REGION;
		unsigned n = draw(10) ? has_file || m.type == MEMIF_PEER_ADD_RING : draw(4);
		int fds[3] = {has_file ? file : interrupt, interrupt, interrupt};

		(void)memif_peer_say(peer, &m, sizeof m, fds, n);
		if (hear(!has_file) == sizeof m)
			obey(&m);
		for (unsigned k = 0; m.type == MEMIF_PEER_CONNECT && k < MEMIF_REGIONS_MAX; k++)
			if (control.channel[0].stage == MEMIF_CONTROL_SERVER_UP &&
				k < control.channel[0].regions)
				given[n_given++] = control.channel[0].file[k];
		connections += control.channel[0].stage == MEMIF_CONTROL_SERVER_UP;
		if (channels() == 0 || control.channel[0].stage == MEMIF_CONTROL_SERVER_UP) {
			close_channel();
			memif_control_sweep(&control);
			while (n_given)
				close(given[--n_given]);
			memset(&model, 0, sizeof model);
			open_channel();
		}
	}
	assert_true(connections > 10);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(nothing_harms_of_what_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
