/* SPDX-License-Identifier: BSD-2-Clause */
/* What to do where a set-up ends before there is anything to look at. */
#include "tools/doctor.h"

#include <errno.h>

/** @return false: it depends on what was done. */
static bool doctor_advise_errno(struct doctor *d, int rc)
{
	switch (rc) {
	case -EINVAL:
		doctor_advise(d, "mend what is named: uiwarp.conf(5) says what it takes");
		return true;
	case -EMFILE:
	case -ENFILE:
		doctor_advise(d, "raise the limit of open files (\"ulimit -n\")");
		return true;
	case -ENOMEM:
	case -EAGAIN:
		doctor_advise(d,
			"raise the limits of memory and of processes (\"ulimit -a\", "
			"systemd's MemoryMax= and TasksMax=), or set a smaller \"memory\"");
		return true;
	default:
		return false;
	}
}

void doctor_advise_slot(struct doctor *d, int rc)
{
	switch (rc) {
	case -EBUSY:
		doctor_advise(d, "end one of them, or give \"slots\" a longer range");
		break;
	case -EADDRNOTAVAIL:
		doctor_advise(d, "bring an interface with such an address up (\"ip address\"), or "
				 "see to what \"address\" says");
		break;
	case -EPERM:
	case -EACCES:
	case -ENOTDIR:
		doctor_advise(d, "see to it that it is a directory of this user's to which "
				 "nobody else can write (\"ls -ld\")");
		break;
	default:
		if (!doctor_advise_errno(d, rc))
			doctor_advise(d, "see that it is on a file system that this user can write "
					 "to, with room on it (\"df\"): XDG_RUNTIME_DIR can name "
					 "another");
		break;
	}
}

static void doctor_advise_stack(struct doctor *d, int rc)
{
	if (!doctor_advise_errno(d, rc))
		doctor_advise(d, "\"--set log=debug --set log_file=FILE\" tells more");
}

void doctor_explain_open(struct doctor *d, int rc, const struct config_error *e)
{
	doctor_wrong(d, e->step == CONFIG_STEP_PORT ? "the port does not open: %s" : "%s", e->text);
	switch (e->step) {
	case CONFIG_STEP_PORT:
		doctor_explain_port(d);
		break;
	case CONFIG_STEP_CLAIM:
		doctor_advise(d, "end that process, or choose another \"address\"");
		break;
	case CONFIG_STEP_OUTPUT:
		doctor_advise(d, "name a file that this user may write, in a directory that is "
				 "there; a FIFO wants its reader first");
		break;
	case CONFIG_STEP_SECRETS:
		doctor_advise(
			d, "mend the file, or name another: uiwarp.conf(5) says what is in it");
		break;
	case CONFIG_STEP_STACK:
		doctor_advise_stack(d, rc);
		break;
	}
}

void doctor_explain_start(struct doctor *d, int rc, const struct config_error *e)
{
	doctor_wrong(d, "the stack does not start: %s", e->text);
	if (d->config->progress_dedicated && rc == -EINVAL)
		doctor_advise(d, "choose a core for \"progress\" that this process may run on "
				 "(\"taskset -p $$\" shows which)");
	else
		doctor_advise_stack(d, rc);
}
