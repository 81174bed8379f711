/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file commands.h
 * The subcommands of uiwarp. Each gets an argv that begins with its name, and returns the exit
 * status.
 */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

/** The command line or the configuration is wrong. */
#define EXIT_USAGE 2
/** As of shells: the program exists but cannot be started. */
#define EXIT_NOT_EXECUTABLE 126
/** As of shells: there is no such program. */
#define EXIT_NOT_FOUND 127

int cmd_ctl(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_pcap(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_tcp(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_wan(int argc, char **argv);

#endif
