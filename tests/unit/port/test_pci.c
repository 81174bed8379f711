/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/pci.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static char sysfs[] = "/tmp/uiw-pci-XXXXXX";

static void path_of(char *path, size_t len, const char *address, const char *file)
{
	snprintf(path, len, "%s/%s%s", sysfs, address, file);
}

static void make_device(const char *address, const char *driver)
{
	char path[100], target[100];

	path_of(path, sizeof path, address, "");
	assert_int_equal(mkdir(path, 0700), 0);
	if (!driver)
		return;
	path_of(path, sizeof path, address, "/driver");
	snprintf(target, sizeof target, "../../../bus/pci/drivers/%s", driver);
	assert_int_equal(symlink(target, path), 0);
}

/** As sysfs has a network card. */
static void make_card(const char *address, const char *vendor, const char *device)
{
	const char *const files[][2] = {
		{"/vendor", vendor}, {"/device", device}, {"/class", "0x020000"}};
	char path[100];
	FILE *f;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		path_of(path, sizeof path, address, files[i][0]);
		f = fopen(path, "w");
		assert_non_null(f);
		fprintf(f, "%s\n", files[i][1]);
		fclose(f);
	}
}

static const char *const addresses[] = {
	"0000:03:00.0", "0000:03:00.1", "0001:03:00.0", "0002:03:00.0", "0002:03:00.1"};

static int make_devices(void **state)
{
	if (!mkdtemp(sysfs))
		return -1;
	make_device(addresses[0], "e1000e");
	make_device(addresses[1], NULL);
	make_device(addresses[2], "vfio-pci");
	make_device(addresses[3], "vfio-pci");
	make_card(addresses[3], "0x15b3", "0x101d");
	make_device(addresses[4], "mana");
	make_card(addresses[4], "0x1414", "0x00ba");
	return 0;
}

static int remove_devices(void **state)
{
	char path[100];

	for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
		static const char *const files[] = {"/driver", "/vendor", "/device", "/class"};

		for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
			path_of(path, sizeof path, addresses[i], files[k]);
			unlink(path);
		}
		path_of(path, sizeof path, addresses[i], "");
		rmdir(path);
	}
	return rmdir(sysfs);
}

static void assert_explained(const char *device, const char *dpdk, const char *ours)
{
	char reason[200];

	snprintf(reason, sizeof reason, "%s", dpdk);
	pci_explain(sysfs, device, reason, sizeof reason);
	assert_string_equal(reason, ours);
}

static void the_driver_that_has_it_is_named(void **state)
{
	const char *bound = "it is bound to e1000e instead of vfio-pci";

	assert_explained(
		"0000:03:00.0", "EAL: Driver cannot attach the device (0000:03:00.0)", bound);
	assert_explained("03:00.0", "EAL: Cannot find device (0000:03:00.0)", bound);
	assert_explained("pci:0000:03:00.0,x=y", "EAL: Cannot find device (0000:03:00.0)", bound);
	assert_explained("0000:03:00.1", "EAL: Cannot find device (0000:03:00.1)",
		"it is bound to no driver of Linux's instead of vfio-pci");
	assert_explained("0000:04:00.0", "EAL: Cannot find device (0000:04:00.0)",
		"there is no such PCI device");
}

/** DPDK drives them by Linux's driver, which is not to be taken away. */
static void a_nic_that_is_shared_stays_with_linux(void **state)
{
	const char *dpdk = "EAL: Driver cannot attach the device (0002:03:00.1)";

	assert_explained("0002:03:00.0", "EAL: Driver cannot attach the device (0002:03:00.0)",
		"it is bound to vfio-pci instead of mlx5_core");
	assert_explained("0002:03:00.1", dpdk, dpdk);
}

static void what_dpdk_says_well_stays(void **state)
{
	assert_explained("0001:03:00.0", "EAL: Driver cannot attach the device (0001:03:00.0)",
		"EAL: Driver cannot attach the device (0001:03:00.0)");
	assert_explained("0000:03:00.0", "EAL: Cannot open /dev/vfio/2: Permission denied",
		"EAL: Cannot open /dev/vfio/2: Permission denied");
}

static void locked_memory_is_named(void **state)
{
	const char *dpdk = "EAL: Cannot set up DMA remapping, error 12 (Cannot allocate memory)";

	assert_true(pci_is_unmapped(dpdk));
	assert_false(pci_is_unmapped("EAL: Failed to attach device on primary process"));
	assert_explained("0001:03:00.0", dpdk,
		"its memory cannot be mapped for the device: the limit of locked memory (ulimit "
		"-l) "
		"is too small");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_driver_that_has_it_is_named),
		cmocka_unit_test(a_nic_that_is_shared_stays_with_linux),
		cmocka_unit_test(what_dpdk_says_well_stays),
		cmocka_unit_test(locked_memory_is_named),
	};

	return cmocka_run_group_tests(tests, make_devices, remove_devices);
}
