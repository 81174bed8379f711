/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config.h
 * The configuration: keys, their ranges, and the sentences about errors. The provider and the
 * uiwarp command share it. Files and the environment are hostile input.
 */
#ifndef HOST_CONFIG_H
#define HOST_CONFIG_H

#include "base/ip_addr.h"
#include "base/log.h"
#include "host/slot.h"
#include "mpa/mpa.h"
#include "tcp/choices.h"
#include "tls/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_MAX_ADDRESSES 16
#define CONFIG_MAX_GATEWAYS  4
#define CONFIG_MAX_PORT      256
#define CONFIG_MAX_PATH      1024
#define CONFIG_MAX_KEYS      64

struct config_address {
	struct ip_addr addr;
	unsigned prefix_len;
};

/** Limits for peers: time-outs in ms, and counts. */
struct config_patience {
	uint32_t user_timeout;        /**< of a peer that acknowledges nothing */
	uint32_t zero_window_timeout; /**< of a peer that keeps its window closed; 0: for ever */
	uint32_t keepalive;           /**< idle time before a keep-alive; 0: no keep-alives */
	uint32_t startup_timeout;     /**< until the peer's MPA frame is complete */
	uint32_t max_startups, max_startups_per_peer;
	uint32_t max_half_open, max_half_open_per_peer;
	uint32_t max_stalled_per_peer; /**< connections with closed windows; 0: any number */
};

/** From where datagrams of UD QPs are taken. */
enum config_ud { CONFIG_UD_SUBNET, CONFIG_UD_ON, CONFIG_UD_OFF };

/** Whether a peer's port mapper is asked where to connect to (iwpm/mapper.h). */
enum config_port_mapper { PORT_MAPPER_AUTO, PORT_MAPPER_OFF, PORT_MAPPER_REQUIRED };

struct config {
	char port[CONFIG_MAX_PORT]; /**< DPDK device arguments, or "kernel" */
	char eal[CONFIG_MAX_PATH];  /**< further EAL arguments */
	char name[32];              /**< of the verbs device; default "uiw0" */
	uint8_t mac[6];             /**< all zero: the port's own */
	struct config_address address[CONFIG_MAX_ADDRESSES];
	unsigned num_addresses;
	bool host_addresses; /**< they are all of the host's (`port = kernel`) */
	struct ip_addr gateway[CONFIG_MAX_GATEWAYS];
	unsigned num_gateways;
	uint16_t mtu;            /**< 0: the port's */
	uint16_t vlan;           /**< 0: frames have no tags */
	bool progress_dedicated; /**< progress = auto | relaxed | dedicated[:core] */
	bool progress_relaxed;
	int progress_core;                   /**< -1: none named */
	struct mpa_config mpa;               /**< peer, crc, markers, mpa_revision, rtr, fpdu */
	bool connect_rdma_cm;                /**< connect_mode = auto | rdma_cm */
	uint16_t connect_port;               /**< for QPs that connect without rdma_cm */
	enum config_ud ud;                   /**< subnet | on | off */
	uint16_t ud_port;                    /**< UDP, for UD QPs */
	enum config_port_mapper port_mapper; /**< auto | off | required */
	uint32_t rnr_timeout; /**< ms that a message waits for a receive element, with rdma_cm */
	char congestion_control[16];
	bool timestamps, sack, window_scale; /**< TCP options to offer and accept */
	enum tcp_ecn_mode ecn;               /**< accept | on | off */
	enum tcp_syn_cookies syn_cookies;    /**< auto | always | off */
	struct config_patience patience;
	struct tls_config tls;
	char ipsec[CONFIG_MAX_PATH]; /**< a file of SAs and policies; empty: no IPsec */
	char capture[CONFIG_MAX_PATH];
	enum log_level log;                   /**< error | warning | info | debug */
	char log_file[CONFIG_MAX_PATH];       /**< empty: stderr */
	bool telemetry;                       /**< show what runs to "uiwarp top" and others */
	uint32_t send_buffer, receive_buffer; /**< bytes; 0: default */
	bool gather;                          /**< payload may leave from the program's memory */
	uint32_t memory;                      /**< MiB for packet buffers; 0: default */
	uint8_t settle;                       /**< seconds from link up until programs go on */
	bool list_addresses;                  /**< "interface": add the addresses to getifaddrs() */
	char slot_group[32]; /**< "slots": processes of one group share slot_first to slot_last */
	unsigned slot_first, slot_last;
	unsigned slot;    /**< 0: none yet, and values with "%{slot}" have not been read */
	bool slot_wanted; /**< a value contains "%{slot}" */
	bool slot_names;  /**< "name" contains "%{slot}"; set by config_from_environment() */
	struct slot_hold slot_hold;
	/** Private: a bit for each key that was given, and its last line in the file. */
	uint64_t given;
	unsigned file_line[CONFIG_MAX_KEYS];
};

/** What net_open() and net_start() were at. */
enum config_step {
	CONFIG_STEP_STACK,   /**< engine, IP, TCP and whatever has no name of its own here */
	CONFIG_STEP_CLAIM,   /**< the addresses, which another process may have */
	CONFIG_STEP_PORT,    /**< the port itself */
	CONFIG_STEP_OUTPUT,  /**< log_file and capture */
	CONFIG_STEP_SECRETS, /**< the files of TLS and IPsec */
};

/** An error as one sentence with key, value, file, line, and what would be right. */
struct config_error {
	char text[1024];       /* room for the names of all keys */
	enum config_step step; /**< of net_open() and net_start() alone */
};

/** The port for QPs that connect without rdma_cm (docs/connect.md); 0: they cannot. */
static inline uint16_t config_pairing_port(const struct config *c)
{
	return c->connect_rdma_cm ? 0 : c->connect_port;
}

/** Set every field to its default. */
void config_init(struct config *c);

/** Read an ini file without sections. @return 0, or -EINVAL / -errno with @p e filled in. */
int config_read_file(struct config *c, const char *path, struct config_error *e);

/**
 * What config_read_file() would find at @p path.
 * @return 0; 1: a pipe, which can be read once, by config_read_pipe(); or a negative errno with @p
 * e filled in: neither of them reads it.
 */
int config_look_at(const char *path, struct config_error *e);

/** Of a pipe's text, octets. */
#define CONFIG_PIPE_MAX 1048576

/**
 * Read a pipe as an ini file, to its end.
 * @param ms until when that must have come.
 * @param[out] set its assignments, as lines of UIWARP_SET, malloc()ed.
 * @return 0, or a negative errno with @p e filled in.
 */
int config_read_pipe(const char *path, unsigned ms, char **set, struct config_error *e);

/**
 * Apply one "key=value".
 * @param source begins sentences about it: "--set".
 * @return 0 or -EINVAL with @p e filled in.
 */
int config_set(
	struct config *c, const char *source, const char *assignment, struct config_error *e);

/** Check what concerns several keys: a port is there, gateways are on-link, and so on. */
int config_check(const struct config *c, struct config_error *e);

/**
 * The configuration that `uiwarp run` hands to its program: UIWARP_CONFIG (a file) and UIWARP_SET
 * (assignments, one a line; later ones win). Values with "%{slot}" are checked with the first and
 * the last slot, and keep the value for the first. No slot is taken. Sentences name who gave a line
 * (config_givers.h).
 * @return 1: there is a configuration; 0: there is none; a negative errno with @p e filled in.
 */
int config_from_environment(struct config *c, struct config_error *e);

/**
 * If the configuration needs a slot, take one and read the environment again with its number. Call
 * it once, right before the configuration is used. The owner of @p c then owns `slot_hold`, and
 * gives the slot back by slot_release(). net_open() takes `slot_hold` over.
 * @return 0, or a negative errno with @p e filled in; -EBUSY: all slots are taken.
 */
int config_take_slot(struct config *c, struct config_error *e);

#endif
