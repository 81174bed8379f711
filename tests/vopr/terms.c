/* SPDX-License-Identifier: BSD-2-Clause */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "vopr/terms.h"

#include <stddef.h>

#if VOPR_TLS

#include "base/prng.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char key[] = "vopr:00112233445566778899aabbccddeeff\n";

static struct tls_config config;
static struct prng numbers;

static int terms_bytes(unsigned char *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = (unsigned char)prng_u64(&numbers);
	return 1;
}

static int terms_status(void)
{
	return 1;
}

/** In memory: nothing is left of it. */
static void key_file(void)
{
	int fd = memfd_create("key", MFD_CLOEXEC);

	if (fd < 0 || fchmod(fd, 0600) || write(fd, key, strlen(key)) != (ssize_t)strlen(key))
		abort();
	snprintf(config.psk, sizeof config.psk, "/proc/self/fd/%d", fd);
	config.mode = TLS_REQUIRED;
}

const struct tls_config *terms_begin(uint64_t seed)
{
	static const RAND_METHOD random_method = {
		.bytes = terms_bytes, .pseudorand = terms_bytes, .status = terms_status};

	if (!config.mode) {
		key_file();
		RAND_set_rand_method(&random_method);
	}
	numbers.state = seed ^ 0x746c73;
	return &config;
}

#else

const struct tls_config *terms_begin(uint64_t seed)
{
	return NULL;
}

#endif
