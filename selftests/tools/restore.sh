#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dcqcn port restore, by several processes at a time: see restore.c.

cd "$(dirname "$0")/../../tools/dcqcn" || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

"${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -I../../include \
	-I../../include/uapi -iquote . -o "$TMP/restore" ../../selftests/tools/restore.c \
	port_save.c port_request.c portkey.c arg.c unit.c fail.c json.c clean.c -lmnl -lm || exit
"$TMP/restore" "$TMP/ports.conf"
