#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dcqcn doctor, whenever one looks: see doctor.c.

cd "$(dirname "$0")/../../tools/dcqcn" || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

"${CC:-cc}" -O1 -g -fstack-protector-strong -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE \
	-I../../include -I../../include/uapi -iquote . -o "$TMP/doctor" ../../selftests/tools/doctor.c \
	checks.c transfer_checks.c facts_text.c step.c sniff.c icrc.c unit.c knob.c fail.c json.c clean.c -lm || exit
"$TMP/doctor" "$@"
