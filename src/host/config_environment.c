/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration as a process finds it: in its environment, with a slot where it wants one. */
#include "host/config_error.h"
#include "host/config_givers.h"
#include "host/config_kernel.h"
#include "host/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The lines of UIWARP_SET, of which the last ones may be options. */
static int config_apply_environment(struct config *c, const char *set, struct config_error *e)
{
	const struct config_givers by = config_givers_of(set);
	const size_t len = strlen(set);
	char *copy = strdup(set);
	char *next = copy;
	int rc = 0;

	if (!copy)
		return config_complain(e, -ENOMEM, NULL, "%s", strerror(ENOMEM));
	while (rc == 0 && next) {
		char *line = strsep(&next, "\n");
		bool option = len - (size_t)(line - copy) <= by.options;

		if (*line != '\0')
			rc = config_set(c, option ? "--set" : by.others, line, e);
	}
	free(copy);
	return rc;
}

/** What the environment says, with @p slot in the place of patterns. @return as below it. */
static int config_read_environment(struct config *c, unsigned slot, struct config_error *e)
{
	const char *path = secure_getenv("UIWARP_CONFIG");
	const char *set = secure_getenv("UIWARP_SET");
	int rc = 0;

	config_init(c);
	c->slot = slot;
	if (path && *path == '\0')
		path = NULL;
	if (set && *set == '\0')
		set = NULL;
	if (!path && !set)
		return 0;
	if (path)
		rc = config_read_file(c, path, e);
	if (rc == 0 && set)
		rc = config_apply_environment(c, set, e);
	/* Without the number of the slot the whole is not there yet. */
	if (rc == 0 && (!c->slot_wanted || slot != 0))
		rc = config_check(c, e);
	return rc == 0 ? 1 : rc;
}

int config_from_environment(struct config *c, struct config_error *e)
{
	int rc = config_read_environment(c, 0, e);
	char name[sizeof c->name];

	if (rc <= 0 || !c->slot_wanted)
		return rc;
	rc = config_read_environment(c, c->slot_last, e);
	if (rc <= 0)
		return rc;
	memcpy(name, c->name, sizeof name);
	rc = config_read_environment(c, c->slot_first, e);
	c->slot_names = strcmp(name, c->name) != 0;
	return rc;
}

/** What can be known only where the configuration is used. */
static int config_settle_addresses(struct config *c, struct config_error *e)
{
	return config_is_kernel(c) ? config_kernel_addresses(c, e) : 0;
}

int config_take_slot(struct config *c, struct config_error *e)
{
	const bool names = c->slot_names;
	struct slot_places places;
	struct slot_hold hold;
	unsigned slot;
	int rc;

	if (!c->slot_wanted)
		return config_settle_addresses(c, e);
	rc = slot_find_places(&places);
	if (rc != 0)
		return config_complain(e, rc, NULL, "the directory of the slots, %s: %s",
			places.path[0], strerror(-rc));
	rc = slot_take(&places, c->slot_group, c->slot_first, c->slot_last, &slot, &hold);
	if (rc == -EBUSY)
		return config_complain(e, rc, NULL,
			"all slots from %u to %u of group \"%s\" are taken by other processes (see "
			"%s); expected fewer of them, or a longer range in \"slots\"",
			c->slot_first, c->slot_last, c->slot_group, places.path[0]);
	if (rc < 0)
		return config_complain(
			e, rc, NULL, "cannot take a slot in %s: %s", places.path[0], strerror(-rc));
	rc = config_read_environment(c, slot, e);
	if (rc <= 0) {
		slot_release(&hold);
		return rc == 0 ? config_complain(e, -ENOENT, NULL, "the configuration is gone")
			       : rc;
	}
	c->slot_hold = hold;
	c->slot_names = names;
	rc = config_settle_addresses(c, e);
	if (rc != 0)
		slot_release(&c->slot_hold);
	return rc;
}
