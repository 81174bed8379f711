/* SPDX-License-Identifier: BSD-2-Clause */
/** @file connection.h The commands that make and end connections, and the options of an id. */
#ifndef PROVIDER_CM_CONNECTION_H
#define PROVIDER_CM_CONNECTION_H

#include "provider/cm/call.h"

ucma_handler ucma_listen, ucma_connect, ucma_accept, ucma_reject, ucma_disconnect,
	ucma_init_qp_attr, ucma_notify;

#endif
