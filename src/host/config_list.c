/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of the configuration, for scripts/configuration: a line for each, with tabs between. */
#include "host/config_value.h"

#include <stdio.h>

int main(void)
{
	for (unsigned i = 0; i < config_num_keys; i++) {
		const struct config_key *k = &config_keys[i];
		const char *initial = k->initial ? k->initial : "";
		const char *absent = k->absent ? k->absent : "";
		struct config_phrase p;

		printf("%s\t%s\t%s\t%s\t%s\n", k->name, initial, absent,
			config_value_expected(k, &p), k->text);
	}
	return ferror(stdout) || fclose(stdout) != 0;
}
