/* SPDX-License-Identifier: BSD-2-Clause */
/** @file statement_priv.h What the kinds of statements share. */
#ifndef ESP_STATEMENT_PRIV_H
#define ESP_STATEMENT_PRIV_H

#include "esp/line.h"
#include "esp/statement.h"

/** The selector at the present place, in any order of its parameters. */
bool esp_selector_take(struct esp_line *l, struct esp_selector *s);

/** The word behind "proto". */
bool esp_take_proto_esp(struct esp_line *l);

/** What is behind "state add". */
bool esp_take_state(struct esp_line *l);

#endif
