/* SPDX-License-Identifier: BSD-2-Clause */
/** @file choices.h What a person may choose of TCP, without the code that acts on it. */
#ifndef TCP_CHOICES_H
#define TCP_CHOICES_H

/** When to answer SYNs without remembering them (RFC 4987). */
enum tcp_syn_cookies {
	TCP_COOKIES_AUTO, /**< when there are too many half-open connections */
	TCP_COOKIES_ALWAYS,
	TCP_COOKIES_OFF /**< the oldest half-open connection has to go */
};

/** ECN (RFC 3168). */
enum tcp_ecn_mode {
	TCP_ECN_ACCEPT, /**< when the peer asks for it */
	TCP_ECN_OFF,
	TCP_ECN_ON /**< ask for it, too */
};

#endif
