/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_asked.h"

#include "base/number.h"
#include "host/telemetry_socket.h"

#include <limits.h>
#include <string.h>

bool telemetry_asked_parse(const char *text, struct telemetry_asked *to)
{
	size_t n = strcspn(text, ".");
	uint64_t number, stack = 0;
	char pid[12];

	if (*text == '0' || n >= sizeof pid)
		return false;
	memcpy(pid, text, n);
	pid[n] = '\0';
	if (!number_parse(pid, 1, INT_MAX, &number) ||
		(text[n] && !number_parse(text + n + 1, 0, UINT16_MAX, &stack)))
		return false;
	*to = (struct telemetry_asked){(pid_t)number, text[n] ? (unsigned)stack + 1 : 0};
	return true;
}

bool telemetry_asked_is(const struct telemetry_asked *a, pid_t pid, const char *name)
{
	return pid == a->pid && (!a->stack || telemetry_socket_stack(name, pid) == a->stack - 1);
}
