/* SPDX-License-Identifier: BSD-2-Clause */
/** @file foreign_break.h What the illegal deeds of a foreign RNIC share, for foreign_break*.c. */
#ifndef TESTS_IWARP_FOREIGN_BREAK_H
#define TESTS_IWARP_FOREIGN_BREAK_H

#include "foreign_rnic.h"

/* RDMA layer: remote protection and operation errors. */
#define RDMA_STAG                FOREIGN_CODE(0, 1, 0)
#define RDMA_BOUNDS              FOREIGN_CODE(0, 1, 1)
#define RDMA_ACCESS              FOREIGN_CODE(0, 1, 2)
#define RDMA_STREAM              FOREIGN_CODE(0, 1, 3)
#define RDMA_WRAP                FOREIGN_CODE(0, 1, 4)
#define RDMA_INV                 FOREIGN_CODE(0, 1, 9)
#define RDMA_VERSION             FOREIGN_CODE(0, 2, 5)
#define RDMA_OPCODE              FOREIGN_CODE(0, 2, 6)
#define RDMA_STREAM_CATASTROPHIC FOREIGN_CODE(0, 2, 7)
#define RDMA_INV_OP              FOREIGN_CODE(0, 2, 9)
#define RDMA_OTHER               FOREIGN_CODE(0, 2, 0xff)
/* DDP: tagged and untagged buffers. */
#define DDP_STAG      FOREIGN_CODE(1, 1, 0)
#define DDP_BOUNDS    FOREIGN_CODE(1, 1, 1)
#define DDP_STREAM    FOREIGN_CODE(1, 1, 2)
#define DDP_WRAP      FOREIGN_CODE(1, 1, 3)
#define DDP_VERSION_T FOREIGN_CODE(1, 1, 4)
#define DDP_QN        FOREIGN_CODE(1, 2, 1)
#define DDP_BUFFER    FOREIGN_CODE(1, 2, 2)
#define DDP_MSN       FOREIGN_CODE(1, 2, 3)
#define DDP_MO        FOREIGN_CODE(1, 2, 4)
#define DDP_LONG      FOREIGN_CODE(1, 2, 5)
#define DDP_VERSION_U FOREIGN_CODE(1, 2, 6)
/* MPA */
#define MPA_CLOSED FOREIGN_CODE(2, 0, 1)
#define MPA_CRC    FOREIGN_CODE(2, 0, 2)
#define MPA_MARKER FOREIGN_CODE(2, 0, 3)

/** What the deed is, and the Terminates that it may cause. @param b, c 0: none. */
void foreign_break_expect(struct foreign_rnic *p, const char *deed, int a, int b, int c);

/** This segment has to be quoted. */
void foreign_break_guilty(struct foreign_rnic *p, const struct foreign_segment *s);

/** Send a segment that is illegal. */
void foreign_break_segment(struct foreign_rnic *p, const struct foreign_segment *s);

/** A tagged segment that would be legal as a Write, to be changed. */
struct foreign_segment foreign_break_tagged(struct foreign_rnic *p, uint8_t opcode);

/** An STag that is none of the host's. */
uint32_t foreign_break_no_stag(struct foreign_rnic *p);

/* The deeds. Each returns false where it is not possible now. */

bool foreign_break_write(struct foreign_rnic *p);
/** Through a window that has ended, is for the other way, or is shorter. */
bool foreign_break_window(struct foreign_rnic *p);
bool foreign_break_window_read(struct foreign_rnic *p);
bool foreign_break_send(struct foreign_rnic *p);
bool foreign_break_open_send(struct foreign_rnic *p);
bool foreign_break_read(struct foreign_rnic *p);
/** More Reads at once than the host takes. */
bool foreign_break_depth(struct foreign_rnic *p);
bool foreign_break_atomic(struct foreign_rnic *p);
bool foreign_break_no_response(struct foreign_rnic *p);
bool foreign_break_response(struct foreign_rnic *p);
/** The segment of a Read Response that ends it is longer than what is left. */
bool foreign_break_open_response(struct foreign_rnic *p);
bool foreign_break_fpdu(struct foreign_rnic *p);
bool foreign_break_short(struct foreign_rnic *p);
/** The end in the middle of a message, or of an FPDU. */
bool foreign_break_fin(struct foreign_rnic *p);
/** In a Write, behind whose first segments are whole answers. */
bool foreign_break_fin_in_write(struct foreign_rnic *p);

#endif
