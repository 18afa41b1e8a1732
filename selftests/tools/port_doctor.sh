#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dcqcn doctor, of a switch: see port_doctor.c.

cd "$(dirname "$0")/../../tools/dcqcn" || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

"${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -I../../include \
	-I../../include/uapi -iquote . -o "$TMP/port_doctor" ../../selftests/tools/port_doctor.c \
	port_checks.c dcbx_checks.c dcb.c unit.c -lmnl -lm || exit
"$TMP/port_doctor"
