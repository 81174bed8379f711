/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In the guest: what of ESP its own tools do not do.
 *
 * usage: esp_stranger socket                     the UDP socket through which Linux takes ESP in
 * UDP (RFC 3948) esp_stranger send INTERFACE COUNT       a good ESP packet over IPv4 that leaves
 * there is sent again, and so is what was made of it by one who has no key, COUNT times each;
 *                                                prints what an end counts that has a window of 32
 * packets
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/xfrm.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ESP_PORT = 4500, WINDOW = 32, FRAME_MAX = 2048 };
enum { IP_AT = ETH_HLEN, ESP_AT = IP_AT + sizeof(struct iphdr), ESP_OCTETS = 8 + 8 + 16 };

struct frame {
	size_t len;
	uint8_t octet[FRAME_MAX];
};

static int wire;
static struct sockaddr_ll at = {.sll_family = AF_PACKET};

static void fail(const char *what)
{
	fprintf(stderr, "esp_stranger: %s: %s\n", what, strerror(errno));
	exit(1);
}

/** What comes to it is in the clear before it is taken for ESP, whatever policies there are. */
static void bypass(int s, uint8_t direction)
{
	struct xfrm_userpolicy_info p = {
		.sel = {.family = AF_INET}, .dir = direction, .action = XFRM_POLICY_ALLOW};

	if (setsockopt(s, IPPROTO_IP, IP_XFRM_POLICY, &p, sizeof p))
		fail("policy of the UDP socket");
}

static void udp_socket(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(ESP_PORT)};
	const int encap = UDP_ENCAP_ESPINUDP;
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	if (s < 0 || bind(s, (struct sockaddr *)&any, sizeof any) ||
		setsockopt(s, IPPROTO_UDP, UDP_ENCAP, &encap, sizeof encap))
		fail("UDP socket");
	bypass(s, XFRM_POLICY_IN);
	bypass(s, XFRM_POLICY_OUT);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

/* ---- packets --------------------------------------------------------------------------------- */

static uint32_t word(const struct frame *f, size_t off)
{
	uint32_t v;

	memcpy(&v, f->octet + off, sizeof v);
	return ntohl(v);
}

static void set_word(struct frame *f, size_t off, uint32_t v)
{
	v = htonl(v);
	memcpy(f->octet + off, &v, sizeof v);
}

/** Let the IP header be right for a packet of @p len octets. */
static void set_length(struct frame *f, size_t len)
{
	struct iphdr h;
	uint16_t part;
	uint32_t sum = 0;

	f->len = IP_AT + len;
	memcpy(&h, f->octet + IP_AT, sizeof h);
	h.tot_len = htons((uint16_t)len);
	h.check = 0;
	for (size_t i = 0; i < sizeof h; i += sizeof part) {
		memcpy(&part, (const uint8_t *)&h + i, sizeof part);
		sum += part;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	h.check = (uint16_t)~sum;
	memcpy(f->octet + IP_AT, &h, sizeof h);
}

/** The next ESP packet over IPv4, without options, that leaves. */
static void next_good(struct frame *f)
{
	struct sockaddr_ll from;
	struct iphdr h;
	socklen_t size;
	ssize_t n;

	for (;;) {
		size = sizeof from;
		n = recvfrom(wire, f->octet, sizeof f->octet, 0, (struct sockaddr *)&from, &size);
		if (n < 0)
			fail("no ESP packet leaves");
		if (from.sll_pkttype != PACKET_OUTGOING || n < (ssize_t)(ESP_AT + ESP_OCTETS))
			continue;
		memcpy(&h, f->octet + IP_AT, sizeof h);
		f->len = (size_t)n;
		if (ntohs(from.sll_protocol) == ETH_P_IP && h.ihl == 5 && h.protocol == IPPROTO_ESP)
			return;
	}
}

static void send_times(const struct frame *f, unsigned count, const char *reason)
{
	for (unsigned i = 0; i < count; i++)
		if (sendto(wire, f->octet, f->len, 0, (struct sockaddr *)&at, sizeof at) < 0)
			fail("a packet is not sent");
	printf("%s %u\n", reason, count);
}

static void send_wrong(unsigned count)
{
	struct frame good, wrong;
	uint32_t spi, sequence;

	next_good(&good);
	spi = word(&good, ESP_AT);
	sequence = word(&good, ESP_AT + 4);
	send_times(&good, count, "rx_replay");
	wrong = good;
	set_word(&wrong, ESP_AT + 4, sequence + 100000); /* none that would pass for a replay */
	wrong.octet[wrong.len - 1] ^= 1;
	send_times(&wrong, count, "rx_bad_icv");
	set_length(&wrong, sizeof(struct iphdr) + ESP_OCTETS - 1);
	send_times(&wrong, count, "rx_short");
	wrong = good;
	set_word(&wrong, ESP_AT, ~spi);
	send_times(&wrong, count, "rx_no_sa");
	wrong = good;
	wrong.octet[IP_AT + offsetof(struct iphdr, protocol)] = IPPROTO_TCP;
	set_length(&wrong, wrong.len - IP_AT);
	send_times(&wrong, count, "rx_clear");
	do
		next_good(&wrong);
	while (word(&wrong, ESP_AT) != spi || word(&wrong, ESP_AT + 4) - sequence <= 2 * WINDOW);
	send_times(&good, count, "rx_late");
}

int main(int argc, char **argv)
{
	const struct timeval patience = {.tv_sec = 60};

	if (argc == 2 && !strcmp(argv[1], "socket"))
		udp_socket();
	if (argc != 4 || strcmp(argv[1], "send") != 0) {
		fprintf(stderr, "usage: esp_stranger socket | send INTERFACE COUNT\n");
		return 2;
	}
	at.sll_ifindex = (int)if_nametoindex(argv[2]);
	at.sll_protocol = htons(ETH_P_ALL);
	wire = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	if (wire < 0 || !at.sll_ifindex || bind(wire, (struct sockaddr *)&at, sizeof at) ||
		setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience))
		fail(argv[2]);
	send_wrong((unsigned)atoi(argv[3]));
	return 0;
}
