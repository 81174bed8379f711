/* SPDX-License-Identifier: BSD-2-Clause */
/* Hosts in which one thing or another is missing, as trees of files. */
#include "doctor_said.h"
#include "host/config.h"
#include "tools/doctor.h"

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

#define NIC "0000:03:00.0"
#define MIB (UINT64_C(1) << 20)

/* ---- a host ------------------------------------------------------------------------------- */

struct world {
	char root[32];
	struct config config;
	struct doctor doctor;
	struct doctor_pci_host host;
};

static void path_in(const struct world *w, char *path, size_t len, const char *name)
{
	snprintf(path, len, "%s/%s", w->root, name);
}

/** Make the directories above a name. */
static void make_way(const struct world *w, const char *name)
{
	char path[300];

	path_in(w, path, sizeof path, name);
	for (char *p = path + strlen(w->root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

static void make_file(const struct world *w, const char *name, const char *text)
{
	char path[300];
	FILE *f;

	make_way(w, name);
	path_in(w, path, sizeof path, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void make_link(const struct world *w, const char *name, const char *target)
{
	char path[300];

	make_way(w, name);
	path_in(w, path, sizeof path, name);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static void remove_name(const struct world *w, const char *name)
{
	char path[300];

	path_in(w, path, sizeof path, name);
	assert_int_equal(unlink(path), 0);
}

#define DEVICE "sys/bus/pci/devices/" NIC
#define PAGES  "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"

/** Nothing is missing, but what a test takes away. */
static int begin(void **state)
{
	struct world *w = calloc(1, sizeof *w);

	if (!w)
		return -1;
	snprintf(w->root, sizeof w->root, "/tmp/uiw-doctor-XXXXXX");
	if (!mkdtemp(w->root))
		return -1;
	make_link(w, DEVICE "/driver", "../../../bus/pci/drivers/vfio-pci");
	make_link(w, DEVICE "/iommu_group", "../../../../kernel/iommu_groups/12");
	make_link(w, "sys/kernel/iommu_groups/12/devices/" NIC, "../../../../bus/pci/devices/" NIC);
	make_file(w, "dev/vfio/12", "");
	make_file(w, PAGES, "34\n");
	make_file(w, "proc/sys/vm/nr_hugepages", "40\n");
	snprintf(w->config.port, sizeof w->config.port, NIC ",arg=1");
	w->doctor.config = &w->config;
	w->host = (struct doctor_pci_host){.root = w->root, .memlock = 68 * MIB};
	doctor_said[0] = '\0';
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;
	char command[64];

	snprintf(command, sizeof command, "rm -rf '%s'", w->root);
	free(w);
	return system(command);
}

static void assert_said(struct world *w, unsigned wrong, const char *finding, const char *advice)
{
	doctor_said[0] = '\0';
	w->doctor.wrong = 0;
	doctor_look_at_pci(&w->doctor, &w->host);
	if (finding && !strstr(doctor_said, finding))
		fail_msg("it does not say \"%s\" but:\n%s", finding, doctor_said);
	if (advice && !strstr(doctor_said, advice))
		fail_msg("it does not advise \"%s\" but:\n%s", advice, doctor_said);
	assert_int_equal(w->doctor.pci_is_ready, wrong == 0);
	if (w->doctor.wrong != wrong)
		fail_msg("%u findings, not %u:\n%s", w->doctor.wrong, wrong, doctor_said);
}

/* ---- findings ----------------------------------------------------------------------------- */

static void nothing_is_missing(void **state)
{
	struct world *w = *state;

	assert_said(w, 0, "good: " NIC " is bound to vfio-pci", NULL);
	assert_non_null(strstr(doctor_said, "good: /dev/vfio/12 may be opened"));
	assert_non_null(strstr(doctor_said, "good: 68 MiB of hugepages are free"));
	/* As DPDK takes it, without the domain. */
	snprintf(w->config.port, sizeof w->config.port, "03:00.0");
	assert_said(w, 0, "good: " NIC " is bound to vfio-pci", NULL);
}

static void a_device_that_is_not_there(void **state)
{
	struct world *w = *state;

	snprintf(w->config.port, sizeof w->config.port, "0000:04:00.0");
	assert_said(w, 1, "wrong: there is no PCI device 0000:04:00.0",
		"do: look for its address: lspci");
}

static void the_kernels_driver(void **state)
{
	struct world *w = *state;

	make_link(w, DEVICE "/driver", "../../../bus/pci/drivers/e1000e");
	assert_said(w, 1, "wrong: " NIC " is bound to Linux's driver e1000e",
		"modprobe vfio-pci && dpdk-devbind.py -b vfio-pci " NIC);
	remove_name(w, DEVICE "/driver");
	assert_said(
		w, 1, "wrong: " NIC " is bound to no driver", "dpdk-devbind.py -b vfio-pci " NIC);
}

/** As sysfs has a network card. */
static void make_card(const struct world *w, const char *vendor, const char *device)
{
	make_file(w, DEVICE "/vendor", vendor);
	make_file(w, DEVICE "/device", device);
	make_file(w, DEVICE "/class", "0x020000\n");
}

/** Linux keeps such a NIC, and DPDK's driver goes by Linux's: vfio-pci would take it from both. */
static void a_nic_that_is_shared(void **state)
{
	struct world *w = *state;

	make_card(w, "0x15b3\n", "0x1019\n");
	assert_said(w, 1,
		"wrong: " NIC " is bound to vfio-pci, and DPDK's driver goes by Linux's mlx5_core",
		"modprobe mlx5_core && dpdk-devbind.py -b mlx5_core " NIC);
	assert_null(strstr(doctor_said, "-b vfio-pci"));
	make_link(w, DEVICE "/driver", "../../../bus/pci/drivers/mlx5_core");
	assert_said(
		w, 1, "wrong: Linux has no RDMA device of " NIC, "modprobe -a ib_uverbs mlx5_ib");
	make_file(w, DEVICE "/infiniband_verbs/uverbs3/ibdev", "mlx5_0\n");
	assert_said(w, 1, "wrong: this process may not open /dev/infiniband/uverbs3",
		"chgrp rdma /dev/infiniband/uverbs3");
	make_file(w, "dev/infiniband/uverbs3", "");
	/* It needs no IOMMU. */
	remove_name(w, DEVICE "/iommu_group");
	assert_said(w, 0,
		"good: " NIC " is bound to Linux's driver mlx5_core, with which DPDK's shares it",
		NULL);
	w->host.memlock = MIB;
	assert_said(w, 1, "wrong: this process may lock 1024 KiB", "memlock unlimited");
}

static void a_nic_that_is_shared_and_has_no_driver(void **state)
{
	struct world *w = *state;

	remove_name(w, DEVICE "/driver");
	make_card(w, "0x15b3\n", "0x1007\n");
	assert_said(w, 1, "wrong: " NIC " is bound to no driver, and DPDK's",
		"dpdk-devbind.py -b mlx4_core " NIC);
	make_card(w, "0x1414\n", "0x00ba\n");
	assert_said(w, 1, "wrong: " NIC " is bound to no driver, and DPDK's",
		"dpdk-devbind.py -b mana " NIC);
	/* Of its vendor, and no NIC. */
	make_file(w, DEVICE "/class", "0x060400\n");
	assert_said(w, 1, "wrong: " NIC " is bound to no driver", "-b vfio-pci " NIC);
}

static void no_iommu(void **state)
{
	struct world *w = *state;

	remove_name(w, DEVICE "/iommu_group");
	assert_said(w, 1, "wrong: Linux has no IOMMU for " NIC, "intel_iommu=on");
	/* It needs none. */
	make_link(w, DEVICE "/driver", "../../../bus/pci/drivers/uio_pci_generic");
	w->host.is_root = true;
	assert_said(w, 0, "good: " NIC " is bound to uio_pci_generic", NULL);
}

static void another_device_of_the_group(void **state)
{
	struct world *w = *state;

	make_link(w, "sys/bus/pci/devices/0000:03:00.1/driver", "../../../bus/pci/drivers/e1000e");
	make_link(w, "sys/kernel/iommu_groups/12/devices/0000:03:00.1",
		"../../../../bus/pci/devices/0000:03:00.1");
	assert_said(w, 1, "wrong: 0000:03:00.1 is in one IOMMU group with it, and bound to",
		"dpdk-devbind.py -b vfio-pci 0000:03:00.1");
	make_link(
		w, "sys/bus/pci/devices/0000:03:00.1/driver", "../../../bus/pci/drivers/pcieport");
	assert_said(w, 0, NULL, NULL);
	remove_name(w, "sys/bus/pci/devices/0000:03:00.1/driver");
	assert_said(w, 0, NULL, NULL);
}

static void no_rights(void **state)
{
	struct world *w = *state;

	remove_name(w, "dev/vfio/12");
	assert_said(w, 1, "wrong: this process may not open /dev/vfio/12",
		"chgrp rdma /dev/vfio/12 && chmod 660 /dev/vfio/12");
	make_link(w, DEVICE "/driver", "../../../bus/pci/drivers/uio_pci_generic");
	assert_said(w, 1, "wrong: uio_pci_generic hands a device to root alone",
		"start the program as root");
}

static void locked_memory(void **state)
{
	struct world *w = *state;

	w->host.memlock = 68 * MIB - 1;
	assert_said(w, 1,
		"wrong: this process may lock 69631 KiB of memory, and 69632 KiB are needed",
		"memlock unlimited");
	w->host.memlock = UINT64_MAX;
	assert_said(w, 0, NULL, NULL);
}

static void hugepages(void **state)
{
	struct world *w = *state;

	/* 40 are there, 33 of them free: one more. */
	make_file(w, PAGES, "33\n");
	assert_said(w, 1, "wrong: 66 MiB of hugepages are free, and 68 MiB are needed",
		"echo 41 >/proc/sys/vm/nr_hugepages");
	/* A larger one will do. */
	make_file(w, "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "1\n");
	assert_said(w, 0, "good: 1090 MiB of hugepages are free", NULL);
	make_file(w, "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "nonsense\n");
	make_file(w, "proc/sys/vm/nr_hugepages", "");
	make_file(w, PAGES, "0\n");
	w->config.memory = 101;
	w->host.memlock = UINT64_MAX;
	assert_said(w, 1, "wrong: 0 MiB of hugepages are free, and 105 MiB are needed",
		"echo 53 >/proc/sys/vm/nr_hugepages");
	snprintf(w->config.eal, sizeof w->config.eal, "--no-huge");
	assert_said(w, 0, NULL, NULL);
}

static void all_at_once(void **state)
{
	struct world *w = *state;

	make_link(w, DEVICE "/driver", "../../../bus/pci/drivers/e1000");
	remove_name(w, DEVICE "/iommu_group");
	remove_name(w, PAGES);
	assert_said(w, 3, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_missing, begin, end),
		cmocka_unit_test_setup_teardown(a_device_that_is_not_there, begin, end),
		cmocka_unit_test_setup_teardown(the_kernels_driver, begin, end),
		cmocka_unit_test_setup_teardown(a_nic_that_is_shared, begin, end),
		cmocka_unit_test_setup_teardown(a_nic_that_is_shared_and_has_no_driver, begin, end),
		cmocka_unit_test_setup_teardown(no_iommu, begin, end),
		cmocka_unit_test_setup_teardown(another_device_of_the_group, begin, end),
		cmocka_unit_test_setup_teardown(no_rights, begin, end),
		cmocka_unit_test_setup_teardown(locked_memory, begin, end),
		cmocka_unit_test_setup_teardown(hugepages, begin, end),
		cmocka_unit_test_setup_teardown(all_at_once, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
