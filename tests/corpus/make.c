/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Make the captures of pcap/corpus, or one of them: uiwarp-corpus DIRECTORY [NAME]
 *
 * They come from whole hosts in the simulator, so the same program makes the same bytes.
 */
#include "corpus/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool corpus_wants(const char *directory, const char *only, const char *name, char path[4096])
{
	snprintf(path, 4096, "%s/%s.pcapng", directory, name);
	return !only || strcmp(only, name) == 0;
}

int main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : NULL;
	unsigned made;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s DIRECTORY [NAME]\n", argv[0]);
		return EXIT_FAILURE;
	}
	made = corpus_operations(argv[1], only);
	made += corpus_starts(argv[1], only);
	made += corpus_terminates(argv[1], only);
	if (!made)
		fprintf(stderr, "%s: there is no capture %s\n", argv[0], only);
	return made ? EXIT_SUCCESS : EXIT_FAILURE;
}
