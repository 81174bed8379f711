/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/index.h"

#include <stdlib.h>

bool esp_index_make(struct esp_index *x, uint32_t n)
{
	uint32_t size = 16, *place;

	/* Half of them stay free, so that those who find nothing soon know. */
	while (size < 2 * n)
		size *= 2;
	place = calloc(size, sizeof *place);
	if (!place)
		return false;
	free(x->place);
	*x = (struct esp_index){place, size - 1};
	return true;
}

void esp_index_free(struct esp_index *x)
{
	free(x->place);
	*x = (struct esp_index){0};
}

void esp_index_add(struct esp_index *x, uint32_t hash, uint32_t i)
{
	while (x->place[hash & x->mask])
		hash++;
	x->place[hash & x->mask] = i + 1;
}
