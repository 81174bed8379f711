/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ending.h
 * Signals that end a command with a stack of its own: SIGHUP unless it is ignored, SIGINT and
 * SIGTERM. Peers get a reset, and nothing of the process is left in the file system.
 */
#ifndef TOOLS_ENDING_H
#define TOOLS_ENDING_H

#include "host/net.h"

/**
 * Is @p sig one that the user does not want to end anything? nohup(1) means it; a shell that
 * ignores SIGINT for what it runs beside itself does not.
 */
bool ending_is_ignored(int sig);

/**
 * For the handler of a command that ends in its own way: @p sig has come. One that comes a second
 * after the first, or later, ends the process at once: who reads what it prints may stand still.
 * Not one before: timeout(1) sends each twice.
 */
void ending_insist(int sig);

/** From now on the first ends the process in that way, by itself; a second one at once. */
void ending_watch(struct net *n);

/** They come by the descriptor that is returned instead. @return a negative errno: they do not. */
int ending_take(void);

/** Close @p fd; they end the process again, also one that has come and was not read. */
void ending_give_back(int fd);

/** Before the stack of ending_watch() closes: they wait for the end of that, and the process's. */
void ending_hold(void);

#endif
