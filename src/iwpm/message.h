/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file message.h
 * The messages of the iWARP port mapper (draft-pinkerton-iwarp-sdp-v1.0, its section on the port
 * mapper, as Linux's iwpmd speaks it): one in each UDP datagram.
 *
 * The connecting peer (CP) asks the accepting peer (AP): "where do I connect to for this endpoint
 * of yours?" The answer is an Accept, which is acknowledged, or a Reject.
 */
#ifndef IWPM_MESSAGE_H
#define IWPM_MESSAGE_H

#include "base/ip_addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The port mapper's UDP port. */
#define IWPM_PORT 3935

/** Octets of a Request; the others have as many as IWPM_ANSWER_LEN. */
#define IWPM_MESSAGE_MAX 64
#define IWPM_ANSWER_LEN  48

enum iwpm_type { IWPM_REQUEST, IWPM_ACCEPT, IWPM_ACK, IWPM_REJECT };

struct iwpm_message {
	enum iwpm_type type;
	uint8_t time;                  /**< PmTime: nobody uses it; an answer has the request's */
	uint64_t handle;               /**< AssocHandle: the CP's, of one conversation */
	struct ip_endpoint accepting;  /**< of the AP; in an Accept: the mapped one */
	struct ip_endpoint connecting; /**< of the CP, before it is mapped */
	struct ip_endpoint mapped;     /**< Request: of the CP, as it will connect from */
};

/**
 * Read a datagram. Both families are told by the message itself, whatever it came in.
 * @return false: it is none, or of another version than 0.
 */
bool iwpm_message_get(struct iwpm_message *m, const uint8_t *data, size_t len);

/**
 * Write @p m. All of its endpoints must be of one family.
 * @return octets of @p out that were written.
 */
size_t iwpm_message_put(const struct iwpm_message *m, uint8_t out[IWPM_MESSAGE_MAX]);

#endif
