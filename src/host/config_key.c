/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_key.h"

#include "host/config_mpa.h"
#include "host/config_slot.h"
#include "host/config_value.h"

#include <string.h>

/** A day, in ms. */
#define CONFIG_MAX_TIMEOUT 86400000
/** As many as there can be connections. */
#define CONFIG_MAX_CONNECTIONS 65536

static const struct config_word config_on_off[] = {{"on", true, false}, {"off", false, false}, {0}};
static const struct config_word config_crc[] = {{"preferred", MPA_CRC_PREFERRED, false},
	{"required", MPA_CRC_REQUIRED, false}, {"off", MPA_CRC_OFF, false},
	{"on", MPA_CRC_PREFERRED, true}, {0}};
static const struct config_word config_placement[] = {
	{"auto", false, false}, {"in-order", true, false}, {0}};
static const struct config_word config_completion[] = {
	{"local", false, false}, {"acked", true, false}, {0}};
static const struct config_word config_connect_mode[] = {
	{"auto", false, false}, {"rdma_cm", true, false}, {0}};
static const struct config_word config_ud[] = {{"subnet", CONFIG_UD_SUBNET, false},
	{"on", CONFIG_UD_ON, false}, {"off", CONFIG_UD_OFF, false}, {0}};
static const struct config_word config_port_mapper[] = {{"auto", PORT_MAPPER_AUTO, false},
	{"off", PORT_MAPPER_OFF, false}, {"required", PORT_MAPPER_REQUIRED, false}, {0}};
static const struct config_word config_congestion_control[] = {
	{"cubic", 0, false}, {"bbr", 0, false}, {"newreno", 0, false}, {0}};
static const struct config_word config_ecn[] = {{"accept", TCP_ECN_ACCEPT, false},
	{"on", TCP_ECN_ON, false}, {"off", TCP_ECN_OFF, false}, {0}};
static const struct config_word config_syn_cookies[] = {{"auto", TCP_COOKIES_AUTO, false},
	{"always", TCP_COOKIES_ALWAYS, false}, {"off", TCP_COOKIES_OFF, false}, {0}};
static const struct config_word config_tls[] = {
	{"off", TLS_OFF, false}, {"on", TLS_ON, false}, {"required", TLS_REQUIRED, false}, {0}};
static const struct config_word config_tls_verify[] = {
	{"peer", TLS_VERIFY_PEER, false}, {"none", TLS_VERIFY_NONE, false}, {0}};
static const struct config_word config_log[] = {{"error", LOG_LEVEL_ERROR, false},
	{"warning", LOG_LEVEL_WARNING, false}, {"info", LOG_LEVEL_INFO, false},
	{"debug", LOG_LEVEL_DEBUG, false}, {0}};

#define CONFIG_FIELD(field) \
	.offset = offsetof(struct config, field), .size = sizeof((struct config *)0)->field
#define CONFIG_IS_NUMBER(field, least, most) \
	.type = CONFIG_NUMBER, .min = (least), .max = (most), CONFIG_FIELD(field)
#define CONFIG_IS_TIMEOUT(field, least) \
	.unit = "milliseconds", CONFIG_IS_NUMBER(field, least, CONFIG_MAX_TIMEOUT)
/* RFC 7323 section 2.3: a window is less than 2^30 bytes. */
#define CONFIG_IS_BUFFER(field) \
	.type = CONFIG_SIZE, .min = 16 << 10, .max = 1023 << 20, CONFIG_FIELD(field)
#define CONFIG_IS_WORD(field, list) .type = CONFIG_WORD, .words = (list), CONFIG_FIELD(field)
#define CONFIG_IS_SWITCH(field)     CONFIG_IS_WORD(field, config_on_off)
#define CONFIG_IS_TEXT(field, what) .type = CONFIG_TEXT, .noun = (what), CONFIG_FIELD(field)
#define CONFIG_IS_OTHER(function)   .type = CONFIG_OTHER, .parse = (function)
#define CONFIG_IS_LIST(count, function) \
	.type = CONFIG_LIST, .parse = (function), CONFIG_FIELD(count)

/* In the order of the documents. `peer` stands before the keys that it is a preset for. */
const struct config_key config_keys[] = {
	{"port", CONFIG_IS_OTHER(config_value_port),
		.expected = "`kernel`, or DPDK device arguments of at most 255 characters without "
			    "blanks, such as `net_memif0,role=server,socket=/tmp/uiwarp.sock` or "
			    "`0000:01:00.0`",
		.initial = "kernel",
		.text = "The port to open, as DPDK's device arguments, or the host's own TCP; "
			"see below."},
	{"address", CONFIG_IS_LIST(num_addresses, config_value_address),
		.expected = "an address with its prefix length, such as `10.0.0.1/24` or "
			    "`fd00::1/64`",
		.absent = "the host's",
		.text = "Our addresses, IPv4 and IPv6: at least one, at most 16, each once. "
			"Each is unicast, not of the loopback network, and a host in its "
			"network. With `port = kernel` it may be left out; those that are given "
			"are the only ones of the host's that are used, and may be of the "
			"loopback network."},
	{"gateway", CONFIG_IS_LIST(num_gateways, config_value_gateway),
		.expected = "the unicast address of a router, without prefix length",
		.absent = "none",
		.text = "Default routers, at most 4. Of each family the first one is used, and "
			"the next for as long as it does not answer ARP or ND. Each must be in the "
			"network of an `address`, or link-local. IPv6 also learns routers from "
			"their advertisements, and uses those when no `gateway` answers."},
	{"mtu", /* RFC 1122 section 3.3.3: every host takes datagrams of 576 bytes. The most is
		   what a packet buffer of DPDK's has room for (dpdk-port/pool.h). */
		CONFIG_IS_NUMBER(mtu, 576, 65318), .unit = "bytes", .absent = "the port's",
		.text = "Largest IP packet. An IPv6 address needs 1280 at least. The MTU of "
			"net_af_packet is the interface's, 9216 at most."},
	{"vlan", CONFIG_IS_NUMBER(vlan, 1, 4094), .noun = "VLAN number", .absent = "none",
		.text = "What is sent gets an 802.1Q tag of this VLAN, with the precedence in the "
			"type of service (RDMA_OPTION_ID_TOS) as its priority; of what comes, only "
			"frames with such a tag are taken. `mtu` is without the tag."},
	{"mac", CONFIG_IS_OTHER(config_value_mac),
		.expected = "a unicast Ethernet address of six hexadecimal pairs, such as "
			    "`02:00:00:00:00:01`",
		.absent = "the port's",
		.text = "Our hardware address. It is set on the device; the kernel's interface "
			"under net_af_packet or net_tap has it beside its own."},
	{"name", CONFIG_IS_OTHER(config_value_name),
		.expected = "a device name of at most 31 letters, digits, '_' or '-', beginning "
			    "with a letter",
		.initial = "uiw0", .text = "Name of the verbs device."},
	{"eal", CONFIG_IS_TEXT(eal, "EAL arguments"), .quotes = true, .absent = "none",
		.text = "Further arguments for DPDK's EAL, such as `--socket-mem=512`."},
	{"memory", CONFIG_IS_NUMBER(memory, 8, 1 << 20), .unit = "MiB", .absent = "64",
		.text = "Memory for packet buffers. All connections share it: 3/8 may hold what "
			"waits to be sent or acknowledged, 3/8 what waits to be read. Each has "
			"a sixth more, kept for connections that hold little. TLS keeps up to 1/8 "
			"beside it, of FPDUs that are not whole or wait for a receive."},
	{"gather", CONFIG_IS_SWITCH(gather), .initial = "off",
		.text = "Send the payload of large messages from the program's memory, without a "
			"copy. That needs a NIC on vfio-pci that makes TCP's checksum, or a TAP, "
			"and a connection without CRC; elsewhere it has no effect. Memory "
			"registered for a NIC is pinned then. See "
			"[placement.md](placement.md#sending-without-a-copy)."},
	{"progress", CONFIG_IS_OTHER(config_value_progress),
		.expected = "`auto`, `relaxed`, `dedicated`, or `dedicated:CORE` with CORE from 0 "
			    "to 1023",
		.initial = "auto",
		.text = "What drives the stack. `auto`: the threads of the program that post or "
			"poll, and a thread of its own when they do not. `relaxed`: the same, "
			"but that thread sleeps longer (50 microseconds at least), which costs "
			"latency and saves processor time where bulk has to pass. `dedicated`: "
			"that thread never sleeps, pinned to CORE if one is named."},
	{"peer", CONFIG_IS_OTHER(config_mpa_peer), .words = config_mpa_peers, .initial = "auto",
		.text = "Preset for a known kind of peer: `crc`, `markers`, `mpa_revision`, "
			"`rtr` and `fpdu`, and small things that have no key. What is given by "
			"its own key stays, whichever comes first. `auto` works with all of "
			"them; [peers.md](peers.md) tells what each is for."},
	{"crc", CONFIG_IS_WORD(mpa.crc, config_crc), .of_peer = true, .initial = "preferred",
		.text = "MPA CRC32c. It is off only when both sides want that. With `required`, a "
			"connection ends if the peer's reply does not agree. [peers.md](peers.md) "
			"tells how it is negotiated. `on` is an older name of `preferred`."},
	{"markers", CONFIG_IS_SWITCH(mpa.markers), .of_peer = true, .initial = "off",
		.text = "Whether the peer is to put MPA markers into what it sends. A peer that "
			"wants them from us gets them anyway."},
	{"placement", CONFIG_IS_WORD(mpa.in_order, config_placement), .of_peer = true,
		.initial = "auto",
		.text = "When payload goes to its place in memory that comes before other, lost "
			"or delayed payload: at once, where the place is known, or in its turn. "
			"At once costs less memory on lossy paths. Completions come in order "
			"either way, but a program that watches memory instead of waiting for "
			"them may see later bytes first; see [placement.md](placement.md)."},
	{"completion", CONFIG_IS_WORD(mpa.tell_acked, config_completion), .of_peer = true,
		.initial = "local",
		.text = "When a Send or Write is complete. `local`: when TCP has a copy of it. "
			"`acked`: when the peer's TCP has acknowledged its last byte. A success "
			"then means that it has reached the peer's host, and not that a program "
			"has seen it. It comes a round trip later, and up to the time that the "
			"peer delays its ACKs (ours a quarter of the round trip, at least 1 ms; "
			"Linux's 40 ms) when the peer says nothing else; with `port = kernel` "
			"up to 1 ms more. See [verbs.md](verbs.md)."},
	{"mpa_revision", CONFIG_IS_NUMBER(mpa.revision, 1, 2), .of_peer = true,
		.expected = "`1` (RFC 5044) or `2` (RFC 6581)", .initial = "2",
		.text = "The MPA revision to request with. A peer that closes, resets or "
			"rejects revision 2 as such is asked again with 1. Answers follow the "
			"peer's."},
	{"rtr", CONFIG_IS_OTHER(config_mpa_rtr), /* peer_to_peer, rtr and rtr_order */ .offset =
							 offsetof(struct config, mpa.peer_to_peer),
		.size = offsetof(struct mpa_config, fpdu_max) -
			offsetof(struct mpa_config, peer_to_peer),
		.of_peer = true,
		.expected = "`none`, or a list of `write`, `read` and `send`, such as `write,read`",
		.initial = "write,read,send",
		.text = "Peer-to-peer set-up messages of RFC 6581 that we can do, the best "
			"first. `none` does not ask for it."},
	{"fpdu", /* RFC 5044 section 4.5: a MULPDU is never less than 128 octets. */
		CONFIG_IS_NUMBER(mpa.fpdu_max, 160, 65535), .zero = "segment", .unit = "bytes",
		.of_peer = true, .initial = "segment",
		.text = "Largest FPDU to send: as one TCP segment takes, or less."},
	{"connect_mode", CONFIG_IS_WORD(connect_rdma_cm, config_connect_mode), .initial = "auto",
		.text = "`auto`: QPs that programs bring to RTR and RTS themselves connect too, "
			"to others of this kind alone, and GIDs are our addresses. `rdma_cm`: "
			"rdma_cm alone connects, and the GID is the MAC address. See "
			"[connect.md](connect.md)."},
	{"connect_port", CONFIG_IS_NUMBER(connect_port, 1, 65535), .noun = "port number",
		.initial = "61525",
		.text = "Where QPs are waited for that connect without rdma_cm; the same at "
			"both sides."},
	{"ud", CONFIG_IS_WORD(ud, config_ud), .initial = "subnet",
		.text = "UD queue pairs, which uiwarps have among themselves: from where their "
			"datagrams are taken. `subnet`: from the subnets of our addresses, `on`: "
			"from anywhere, `off`: there are none. With `subnet`, messages to "
			"multicast groups do not leave the subnet. Not with `connect_mode = "
			"rdma_cm`, nor with `tls = required` without `ipsec`, as there is no TLS "
			"for datagrams. See [ud.md](ud.md)."},
	{"ud_port", CONFIG_IS_NUMBER(ud_port, 1, 65408), .noun = "port number", .initial = "61525",
		.text = "The UDP port of UD queue pairs; the same at both sides. Messages to "
			"multicast groups come at that one + 127."},
	{"port_mapper", CONFIG_IS_WORD(port_mapper, config_port_mapper), .initial = "auto",
		.text = "The iWARP port mapper: RNICs in hardware listen on other TCP ports than "
			"programs ask for, and UDP port 3935 tells which. `auto`: a peer is "
			"asked before we connect to it, and one that does not answer within "
			"40 ms is connected to as it is; peers that ask are answered. `off`: "
			"neither. `required`: without an answer there is no connection. See "
			"[portmapper.md](portmapper.md)."},
	{"rnr_timeout", CONFIG_IS_NUMBER(rnr_timeout, 0, 600000), .unit = "milliseconds",
		.initial = "1000",
		.text = "How long a message waits for which no receive is posted. Then its "
			"connection ends with a Terminate: InfiniBand's \"receiver not ready\", "
			"which programs may count on. 0: at once, as a hardware RNIC does. "
			"Connections without rdma_cm wait for good ([connect.md](connect.md)). "
			"Either ends earlier when others want the memory that waiting messages "
			"hold, the greediest first ([tcp.md](tcp.md))."},
	{"user_timeout", CONFIG_IS_TIMEOUT(patience.user_timeout, 1000), .initial = "30000",
		.text = "A peer that acknowledges nothing of what was sent for so long is taken "
			"for dead (RFC 9293 section 3.8.3): the connection ends."},
	{"zero_window_timeout", CONFIG_IS_TIMEOUT(patience.zero_window_timeout, 1000),
		.or_zero = true, .initial = "0",
		.text = "A peer that answers, but keeps its window closed over what waits for "
			"it, is left after so long. The wait ends only when a quarter of that, "
			"or 64 KiB, has been taken. 0: never, as RFC 9293 section 3.8.6.1 has "
			"it."},
	{"keepalive", CONFIG_IS_TIMEOUT(patience.keepalive, 1000), .or_zero = true,
		.initial = "10000",
		.text = "A peer that has said nothing for so long is asked whether it is there "
			"(RFC 9293 section 3.8.4), up to nine times at this interval, 75 s and "
			"a third of `user_timeout` at most, and within `user_timeout`; then the "
			"connection ends. 0: never "
			"asked, and a side that only receives never finds out that its peer is "
			"gone."},
	{"startup_timeout", CONFIG_IS_TIMEOUT(patience.startup_timeout, 100), .initial = "10000",
		.text = "A peer's MPA request, or reply, must be whole so long after the "
			"connection was begun (RFC 5044 section 7.1.2, rule 10)."},
	{"max_startups", CONFIG_IS_NUMBER(patience.max_startups, 1, CONFIG_MAX_CONNECTIONS),
		.initial = "4096",
		.text = "Connections that may wait for their MPA request, of all peers, at up to "
			"2 KiB of memory each, and 64 KiB in the handshake of TLS. For one more, "
			"the oldest gives way of the peer that has most. With `port = kernel` at "
			"most half of `ulimit -n`."},
	{"max_startups_per_peer",
		CONFIG_IS_NUMBER(patience.max_startups_per_peer, 1, CONFIG_MAX_CONNECTIONS),
		.initial = "1024",
		.text = "The same of one peer's address (IPv6: of one network of 64 bits, as a "
			"host has all of it). For one more, its oldest gives way."},
	{"max_half_open", CONFIG_IS_NUMBER(patience.max_half_open, 1, CONFIG_MAX_CONNECTIONS),
		.initial = "4096",
		.text = "TCP handshakes that may be under way, of all peers. What comes beyond "
			"is answered as `syn_cookies` tells."},
	{"max_half_open_per_peer",
		CONFIG_IS_NUMBER(patience.max_half_open_per_peer, 1, CONFIG_MAX_CONNECTIONS),
		.initial = "512",
		.text = "The same of one peer's address, as with `max_startups_per_peer`."},
	{"max_stalled_per_peer",
		CONFIG_IS_NUMBER(patience.max_stalled_per_peer, 0, CONFIG_MAX_CONNECTIONS),
		.initial = "0",
		.text = "Connections of one peer's address that have data to send and a closed "
			"window. For one more, the one with most to send is reset. 0: any number, "
			"until others need the memory ([tcp.md](tcp.md))."},
	{"congestion_control", .type = CONFIG_NAME, .words = config_congestion_control,
		CONFIG_FIELD(congestion_control), .absent = "`cubic`",
		.text = "TCP's congestion control: `bbr` for paths that lose packets without "
			"being full. With `port = kernel` the host's own unless one is named."},
	{"send_buffer", CONFIG_IS_BUFFER(send_buffer), .absent = "automatic",
		.text = "What may wait to be sent or acknowledged, per connection. Automatic: "
			"twice the congestion window, within the connection's share of "
			"`memory`."},
	{"receive_buffer", CONFIG_IS_BUFFER(receive_buffer), .absent = "automatic",
		.text = "TCP's receive window; at least 128K is used. Automatic: from 128 KiB "
			"up to what the path and the program's pace ask for, within the "
			"connection's share of `memory`."},
	{"timestamps", CONFIG_IS_SWITCH(timestamps), .initial = "on",
		.text = "TCP's timestamps (RFC 7323). Off where a middlebox damages them, or to "
			"see what they are worth: this and the next two matter on long or lossy "
			"paths."},
	{"sack", CONFIG_IS_SWITCH(sack), .initial = "on",
		.text = "TCP's selective acknowledgments (RFC 2018)."},
	{"window_scale", CONFIG_IS_SWITCH(window_scale), .initial = "on",
		.text = "TCP's window scaling (RFC 7323)."},
	{"ecn", CONFIG_IS_WORD(ecn, config_ecn), .initial = "accept",
		.text = "Explicit congestion notification (RFC 3168): when the peer asks for "
			"it, asked for too, or never. A path that drops or resets requests that "
			"ask for it costs one retry."},
	{"syn_cookies", CONFIG_IS_WORD(syn_cookies, config_syn_cookies), .initial = "auto",
		.text = "Answer connection requests without remembering them (RFC 4987): when "
			"more are under way than a listener's backlog, always, or never; then "
			"the oldest gives way."},
	{"tls", CONFIG_IS_WORD(tls.mode, config_tls), .initial = "off",
		.text = "TLS 1.3 under MPA. `on`: connections that we begin are encrypted, and "
			"those that come to us may be. `required`: both are, and others are "
			"refused. It needs `tls_certificate`, `tls_key` and `tls_ca`, or else "
			"`tls_psk`; see [security.md](security.md). With `crc = preferred` "
			"CRCs are then off between two of us, as TLS finds more."},
	{"tls_certificate", CONFIG_IS_TEXT(tls.certificate, "the path of a file in PEM"),
		.absent = "none",
		.text = "Our certificate, and behind it those up to the CA's, if any are "
			"between. Read again when it has changed, for new connections; so are "
			"the next two and `tls_psk`."},
	{"tls_key", CONFIG_IS_TEXT(tls.key, "the path of a file in PEM"), .absent = "none",
		.text = "Its private key, without a password. Refused if everybody may read it."},
	{"tls_ca", CONFIG_IS_TEXT(tls.ca, "the path of a file in PEM"), .absent = "none",
		.text = "Certificates of those who may vouch for peers."},
	{"tls_peer_name", CONFIG_IS_TEXT(tls.peer_name, "a list of names"),
		.absent = "when we connect, the peer's address",
		.text = "Names, separated by commas, of which a peer's certificate must have "
			"one among its alternative names: DNS names or addresses. `*.` at the "
			"front of one stands for any one label. Without it, the certificate of "
			"a peer that we connect to must have its address, and so must one that "
			"connects to us for a pairing; else that may have any name."},
	{"tls_verify", CONFIG_IS_WORD(tls.verify, config_tls_verify), .initial = "peer",
		.text = "`none` believes everybody. That helps against those who listen, and "
			"not against those who change what passes."},
	{"tls_psk", CONFIG_IS_TEXT(tls.psk, "the path of a file"), .absent = "none",
		.text = "Instead of certificates: a file with lines `identity:key`, the key in "
			"32 to 128 hexadecimal digits, which both sides know. We connect with "
			"the first and answer to all. Refused if everybody may read it."},
	{"tls_handshakes_per_peer",
		CONFIG_IS_NUMBER(tls.handshakes_per_peer, 0, CONFIG_MAX_CONNECTIONS),
		.initial = "1000",
		.text = "Handshakes of TLS that one address may begin with us in a second, and "
			"those of four seconds at once; four times that the addresses of an IPv6 "
			"network of 64 bits together. Connections beyond are reset. 0: any "
			"number."},
	{"tls_keylog", CONFIG_IS_TEXT(tls.keylog, "the path of a file"), .absent = "none",
		.text = "File to add the secrets of all connections to, for Wireshark. Who has "
			"it and the packets can read everything. Refused if it is there and "
			"everybody may read it."},
	{"ipsec", CONFIG_IS_TEXT(ipsec, "the path of a file"), .absent = "none",
		.text = "IPsec: a file of policies and of SAs with their keys, a line "
			"`ip xfrm ... add ...` for each; see "
			"[security.md](security.md#ipsec). What no policy is for is neither "
			"sent nor taken. Read again when it has changed. Refused if everybody "
			"may read it."},
	{"capture", CONFIG_IS_TEXT(capture, "the path of a pcapng file"), .absent = "none",
		.text = "File for all that the stack sends and receives, of one process: `%p` in "
			"its name becomes the process's number."},
	{"interface", CONFIG_IS_SWITCH(list_addresses), .initial = "on",
		.text = "Show our addresses to programs that list the system's interfaces with "
			"getifaddrs(3), as an interface with the device's name, once they use "
			"verbs. libfabric finds its RDMA devices so. Off for a program that "
			"would do something else with it."},
	{"settle", CONFIG_IS_NUMBER(settle, 0, 60), .unit = "seconds", .initial = "0",
		.text = "Wait so long after the link is up before the program goes on: for "
			"switches that do not forward at once, such as a bridge with spanning "
			"tree (30)."},
	{"slots", CONFIG_IS_OTHER(config_slot_range), .literal = true,
		.expected = "FIRST-LAST or GROUP:FIRST-LAST, with numbers from 1 to 65535 and a "
			    "name of at most 31 letters, digits, '_' or '-'",
		.initial = "default:1-254",
		.text = "The numbers that `%{slot}` may become; see below."},
	{"log", CONFIG_IS_WORD(log, config_log), .initial = "warning",
		.text = "How much is reported. At `warning` the first peer that cannot be "
			"reached is reported with the reason, as far as it can be known from "
			"here. DPDK's own lines come at `debug`; what it has to say of a port "
			"that does not open is in our sentence."},
	{"log_file", CONFIG_IS_TEXT(log_file, "the path of a file"), .absent = "standard error",
		.text = "Where it is reported. Nobody waits for it: lines that a FIFO, a pipe "
			"or a terminal does not take at once are lost; another user's "
			"terminal may be waited for. A file that takes the place of standard "
			"error later gets lines only if it is appended to."},
	{"telemetry", CONFIG_IS_SWITCH(telemetry), .initial = "on",
		.text = "Show what runs, to the same user and root alone: a socket beside the "
			"slots' files that `uiwarp stat`, `uiwarp top` and `uiwarp ctl` ask. "
			"See [telemetry.md](telemetry.md)."},
};

const unsigned config_num_keys = sizeof config_keys / sizeof config_keys[0];
_Static_assert(sizeof config_keys / sizeof config_keys[0] <= CONFIG_MAX_KEYS,
	"struct config remembers a line and a bit for each key");

const struct config_key *config_key_find(const char *name)
{
	for (unsigned i = 0; i < config_num_keys; i++)
		if (strcmp(name, config_keys[i].name) == 0)
			return &config_keys[i];
	return NULL;
}

/* Levenshtein's distance, with neighbours that have changed places as one slip, for "did you mean":
 * keys are short, so rows on the stack will do. */
static unsigned config_distance(const char *a, const char *b)
{
	unsigned rows[3][33]; /* the present one and the two above it, in turn */
	size_t na = strlen(a), nb = strlen(b);

	if (nb > 32 || na > 32)
		return 64;
	for (unsigned j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= na; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *first = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned j = 1; j <= nb; j++) {
			unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);

			best = above[j] + 1 < best ? above[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				first[j - 2] + 1 < best)
				best = first[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[na % 3][nb];
}

const struct config_key *config_key_nearest(const char *name)
{
	const struct config_key *nearest = NULL;
	unsigned best = 4;

	for (unsigned i = 0; i < config_num_keys; i++) {
		unsigned d = config_distance(name, config_keys[i].name);

		if (d < best && d < strlen(config_keys[i].name)) {
			best = d;
			nearest = &config_keys[i];
		}
	}
	return nearest;
}
