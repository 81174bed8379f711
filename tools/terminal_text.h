/* SPDX-License-Identifier: BSD-2-Clause */
/** @file terminal_text.h Text from elsewhere, as it may go to a terminal. */
#ifndef TOOLS_TERMINAL_TEXT_H
#define TOOLS_TERMINAL_TEXT_H

/** Put "?" for what could be, or be part of, a terminal's control sequence. */
static inline void terminal_text(char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text >= 0x7f)
			*text = '?';
}

#endif
