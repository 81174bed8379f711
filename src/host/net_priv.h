/* SPDX-License-Identifier: BSD-2-Clause */
/** @file net_priv.h Private: struct net, and what it has below, a port or the kernel's sockets. */
#ifndef HOST_NET_PRIV_H
#define HOST_NET_PRIV_H

#include "host/claim.h"
#include "host/net.h"
#include "host/poller.h"
#include "host/stack_log.h"
#include "host/telemetry.h"
#include "host/thread.h"
#include "ip/udp.h"

struct capture;
struct esp_boundary;

/** That we are members of a group on an interface of the host's. */
struct net_ud_membership;

/** Multicast groups of UD queue pairs (net_ud_group.h). */
struct net_ud_groups {
	uint16_t port;
	bool open;                     /**< of our own UDP */
	struct sock_datagrams *socket; /**< over the kernel's sockets; NULL: closed */
	LIST_HEAD(, net_ud_membership) memberships;
	/** The host is told by one at a time; waited for before the engine's lock is taken. */
	pthread_mutex_t settling;
	/** Of the configuration's addresses, in their order; 0: not known. */
	unsigned interface[CONFIG_MAX_ADDRESSES];
};

/** Files of a capture that rotates, at most. */
#define NET_CAPTURE_FILES 1000

/** All but open(), close(), mac(), mtu(), speed() and let_go() are called with the engine's lock
 * held, or without a thread. */
struct net_ops {
	/**
	 * Open all below the engine's thread, the engine too. close_stack() and close() undo it,
	 * however far it has come.
	 * @return 0, or a negative errno with a sentence in @p e.
	 */
	int (*open)(struct net *n, struct config_error *e);
	struct llp_stack *(*llp)(struct net *n);
	bool (*has_carrier)(const struct net *n); /**< its link can be down */
	/** @param[out] speed Mb/s, 0: unknown. May be NULL. */
	bool (*link)(struct net *n, uint32_t *speed);
	/** Where the host is to be asked, which may take long. NULL: link() tells. */
	uint32_t (*speed)(const struct net *n);
	void (*link_up)(struct net *n);       /**< it has come up; NULL: no matter */
	bool (*is_gone)(const struct net *n); /**< for good */
	void (*housekeeping)(struct net *n);
	void (*mac)(const struct net *n, uint8_t mac[6]);
	uint16_t (*mtu)(const struct net *n);
	/** A peer has yet to acknowledge what we sent before we closed. */
	bool (*is_parting)(struct net *n);
	/** There is a peer that has to hear of our end. */
	bool (*is_connected)(struct net *n);
	void (*log_totals)(struct net *n);
	/** Reset what is connected and let that reach the peers. May be in a signal handler. */
	void (*reset_all)(struct net *n);
	/** The process ends and its threads keep their objects: free nothing. */
	void (*end)(struct net *n);
	void (*close_stack)(struct net *n);
	void (*close)(struct net *n);
	/** Get ready for the port mapper's requests. @return 0 or a negative errno. */
	int (*open_mapper)(struct net *n, struct iwpm_config *cfg);
	/** In a child after fork(). */
	void (*let_go)(struct net *n);
};

/** struct net_ops.open_mapper of both. They set what in @p cfg is theirs, and n is its context. */
int net_mapper_open_port(struct net *n, struct iwpm_config *cfg);
int net_mapper_open_kernel(struct net *n, struct iwpm_config *cfg);

/** Open the port mapper as the configuration wants it. @return 0, or with a sentence in @p e. */
int net_mapper_open(struct net *n, struct config_error *e);

/** Close it, if it is open; what is below is still there. */
void net_mapper_close(struct net *n);

extern const struct net_ops net_port_ops, net_kernel_ops;

struct net {
	const struct net_ops *ops;
	struct config config;
	struct stack_log log;
	struct engine engine;
	struct poller poller;
	struct engine_thread *thread;
	struct net_events events;
	struct engine_doorbell end_bell; /**< a signal ends the process */
	int end_signal;
	bool have_poller;
	bool told_gone; /**< that there is no port any more */

	struct iwpm *mapper;     /**< NULL: off */
	struct tls_stack *tls;   /**< NULL: off */
	struct sock_stack *sock; /**< over the kernel's sockets */
	struct sock_udp *mapper_client, *mapper_server;
	bool mapper_refused; /**< IWPM_PORT, and that was told */
	struct ud_net ud;    /**< net_ud.c */
	ud_input_fn *ud_input;
	void *ud_user;
	struct net_ud_groups ud_groups;
	struct sock_datagrams *ud_socket;        /**< over the kernel's sockets; NULL: closed */
	struct telemetry *telemetry;             /**< NULL: off */
	uint64_t started;                        /**< net_now() when it was opened */
	char capture_path[CONFIG_MAX_PATH + 16]; /**< of the capture under way; "": none */

	/* Over a port. */
	struct claim claim[SLOT_PLACES];
	struct port *port;
	struct capture *capture;
	struct ip_stack *ip;
	struct esp_boundary *esp; /**< NULL: no IPsec */
	struct tcp_stack *tcp;
	uint16_t ud_port;
	struct udp_out ud_out;
	unsigned ud_waiting;   /**< datagrams that wait for the port, at most */
	uint32_t ud_queue_end; /**< port_queue_end() behind the last of them */
	bool connected;        /**< somebody was, when the thread stopped */
	bool told_unfilled;    /**< of frames with unfilled checksums, once */
	bool told_cut;         /**< of packets that were cut off, once */
};

/**
 * Begin a capture in a running host, in the place of one that is under way; @p path "": end it.
 * Only for commands of telemetry and before there are any.
 * @param size of a file, in bytes, before another one is begun; 0: one file holds all.
 * @param files how many are kept, the present one included.
 * @return 0 or a negative errno with @p e filled in.
 */
int net_set_capture(
	struct net *n, const char *path, uint64_t size, unsigned files, struct config_error *e);

#endif
