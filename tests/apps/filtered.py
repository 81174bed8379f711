#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run a command with system calls filtered, as the default profiles of container runtimes do it: those
that are listed are let through, clone3 is not known, and all others are not permitted. Or so that others
end the process, by SIGSYS.

usage: filtered.py NUMBER,NUMBER... COMMAND...      the calls that are listed, by number
       filtered.py --kill NUMBER,NUMBER... COMMAND...
       filtered.py --numbers FILE                   print the numbers of the names in FILE
"""
import ctypes
import os
import platform
import re
import struct
import subprocess
import sys

AUDIT_ARCH = {'x86_64': 0xc000003e, 'aarch64': 0xc00000b7}
# linux/filter.h, linux/seccomp.h, linux/prctl.h
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO, KILL = 0x7fff0000, 0x00050000, 0x80000000
EPERM, ENOSYS = 1, 38
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
CLONE3 = 435  # of every architecture


def numbers(path):
    """Those that this machine has; of another architecture's some are not."""
    defines = subprocess.run(['cc', '-E', '-dM', '-include', 'asm/unistd.h', '-xc', '/dev/null'],
                             check=True, capture_output=True, text=True).stdout
    known = dict(re.findall(r'^#define __NR_(\w+) (\d+)$', defines, re.M))
    with open(path) as lines:
        names = [line.strip() for line in lines if line.strip() and not line.startswith('#')]
    return [known[name] for name in names if name in known]


def program(calls, kill):
    def instruction(code, yes, no, k):
        return struct.pack('=HBBI', code, yes, no, k)

    words = [instruction(LOAD, 0, 0, 4), instruction(JUMP_EQUAL, 1, 0, AUDIT_ARCH[platform.machine()]),
             instruction(RETURN, 0, 0, KILL), instruction(LOAD, 0, 0, 0)]
    unknown = [] if kill else [(CLONE3, ERRNO | ENOSYS)]
    for call, answer in unknown + [(call, ALLOW) for call in calls]:
        words += [instruction(JUMP_EQUAL, 0, 1, call), instruction(RETURN, 0, 0, answer)]
    words.append(instruction(RETURN, 0, 0, KILL if kill else ERRNO | EPERM))
    return words


def install(words):
    text = ctypes.create_string_buffer(b''.join(words))
    prog = ctypes.create_string_buffer(struct.pack('@HP', len(words), ctypes.addressof(text)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, prog, 0, 0)):
        if prctl(*(a if isinstance(a, ctypes.Array) else ctypes.c_ulong(a) for a in arguments)):
            sys.exit(f'prctl: {os.strerror(ctypes.get_errno())}')


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == '--numbers':
        print(','.join(numbers(sys.argv[2])))
        return
    kill = sys.argv[1] == '--kill'
    calls, *command = sys.argv[1 + kill:]
    install(program([int(n) for n in calls.split(',')], kill))
    os.execvp(command[0], command)


main()
