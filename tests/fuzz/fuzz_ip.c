/* SPDX-License-Identifier: BSD-2-Clause */
/* The IP layer under hostile frames: several per input, in odd pieces, time passing in between. */
#include "ip_host.h"

#define GROUP 0xf5 /* operation */

static void receive(struct ip_host *h, struct fuzz *in)
{
	uint8_t bits = fuzz_u8(in), piece = fuzz_u8(in), frame[2048];
	size_t want = fuzz_u16(in) % 1600, got;
	const uint8_t *p = fuzz_bytes(in, want, &got);
	uint64_t flags = 0;

	memcpy(frame, p, got);
	ip_host_fix(frame, got, bits);
	if (bits & 8)
		flags = (uint64_t)fuzz_u8(in) << 1 & 0x1fe;
	ip_host_give(h, frame, got, bits & 4 ? piece : 0, flags);
}

static void send(struct ip_host *h, struct fuzz *in)
{
	static const char *const peers[] = {"10.0.0.2", "192.0.2.7", "fd00::2", "2001:db8::7",
		"10.0.0.1", "fd00::1", "fe80::1", "10.0.0.255"};
	struct ip_addr dst = ip_host_addr(peers[fuzz_u8(in) % 8]);

	ip_host_send(h, in, &dst);
}

/** Join or leave one of a few groups. */
static void change_group(struct ip_host *h, struct fuzz *in)
{
	static const char *const groups[] = {
		"239.1.2.3", "224.0.0.1", "ff0e::1234", "ff01::5", "10.0.0.1", "ff00::1"};
	uint8_t which = fuzz_u8(in);
	struct ip_addr group = ip_host_addr(groups[which % 6]);

	if (which & 0x80)
		ip_group_leave(h->ip, &group, h->now);
	else if (!ip_group_join(h->ip, &group, h->now))
		MUST(ip_group_has(h->ip, &group));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	ip_host_init();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	struct ip_host h = {.ip = NULL};

	ip_host_start(&h, fuzz_u8(&in), NULL);
	while (in.left) {
		uint8_t op = fuzz_u8(&in);

		if (op == GROUP)
			change_group(&h, &in);
		else if ((op & 7) == 6)
			ip_host_run(&h, (UINT64_C(1) << fuzz_u8(&in) % 36) * 4);
		else if ((op & 7) == 7)
			send(&h, &in);
		else
			receive(&h, &in);
	}
	ip_host_end(&h);
	return 0;
}
