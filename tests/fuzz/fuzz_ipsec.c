/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host with IPsec before it. Strangers send any frames; peers that have the keys seal any text as
 * any protocol, for any of their SAs, and it may be changed, come twice or claim to be another's.
 * Of an address that a policy protects nothing comes up but what was sealed for it, once, and
 * nothing leaves to it in the clear.
 */
#include "base/bytes.h"
#include "base/container_of.h"
#include "esp/boundary.h"
#include "esp/esp_wire.h"
#include "esp/packet.h"
#include "ip_host.h"
#include "support/plain_sum.h"

#include <rte_mbuf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX  1400
#define SPI_IN    0x1000
#define SPI_OUT   0x2000
#define UDP_PORT  4500
#define NOBODY    (-1)
#define FRAME_MAX (14 + 40 + 8 + ESP_LEN_MAX + TEXT_MAX + ESP_TAILROOM)

#define GCM "aead 'rfc4106(gcm(aes))' 0x070305000000000000000000000000000a0b0c0d 128"
#define CBC                                                  \
	"enc 'cbc(aes)' 0x07030500000000000000000000000000 " \
	"auth-trunc 'hmac(sha1)' 0x0703050000000000000000000000000000000000 96"

static const uint8_t key[ESP_AUTH_KEY_MAX] = {7, 3, 5}, salt[ESP_SALT_LEN] = {10, 11, 12, 13};

/** Who has an SA each way with us, and whose packets it is for. */
static const struct kind {
	const char *ours, *peer, *who; /**< who: an address, or the prefix behind a tunnel's end */
	const char *more;              /**< of an SA */
	unsigned octets;               /**< of the prefix */
	bool v4, tunnel, udp, esn, cbc;
} kinds[] = {
	{"10.0.0.1", "10.0.0.2", "10.0.0.2", "replay-window 64", 16, .v4 = true},
	{"fd00::1", "fd00::2", "fd00::2", "replay-window 64 flag esn", 16, .esn = true},
	{"10.0.0.1", "10.0.0.3", "192.0.2.0/24", "replay-window 32 mode tunnel", 15, .v4 = true,
		.tunnel = true},
	{"fd00::1", "fd00::3", "2001:db8::/32", "replay-window 32 mode tunnel", 4, .tunnel = true},
	{"10.0.0.1", "10.0.0.4", "10.0.0.4", "replay-window 32 encap espinudp 4500 4500 0.0.0.0",
		16, .v4 = true, .udp = true},
	{"10.0.0.1", "10.0.0.5", "10.0.0.5", "replay-window 4096", 16, .v4 = true, .cbc = true},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

/** Of files: all SAs, and packets of others may pass; none is left; and others may not pass. */
enum { OPEN, WITHOUT_SAS, CLOSED, FILES };

static char files[FILES][8192], path[64];
static struct ip_addr peers[KINDS], owners[KINDS], ours[KINDS];
static int file_fd;

struct world {
	struct ip_host host;
	struct esp_boundary *esp;
	struct esp_sa *peer[KINDS];
	unsigned file;
	int sealed; /**< whose packet is on its way up, as it was sealed; NOBODY: none is */
	unsigned heard;
};

/* ---- what must hold -------------------------------------------------------------------------- */

/** Whose packets the address is for. */
static int owner_of(const uint8_t addr[16])
{
	for (unsigned i = 0; i < KINDS; i++)
		if (memcmp(addr, owners[i].b, kinds[i].octets) == 0)
			return (int)i;
	return NOBODY;
}

static void hears(struct ip_host *h, const struct ip_addr *src)
{
	struct world *w = container_of(h, struct world, host);
	int owner = owner_of(src->b);

	w->heard++;
	if (owner != NOBODY)
		MUST(owner == w->sealed && w->file != WITHOUT_SAS);
	else
		MUST(w->sealed == NOBODY && w->file != CLOSED);
}

/** What a link needs is not protected. */
static bool is_of_link(const uint8_t *packet, size_t len)
{
	return packet[6] == 0 ||
	       (packet[6] == 58 && len > 40 && packet[40] >= 130 && packet[40] <= 143);
}

static void sends(struct ip_host *h, const struct rte_mbuf *m)
{
	uint8_t copy[14 + 40 + 4] = {0};
	uint32_t len = m->pkt_len < sizeof copy ? m->pkt_len : (uint32_t)sizeof copy;
	const uint8_t *frame = rte_pktmbuf_read(m, 0, len, copy), *packet;
	struct ip_addr to;
	int owner;

	if (frame != copy)
		memcpy(copy, frame, len);
	packet = copy + 14;
	if (load_be16(copy + 12) == 0x0800)
		to = ip_addr_from_v4(packet + 16);
	else if (load_be16(copy + 12) == 0x86dd && !is_of_link(packet, len - 14))
		to = ip_addr_from_v6(packet + 24);
	else
		return;
	owner = owner_of(to.b);
	if (owner == NOBODY)
		return;
	MUST(!kinds[owner].tunnel);
	if (kinds[owner].udp)
		MUST(packet[9] == 17 && load_be16(packet + 22) == UDP_PORT);
	else
		MUST(packet[kinds[owner].v4 ? 9 : 6] == ESP_PROTO);
}

/* ---- what peers seal ---------------------------------------------------------------------------
 */

/** Checksums of the text made right, as they are where @p next says that it goes. */
static void fix_text(const struct kind *k, unsigned i, uint8_t next, uint8_t *text, size_t len)
{
	const uint8_t *src = peers[i].b + (k->v4 ? 12 : 0), *dst = ours[i].b + (k->v4 ? 12 : 0);
	size_t n = k->v4 ? 4 : 16;

	if (next == 4 && len >= 20)
		ip_host_fix_v4(text, len);
	else if (next == 41 && len >= 40)
		ip_host_fix_v6(text, len);
	else if (next == 6 || next == 17 || next == 1 || next == 58)
		plain_sum_fix_l4(text, len, next,
			next == 1 ? 0 : plain_sum(dst, n, plain_sum(src, n, next + (uint32_t)len)));
}

/** Put the headers before ESP. @return where the frame begins. */
static uint8_t *put_headers(const struct kind *k, const struct ip_addr *src,
	const struct ip_addr *dst, uint8_t tos, uint8_t *at, size_t len)
{
	if (k->udp) {
		at -= 8;
		len += 8;
		store_be16(at, UDP_PORT);
		store_be16(at + 2, UDP_PORT);
		store_be16(at + 4, (uint16_t)len);
		store_be16(at + 6, 0);
	}
	at -= k->v4 ? 20 : 40;
	memset(at, 0, k->v4 ? 20 : 40);
	if (k->v4) {
		at[0] = 0x45;
		at[1] = tos;
		store_be16(at + 2, (uint16_t)(20 + len));
		at[8] = 64;
		at[9] = k->udp ? 17 : ESP_PROTO;
		memcpy(at + 12, src->b + 12, 4);
		memcpy(at + 16, dst->b + 12, 4);
		store_be16(at + 10, (uint16_t)~plain_sum(at, 20, 0));
	} else {
		store_be16(at, (uint16_t)(0x6000 | tos << 4));
		store_be16(at + 4, (uint16_t)len);
		at[6] = ESP_PROTO;
		at[7] = 64;
		memcpy(at + 8, src->b, 16);
		memcpy(at + 24, dst->b, 16);
	}
	at -= 14;
	memcpy(at, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02", 12);
	store_be16(at + 12, k->v4 ? 0x0800 : 0x86dd);
	return at;
}

static void peer_seals(struct world *w, struct fuzz *in)
{
	unsigned i = fuzz_u8(in) % KINDS, as = i;
	const struct kind *k = &kinds[i];
	uint8_t bits = fuzz_u8(in), next = fuzz_u8(in), piece = fuzz_u8(in), by = 0;
	uint8_t room[128 + FRAME_MAX], *frame, tos = 0;
	struct esp_buffer b = {.data = room + 128, .headroom = 64, .tailroom = ESP_TAILROOM};
	const uint8_t *text = fuzz_bytes(in, fuzz_u16(in) % TEXT_MAX, &b.len);
	uint64_t reassembled;
	unsigned heard;
	size_t len;

	memcpy(b.data, text, b.len);
	if (bits & 1)
		fix_text(k, i, next, b.data, b.len);
	if (bits & 16)
		w->peer[i]->sequence += fuzz_u16(in);
	if (esp_sa_seal(w->peer[i], &b, next) != ESP_OK)
		return;
	if (bits & 4) {
		size_t at = fuzz_u16(in) % b.len;

		by = fuzz_u8(in);
		b.data[at] ^= by;
	}
	if (bits & 32)
		as = fuzz_u8(in) % KINDS;
	if (bits & 64)
		tos = fuzz_u8(in);
	as = kinds[as].v4 == k->v4 ? as : i;
	frame = put_headers(k, &peers[as], &ours[i], tos, b.data, b.len);
	len = (size_t)(b.data + b.len - frame);
	w->sealed = by ? NOBODY : (int)i;
	heard = w->heard;
	reassembled = ip_stack_stats(w->host.ip)->reassembled;
	ip_host_give(&w->host, frame, len, bits & 2 ? piece : 0, 0);
	/* A frame that says so little is heard once at most. */
	MUST(w->heard - heard <= (by == 0));
	heard = w->heard;
	if (bits & 8)
		ip_host_give(&w->host, frame, len, 0, 0);
	MUST(w->heard == heard);
	/* Nor does a fragment within make a packet with others, which may have come in the clear.
	 */
	MUST(ip_stack_stats(w->host.ip)->reassembled == reassembled);
	w->sealed = NOBODY;
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

static void stranger_sends(struct world *w, struct fuzz *in)
{
	uint8_t bits = fuzz_u8(in), piece = fuzz_u8(in), frame[2048];
	size_t len;
	const uint8_t *p = fuzz_bytes(in, fuzz_u16(in) % 1600, &len);

	memcpy(frame, p, len);
	ip_host_fix(frame, len, bits);
	ip_host_give(&w->host, frame, len, bits & 4 ? piece : 0, 0);
}

static void we_send(struct world *w, struct fuzz *in)
{
	static const char *const to[] = {"10.0.0.2", "fd00::2", "192.0.2.7", "2001:db8::7",
		"10.0.0.4", "10.0.0.5", "10.0.0.9", "10.0.0.3"};
	struct ip_addr dst = ip_host_addr(to[fuzz_u8(in) % 8]);

	ip_host_send(&w->host, in, &dst);
}

static void write_file(unsigned which)
{
	size_t len = strlen(files[which]);

	MUST(ftruncate(file_fd, 0) == 0);
	MUST(pwrite(file_fd, files[which], len, 0) == (ssize_t)len);
}

static void change_file(struct world *w, struct fuzz *in)
{
	w->file = fuzz_u8(in) % FILES;
	write_file(w->file);
	esp_boundary_look(w->esp, w->host.now);
	MUST(esp_boundary_stats(w->esp)->reloads_failed == 0);
}

static void fill(void *ctx, void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

static void world_start(struct world *w, uint8_t bits)
{
	char why[512] = "";

	w->host.hears = hears;
	w->host.sends = sends;
	w->sealed = NOBODY;
	write_file(OPEN);
	MUST(!esp_boundary_create(
		&(struct esp_boundary_config){
			.path = path, .pool = ip_host_pool(), .random = {fill, NULL}},
		&w->esp));
	ip_host_start(&w->host, bits, esp_boundary_ops(w->esp));
	MUST(!esp_boundary_open(w->esp, w->host.ip, w->host.now, why, sizeof why));
	for (unsigned i = 0; i < KINDS; i++) {
		struct esp_sa_config c = {.spi = SPI_IN + i,
			.outbound = true,
			.cipher = {.key = key, .key_len = 16, .salt = salt, .auth_key = key},
			.esn = kinds[i].esn};

		if (kinds[i].cbc) {
			c.cipher.encryption = ESP_AES_CBC;
			c.cipher.integrity = ESP_HMAC_SHA1_96;
		}
		MUST(!esp_sa_create(&c, &w->peer[i]));
	}
}

static void add_line(
	char *to, const char *start, const char *src, const char *dst, const char *more)
{
	size_t len = strlen(to);
	int n = snprintf(to + len, sizeof files[0] - len, "ip xfrm %s src %s dst %s %s\n", start,
		src, dst, more);

	MUST(n > 0 && len + (size_t)n < sizeof files[0]);
}

static void make_file(unsigned which)
{
	char *to = files[which], more[512];

	if (which != CLOSED)
		strcpy(to, "ip xfrm policy setdefault in accept out accept\n");
	for (unsigned i = 0; i < KINDS; i++) {
		const struct kind *k = &kinds[i];
		const char *what = k->cbc ? CBC : GCM;

		for (unsigned out = 0; out < 2; out++) {
			const char *src = out ? k->ours : k->peer, *dst = out ? k->peer : k->ours;

			snprintf(more, sizeof more, "proto esp spi 0x%x %s %s",
				(out ? SPI_OUT : SPI_IN) + i, what, k->more);
			if (which != WITHOUT_SAS)
				add_line(to, "state add", src, dst, more);
			snprintf(more, sizeof more, "dir %s tmpl src %s dst %s proto esp mode %s",
				out ? "out" : "in", src, dst, k->tunnel ? "tunnel" : "transport");
			add_line(to, "policy add", out ? k->ours : k->who, out ? k->who : k->ours,
				more);
		}
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	ip_host_init();
	for (unsigned i = 0; i < KINDS; i++) {
		char who[64];

		snprintf(who, sizeof who, "%.*s", (int)strcspn(kinds[i].who, "/"), kinds[i].who);
		owners[i] = ip_host_addr(who);
		peers[i] = ip_host_addr(kinds[i].peer);
		ours[i] = ip_host_addr(kinds[i].ours);
	}
	for (unsigned i = 0; i < FILES; i++)
		make_file(i);
	file_fd = memfd_create("ipsec", MFD_CLOEXEC);
	MUST(file_fd >= 0 && fchmod(file_fd, 0600) == 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file_fd);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	struct world w = {.file = OPEN};

	world_start(&w, fuzz_u8(&in));
	while (in.left) {
		uint8_t op = fuzz_u8(&in) & 7;

		if (op < 4)
			peer_seals(&w, &in);
		else if (op == 4)
			stranger_sends(&w, &in);
		else if (op == 5)
			we_send(&w, &in);
		else if (op == 6)
			ip_host_run(&w.host, (UINT64_C(1) << fuzz_u8(&in) % 36) * 4);
		else
			change_file(&w, &in);
	}
	ip_host_end(&w.host);
	esp_boundary_destroy(w.esp);
	for (unsigned i = 0; i < KINDS; i++)
		esp_sa_destroy(w.peer[i]);
	return 0;
}
