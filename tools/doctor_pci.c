/* SPDX-License-Identifier: BSD-2-Clause */
/* What a PCI device needs, in the order of docs/deploy.md. */
#include "base/sysfs.h"
#include "dpdk-port/pci.h"
#include "dpdk-port/pool.h"
#include "tools/doctor.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/** Beside the packet buffers: what DPDK itself takes. */
#define DOCTOR_PCI_MORE_MIB 4

struct doctor_pci {
	struct doctor *d;
	const struct doctor_pci_host *host;
	char path[PATH_MAX / 2]; /**< of the device in sysfs */
	const char *address;     /**< its last part */
	char driver[64];
	const char *shared; /**< pci_shared_driver() */
};

struct doctor_pci_host doctor_pci_this_host(void)
{
	struct doctor_pci_host host = {
		.root = "", .is_root = geteuid() == 0, .memlock = UINT64_MAX};
	struct rlimit limit;

	/* Root is not held to the limit (CAP_IPC_LOCK). */
	if (!host.is_root && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
		limit.rlim_cur != RLIM_INFINITY)
		host.memlock = limit.rlim_cur;
	return host;
}

static uint64_t doctor_pci_needed_mib(const struct doctor *d)
{
	return (uint64_t)(d->config->memory ? d->config->memory : POOL_DEFAULT_MIB) +
	       DOCTOR_PCI_MORE_MIB;
}

/** Free hugepages of all sizes, in MiB. Directories are called hugepages-2048kB. */
static uint64_t doctor_pci_free_mib(const struct doctor_pci_host *host)
{
	char directory[PATH_MAX / 2], path[PATH_MAX];
	const struct dirent *entry;
	uint64_t kib = 0;
	DIR *dir;

	snprintf(directory, sizeof directory, "%s/sys/kernel/mm/hugepages", host->root);
	dir = opendir(directory);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		uint64_t size;

		if (sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &size) != 1)
			continue;
		snprintf(path, sizeof path, "%s/%s/free_hugepages", directory, entry->d_name);
		kib += size * sysfs_number(path);
	}
	closedir(dir);
	return kib / 1024;
}

static void doctor_pci_look_at_hugepages(const struct doctor_pci *p)
{
	uint64_t needed = doctor_pci_needed_mib(p->d), there = doctor_pci_free_mib(p->host);
	char path[PATH_MAX];

	if (strstr(p->d->config->eal, "--no-huge"))
		return;
	if (there >= needed) {
		doctor_good(p->d, "%" PRIu64 " MiB of hugepages are free", there);
		return;
	}
	doctor_wrong(p->d, "%" PRIu64 " MiB of hugepages are free, and %" PRIu64 " MiB are needed",
		there, needed);
	snprintf(path, sizeof path, "%s/proc/sys/vm/nr_hugepages", p->host->root);
	doctor_advise(p->d, "as root: echo %" PRIu64 " >/proc/sys/vm/nr_hugepages",
		sysfs_number(path) + (needed - there + 1) / 2);
}

static void doctor_pci_look_at_limit(const struct doctor_pci *p)
{
	uint64_t needed = doctor_pci_needed_mib(p->d) << 20;

	if (p->host->memlock >= needed)
		return;
	doctor_wrong(p->d,
		"this process may lock %" PRIu64 " KiB of memory, and %" PRIu64 " KiB are needed",
		p->host->memlock >> 10, needed >> 10);
	doctor_advise(p->d, "as root: echo '@rdma - memlock unlimited' "
			    ">/etc/security/limits.d/rdma.conf, and log in again as a user of the "
			    "group rdma; for a service, LimitMEMLOCK=infinity");
}

/** May it be opened? @param node in /dev. @param more is advised. */
static void doctor_pci_look_at_node(const struct doctor_pci *p, const char *node, const char *more)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/dev/%s", p->host->root, node);
	if (access(path, R_OK | W_OK) == 0) {
		doctor_good(p->d, "/dev/%s may be opened", node);
		return;
	}
	doctor_wrong(p->d, "this process may not open /dev/%s", node);
	doctor_advise(p->d,
		"as root: chgrp rdma /dev/%s && chmod 660 /dev/%s, for users of the group rdma%s",
		node, node, more);
}

/* ---- shared with Linux --------------------------------------------------------------------- */

/** Linux's RDMA device of it, as "uverbs0". @return false: there is none. */
static bool doctor_pci_uverbs(const struct doctor_pci *p, char *name, size_t len)
{
	char directory[PATH_MAX];
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(directory, sizeof directory, "%s/infiniband_verbs", p->path);
	dir = opendir(directory);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)) != NULL) {
		found = entry->d_name[0] != '.';
		snprintf(name, len, "%.40s", entry->d_name);
	}
	closedir(dir);
	return found;
}

static void doctor_pci_look_at_uverbs(const struct doctor_pci *p)
{
	char name[64], node[sizeof "infiniband/" + 64];

	if (!doctor_pci_uverbs(p, name, sizeof name)) {
		doctor_wrong(p->d, "Linux has no RDMA device of %s, by which DPDK's driver goes",
			p->address);
		doctor_advise(p->d, "as root: modprobe -a ib_uverbs %s",
			strcmp(p->shared, "mlx5_core") == 0   ? "mlx5_ib"
			: strcmp(p->shared, "mlx4_core") == 0 ? "mlx4_ib"
							      : "mana_ib");
		return;
	}
	snprintf(node, sizeof node, "infiniband/%s", name);
	doctor_pci_look_at_node(p, node, "");
}

/** Linux keeps it and its interface: nothing is handed over. */
static void doctor_pci_look_at_shared(const struct doctor_pci *p)
{
	if (strcmp(p->driver, p->shared) == 0) {
		doctor_good(p->d, "%s is bound to Linux's driver %s, with which DPDK's shares it",
			p->address, p->driver);
		doctor_pci_look_at_uverbs(p);
	} else {
		doctor_wrong(p->d, "%s is bound to %s%s, and DPDK's driver goes by Linux's %s",
			p->address, *p->driver ? "" : "no driver", p->driver, p->shared);
		doctor_advise(p->d, "as root: modprobe %s && dpdk-devbind.py -b %s %s", p->shared,
			p->shared, p->address);
	}
	doctor_pci_look_at_limit(p);
}

/* ---- handed over --------------------------------------------------------------------------- */

static bool doctor_pci_is_uio(const struct doctor_pci *p)
{
	return strcmp(p->driver, "vfio-pci") != 0 && pci_is_handed_over(p->driver);
}

static void doctor_pci_look_at_driver(const struct doctor_pci *p)
{
	if (pci_is_handed_over(p->driver)) {
		doctor_good(p->d, "%s is bound to %s", p->address, p->driver);
		return;
	}
	doctor_wrong(p->d, "%s is bound to %s%s, so no process can have it", p->address,
		*p->driver ? "Linux's driver " : "no driver", p->driver);
	doctor_advise(p->d,
		"as root, when Linux does not need its interface: modprobe vfio-pci && "
		"dpdk-devbind.py -b vfio-pci %s",
		p->address);
}

/** The number of its IOMMU group. @return false: it is in none. */
static bool doctor_pci_group(const struct doctor_pci *p, char *group, size_t len)
{
	char link[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t n;

	snprintf(link, sizeof link, "%s/iommu_group", p->path);
	n = readlink(link, target, sizeof target - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	base = strrchr(target, '/');
	snprintf(group, len, "%.20s", base ? base + 1 : target);
	return true;
}

static void doctor_pci_no_iommu(const struct doctor_pci *p)
{
	doctor_wrong(p->d, "Linux has no IOMMU for %s, which vfio-pci needs", p->address);
	doctor_advise(p->d,
		"switch it on in the firmware (VT-d, AMD-Vi), and on Intel add intel_iommu=on to "
		"Linux's command line (GRUB_CMDLINE_LINUX in /etc/default/grub, update-grub); in a "
		"guest without one, as root: modprobe uio_pci_generic && dpdk-devbind.py -b "
		"uio_pci_generic %s",
		p->address);
}

/** vfio gives a group away as a whole: its other devices are vfio's too, have no driver or are
 *  bridges. */
static void doctor_pci_look_at_neighbours(const struct doctor_pci *p)
{
	char directory[PATH_MAX], path[PATH_MAX + 256], driver[64];
	const struct dirent *entry;
	DIR *dir;

	snprintf(directory, sizeof directory, "%s/iommu_group/devices", p->path);
	dir = opendir(directory);
	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		if (entry->d_name[0] == '.' || strcmp(entry->d_name, p->address) == 0 ||
			!pci_driver(path, driver, sizeof driver) || !*driver ||
			strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "pcieport") == 0)
			continue;
		doctor_wrong(p->d,
			"%s is in one IOMMU group with it, and bound to Linux's driver %s",
			entry->d_name, driver);
		doctor_advise(p->d,
			"as root, when Linux does not need it: dpdk-devbind.py -b vfio-pci %s",
			entry->d_name);
	}
	closedir(dir);
}

static void doctor_pci_look_at_rights(const struct doctor_pci *p, const char *group)
{
	char node[64];

	snprintf(node, sizeof node, "vfio/%s", group);
	doctor_pci_look_at_node(p, node, "; for good, by a rule of udev's: see docs/deploy.md");
}

static void doctor_pci_look_at_vfio(const struct doctor_pci *p)
{
	char group[24];

	if (!doctor_pci_group(p, group, sizeof group)) {
		doctor_pci_no_iommu(p);
		return;
	}
	doctor_pci_look_at_neighbours(p);
	if (strcmp(p->driver, "vfio-pci") == 0)
		doctor_pci_look_at_rights(p, group);
	doctor_pci_look_at_limit(p);
}

static void doctor_pci_look_at_uio(const struct doctor_pci *p)
{
	if (p->host->is_root)
		return;
	doctor_wrong(p->d, "%s hands a device to root alone", p->driver);
	doctor_advise(p->d,
		"start the program as root, or, where there is an IOMMU, as root: "
		"dpdk-devbind.py -b vfio-pci %s",
		p->address);
}

static void doctor_pci_look_at_handed_over(const struct doctor_pci *p)
{
	doctor_pci_look_at_driver(p);
	if (doctor_pci_is_uio(p))
		doctor_pci_look_at_uio(p);
	else
		doctor_pci_look_at_vfio(p);
}

void doctor_look_at_pci(struct doctor *d, const struct doctor_pci_host *host)
{
	struct doctor_pci p = {.d = d, .host = host};
	const unsigned wrong = d->wrong;
	char sysfs[PATH_MAX / 4];

	snprintf(sysfs, sizeof sysfs, "%s" PCI_SYSFS, host->root);
	pci_path(sysfs, d->config->port, p.path, sizeof p.path);
	p.address = strrchr(p.path, '/') + 1;
	if (!pci_driver(p.path, p.driver, sizeof p.driver)) {
		doctor_wrong(d, "there is no PCI device %s", p.address);
		doctor_advise(d, "look for its address: lspci -D | grep -i ethernet");
		return;
	}
	p.shared = pci_shared_driver(p.path);
	if (p.shared)
		doctor_pci_look_at_shared(&p);
	else
		doctor_pci_look_at_handed_over(&p);
	doctor_pci_look_at_hugepages(&p);
	d->pci_is_ready = d->wrong == wrong;
}
