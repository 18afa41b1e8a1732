#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dcqcn port without a kernel: see ports.c.

cd "$(dirname "$0")/../../tools/dcqcn" || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

"${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -I../../include \
	-I../../include/uapi -iquote . -o "$TMP/ports" ../../selftests/tools/ports.c \
	portkey.c port_look.c record.c recording.c unit.c fail.c json.c clean.c -lmnl -lm || exit
"$TMP/ports" "$TMP/record.csv"
