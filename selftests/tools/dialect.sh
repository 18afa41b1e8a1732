#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dcqcn set --from without a card: see dialect.c.

cd "$(dirname "$0")/../../tools/dcqcn" || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

"${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -I../../include \
	-I../../include/uapi -iquote . -o "$TMP/dialect" ../../selftests/tools/dialect.c \
	dialect.c knob.c unit.c fail.c json.c clean.c -lm || exit
"$TMP/dialect" "$TMP/card"
