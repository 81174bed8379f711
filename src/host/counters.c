/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/counters.h"

#include "dpdk-port/port.h"
#include "esp/boundary.h"
#include "host/thread.h"
#include "ip/ip.h"
#include "sock/sock.h"
#include "tcp/tcp.h"
#include "tls/tls.h"

#define COUNTER(of, stats, field, text, ...)                           \
	{                                                              \
		.layer = COUNTERS_##of, .name = #field, .help = text,  \
		.offset = offsetof(struct stats, field), ##__VA_ARGS__ \
	}
#define PORT(...)   COUNTER(PORT, port_stats, __VA_ARGS__)
#define IP(...)     COUNTER(IP, ip_stats, __VA_ARGS__)
#define ESP(...)    COUNTER(ESP, esp_stats, __VA_ARGS__)
#define TCP(...)    COUNTER(TCP, tcp_stats, __VA_ARGS__)
#define SOCK(...)   COUNTER(SOCK, sock_stats, __VA_ARGS__)
#define TLS(...)    COUNTER(TLS, tls_stats, __VA_ARGS__)
#define ENGINE(...) COUNTER(ENGINE, engine_thread_stats, __VA_ARGS__)

const struct counter counters[] = {
	PORT(rx_packets, "frames received"),
	PORT(tx_packets, "frames sent"),
	PORT(tx_tso, "of the frames sent, those that the port cuts into segments"),
	PORT(tx_dropped, "frames that the port had no room for, or no link", .drop = true),
	PORT(rx_other_vlan, "frames of other VLANs than ours", .drop = true),
	IP(rx_packets, "packets received"),
	IP(rx_bytes, "bytes of packets received"),
	IP(tx_packets, "packets sent"),
	IP(tx_bytes, "bytes of packets sent"),
	IP(rx_bad_header, "packets with a malformed IP header", .drop = true),
	IP(rx_bad_cksum, "packets with a bad IPv4 header checksum", .drop = true),
	IP(rx_not_ours, "packets to other addresses", .drop = true),
	IP(rx_unknown_proto, "packets of unknown protocols", .drop = true),
	IP(rx_cksum_unfilled,
		"packets without a transport checksum, which the sender left to hardware"),
	IP(rx_fragments, "fragments received"),
	IP(reassembled, "packets made whole of fragments"),
	IP(reassembly_failed, "packets of which fragments were missing or wrong", .drop = true),
	IP(arp_rx, "ARP packets received"),
	IP(arp_tx, "ARP packets sent"),
	IP(arp_conflicts, "claims by ARP of one of our addresses"),
	IP(nd_rx, "ND messages received"),
	IP(nd_tx, "ND messages sent"),
	IP(nd_conflicts, "claims by ND of one of our addresses"),
	IP(icmp_rx, "ICMP messages received"),
	IP(icmp_tx, "ICMP messages sent"),
	IP(icmp_errors_rx, "ICMP errors received"),
	IP(icmp_errors_limited, "ICMP errors not sent, by rate limit"),
	IP(neighbour_failed, "neighbours that did not answer"),
	IP(neighbour_queue_drops, "packets that waited for a neighbour's address", .drop = true),
	IP(no_route, "packets without a route", .drop = true),
	IP(looped, "packets from us to us"),
	IP(neighbour_moved, "changes of a neighbour's link-layer address"),
	IP(neighbour_refused, "such changes that were refused"),
	IP(rx_martian, "packets from impossible sources", .drop = true),
	IP(udp_rx, "UDP datagrams received"),
	IP(udp_tx, "UDP datagrams sent"),
	IP(igmp_rx, "IGMP messages received"),
	IP(igmp_tx, "IGMP messages sent"),
	IP(rx_no_memory, "packets received when the pool was empty", .drop = true),
	IP(icmp_ignored, "ICMP messages of unknown types, or about nothing that was sent",
		.drop = true),
	IP(loop_full, "packets from us to us that found no room", .drop = true),
	ESP(rx_packets, "packets that came protected, and are good"),
	ESP(rx_bytes, "bytes of such packets without ESP"),
	ESP(tx_packets, "packets sent protected"),
	ESP(tx_bytes, "bytes of such packets without ESP"),
	ESP(tx_no_sa, "packets to be protected, for which there is no SA", .drop = true),
	ESP(tx_discarded, "packets that no policy lets out", .drop = true),
	ESP(tx_ended, "packets for an SA that has reached its limit", .drop = true),
	ESP(tx_too_long, "packets that ESP would have made too long", .drop = true),
	ESP(tx_failed, "packets that the cipher failed on", .drop = true),
	ESP(tx_no_memory, "packets without a buffer to encrypt to", .drop = true),
	ESP(rx_no_sa, "ESP packets of unknown SAs", .drop = true),
	ESP(rx_replay, "ESP packets that have come before", .drop = true),
	ESP(rx_late, "ESP packets left of the anti-replay window", .drop = true),
	ESP(rx_bad_icv, "ESP packets that are forged or damaged", .drop = true),
	ESP(rx_short, "ESP packets that are truncated", .drop = true),
	ESP(rx_bad_padding, "authentic ESP packets with wrong padding", .drop = true),
	ESP(rx_bad_header, "ESP packets that do not fit their SA's mode", .drop = true),
	ESP(rx_ended, "ESP packets of an SA that has reached its limit", .drop = true),
	ESP(rx_failed, "ESP packets that the cipher failed on", .drop = true),
	ESP(rx_no_memory, "ESP packets without a buffer to decrypt to", .drop = true),
	ESP(rx_clear, "packets in the clear that a policy protects", .drop = true),
	ESP(rx_mismatch, "packets by an SA that is not for them", .drop = true),
	ESP(rx_discarded, "packets that no policy lets in", .drop = true),
	ESP(rx_dummy, "dummy packets of ESP"),
	ESP(sas_in, "inbound SAs", .gauge = true),
	ESP(sas_out, "outbound SAs", .gauge = true),
	ESP(policies, "policies", .gauge = true),
	ESP(reloads, "times that the file of SAs was read again"),
	ESP(reloads_failed, "times that it was wrong, and the old one stayed"),
	TCP(segments_in, "segments received"),
	TCP(segments_out, "segments sent"),
	TCP(bytes_in, "bytes of text received"),
	TCP(bytes_out, "bytes of text sent"),
	TCP(retransmits, "segments sent again"),
	TCP(timeouts, "retransmission time-outs"),
	TCP(bad_cksum, "segments with a bad checksum", .drop = true),
	TCP(bad_header, "segments with a malformed header", .drop = true),
	TCP(no_connection, "segments of no connection", .drop = true),
	TCP(out_of_order, "segments that came before others"),
	TCP(duplicate, "segments that came again", .drop = true),
	TCP(paws_drops, "segments with an old timestamp, or none (RFC 7323)", .drop = true),
	TCP(out_of_order_drops, "segments that came before others when there was no memory",
		.drop = true),
	TCP(out_of_window, "segments that were not acceptable by their sequence numbers",
		.drop = true),
	TCP(bad_ack, "segments without an acknowledgment, or with an impossible one", .drop = true),
	TCP(syns_ignored, "SYNs on connections that are there (RFC 5961)", .drop = true),
	TCP(text_unwanted, "segments with text that nobody takes any more", .drop = true),
	TCP(no_memory, "segments with the next text when there was no memory", .drop = true),
	TCP(taken_ooo, "segments placed before their turn"),
	TCP(reneged, "segments dropped after they were SACKed", .drop = true),
	TCP(challenge_acks, "challenge ACKs sent (RFC 5961)"),
	TCP(challenge_acks_limited, "challenge ACKs not sent, by rate limit"),
	TCP(resets_in, "resets received"),
	TCP(resets_out, "resets sent"),
	TCP(resets_ignored, "resets that could not be believed", .drop = true),
	TCP(half_open, "handshakes from outside under way", .gauge = true),
	TCP(half_recycled, "handshakes dropped for others", .drop = true),
	TCP(orphans_recycled, "closed connections ended for others"),
	TCP(zero_window_timeouts, "connections ended because their window stayed closed"),
	TCP(stalls_ended, "connections with closed windows ended for others"),
	TCP(unread_ended, "connections with unread text ended for others"),
	TCP(syn_cookies_sent, "SYN cookies sent"),
	TCP(syn_cookies_received, "connections made from SYN cookies"),
	TCP(syn_cookies_failed, "ACKs that were no valid SYN cookie", .drop = true),
	TCP(connects, "connections begun by us"),
	TCP(accepts, "connections begun by peers"),
	TCP(accept_overflows, "handshakes that listeners had no room for", .drop = true),
	TCP(connections, "connections now", .gauge = true),
	TCP(pool_empty, "packets that could not be had from the pool"),
	TCP(icmp_ignored, "ICMP errors that could not be believed", .drop = true),
	TCP(path_too_big, "messages that a path takes smaller packets only"),
	TCP(black_holes, "paths that dropped large packets silently"),
	TCP(pmtu_probes, "probes for a larger path MTU"),
	TCP(pmtu_raised, "path MTUs raised"),
	TCP(external_out, "segments sent from the program's memory"),
	SOCK(connects, "connections begun by us"),
	SOCK(accepts, "connections begun by peers"),
	SOCK(connections, "connections now", .gauge = true),
	SOCK(bytes_in, "bytes received"),
	SOCK(bytes_out, "bytes sent"),
	SOCK(receives, "system calls to receive"),
	SOCK(sends, "system calls to send"),
	SOCK(buffers_evicted, "connections that held buffers ended for others"),
	SOCK(orphans_recycled, "closed connections given up early for want of descriptors"),
	SOCK(zero_window_timeouts, "connections ended because their window stayed closed"),
	SOCK(no_descriptor, "sockets that could not be had", .drop = true),
	TLS(handshakes, "handshakes that succeeded"),
	TLS(resumed, "handshakes that resumed a session"),
	TLS(handshakes_failed, "handshakes that failed", .drop = true),
	TLS(clear, "connections that came without TLS"),
	TLS(records_bad, "records that were forged, damaged or against the rules", .drop = true),
	TLS(truncated, "connections that ended without close_notify"),
	TLS(updates_sent, "key updates sent"),
	TLS(updates_received, "key updates received"),
	TLS(reloads, "times that certificates and keys were read again"),
	ENGINE(looks, "times that the engine's thread woke up or went on"),
	ENGINE(rounds, "rounds driven by the engine's thread"),
	ENGINE(away, "looks that left the driving to the application"),
	ENGINE(busy, "looks that found the engine taken"),
	ENGINE(sleeps, "times that the engine's thread slept"),
};

const unsigned counters_count = sizeof counters / sizeof counters[0];

const char *counters_layer_name(enum counters_layer layer)
{
	static const char *const name[] = {"port", "ip", "esp", "tcp", "sock", "tls", "engine"};

	return name[layer];
}
