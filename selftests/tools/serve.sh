#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dcqcn doctor --serve without IPv6 or descriptors, and a silent host: see serve.c.

cd "$(dirname "$0")/../../tools/dcqcn" || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

"${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -I../../include \
	-I../../include/uapi -iquote . -o "$TMP/serve" ../../selftests/tools/serve.c || exit
"$TMP/serve"
