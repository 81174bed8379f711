/* SPDX-License-Identifier: BSD-2-Clause */
/** @file corpus.h The captures of pcap/corpus, by name; what each shows stands in its index. */
#ifndef TESTS_CORPUS_CORPUS_H
#define TESTS_CORPUS_CORPUS_H

#include <stdbool.h>

/** Make captures into the directory, those alone of name @p only if it is not NULL. @return how
 *  many. */
unsigned corpus_operations(const char *directory, const char *only);
unsigned corpus_starts(const char *directory, const char *only);
unsigned corpus_terminates(const char *directory, const char *only);

/** The path of one, in @p path. @return false: it is not wanted. */
bool corpus_wants(const char *directory, const char *only, const char *name, char path[4096]);

#endif
