#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make dist" packs the same bytes again, also from what was unpacked, without git, after
# a build, and whatever the umask is. Says what differs.

cd "$(dirname "$0")/../.." || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

TAR=$(make -s --no-print-directory dist) && [ -s "$TAR" ] || { echo "# no tarball"; exit 1; }
umask 077
tar -xf "$TAR" -C "$TMP" || exit
cd "$TMP"/rdma_dcqcn-* || exit
make -s tools >/dev/null && touch drivers/net/dcbport/main.o || exit
AGAIN=$(make -s --no-print-directory dist) || exit
cmp "$OLDPWD/$TAR" "$AGAIN" && exit
diff <(tar -tvf "$OLDPWD/$TAR") <(tar -tvf "$AGAIN") | sed 's/^/# /'
exit 1
