# SPDX-License-Identifier: BSD-2-Clause
"""What figures depend on: the machine, and what was measured on it."""

import datetime
import json
import os
import platform
import subprocess


def commit_of(build):
    """What was measured: the commit of the tree that it was built from, and + if that had changed."""
    info = os.path.join(build, "meson-info", "meson-info.json")
    try:
        with open(info, encoding="utf-8") as file:
            source = json.load(file)["directories"]["source"]
        done = subprocess.run(
            ("git", "-C", source, "describe", "--always", "--exclude=*", "--dirty=+"),
            capture_output=True, text=True, check=True)
        return done.stdout.strip()
    except (OSError, KeyError, subprocess.CalledProcessError):
        return "unknown"


def machine(cores, build):
    """What the figures depend on."""
    info = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "kernel": platform.release(), "cores_used": cores, "cores": os.cpu_count(),
            "commit": commit_of(build), "load_average": os.getloadavg()[0]}
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                info["cpu"] = line.split(":", 1)[1].strip()
                break
    options = os.path.join(build, "meson-info", "intro-buildoptions.json")
    if os.path.exists(options):
        with open(options, encoding="utf-8") as file:
            wanted = ("buildtype", "optimization", "b_sanitize", "b_ndebug", "b_lto", "b_pgo")
            info["build"] = {o["name"]: o["value"] for o in json.load(file)
                             if o["name"] in wanted}
    return info
