#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a container of an example runs: its environment, as NAME=VALUE, and behind that the entry point and its words,
with a NUL behind each.

usage: example.py FILE NAME ENTRY-POINT...       FILE is of compose or of Kubernetes; NAME is a service or a pod
"""
import sys

import yaml


def container(documents, name):
    for document in documents:
        if document.get('kind') == 'Pod' and document['metadata']['name'] == name:
            return document['spec']['containers'][0]
        if name in document.get('services', {}):
            return document['services'][name]
    sys.exit(f'there is no {name}')


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        runs = container(list(yaml.safe_load_all(file)), sys.argv[2])
    words = [f'{name}={value}' for name, value in runs.get('environment', {}).items()]
    words += sys.argv[3:] + (runs.get('args') or runs.get('command'))
    sys.stdout.write(''.join(f'{word}\0' for word in words))


main()
