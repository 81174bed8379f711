/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/capabilities.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static struct __user_cap_header_struct capabilities_header(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

static void capabilities_read(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = capabilities_header();

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
}

struct capabilities capabilities_get(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	capabilities_read(data);
	return (struct capabilities){data[0].effective, data[0].permitted};
}

void capabilities_set_effective(uint32_t effective)
{
	struct __user_cap_header_struct header = capabilities_header();
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	capabilities_read(data);
	data[0].effective = effective;
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}
