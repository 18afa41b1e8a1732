#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The doctor's sniffer: see sniffer.c.

cd "$(dirname "$0")/../../tools/dcqcn" || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

"${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -fsanitize=address,undefined \
	-fno-sanitize-recover -D_GNU_SOURCE -I../../include -I../../include/uapi -iquote . \
	-o "$TMP/sniffer" ../../selftests/tools/sniffer.c icrc.c || exit
"$TMP/sniffer" 2>&1
