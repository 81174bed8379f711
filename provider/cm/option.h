/* SPDX-License-Identifier: BSD-2-Clause */
/** @file option.h rdma_set_option(). */
#ifndef PROVIDER_CM_OPTION_H
#define PROVIDER_CM_OPTION_H

#include "provider/cm/call.h"

ucma_handler ucma_set_option;

#endif
