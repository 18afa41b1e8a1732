#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make sbom" lists each file of the tarball with its hash, and each package that debian/control
# names; it writes the same bytes again. Says what differs.

cd "$(dirname "$0")/../.." || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
STATUS=0

wrong() { echo "# $*"; STATUS=1; }

bill() { make -s --no-print-directory sbom | tail -n 1; }

SBOM=$(bill) && [ -s "$SBOM" ] || { echo "# no bill"; exit 1; }
cp "$SBOM" "$TMP/first"
cmp "$TMP/first" "$(bill)" || wrong "the bytes differ the second time"

TAR=out/$(jq -r '.packages[0].packageFileName' "$SBOM")
tar -xf "$TAR" -C "$TMP" --strip-components=1 --one-top-level=tree || exit
(cd "$TMP/tree" && find . -type f -exec sha256sum {} + | sort) >"$TMP/is"
jq -r '.files[] | (.checksums[] | select(.algorithm == "SHA256").checksumValue) + "  " +
	.fileName' "$SBOM" | sort >"$TMP/says"
[ -s "$TMP/is" ] && diff "$TMP/is" "$TMP/says" | sed 's/^/# /' | head -n 10
cmp -s "$TMP/is" "$TMP/says" || wrong "files or hashes differ from the tarball's"

jq -r '.SPDXID, .packages[].SPDXID, .files[].SPDXID' "$SBOM" | sort >"$TMP/ids"
[ -z "$(uniq -d "$TMP/ids")" ] || wrong "identifiers are used twice"
jq -r '.relationships[] | .spdxElementId, .relatedSpdxElement' "$SBOM" | sort -u |
	comm -13 "$TMP/ids" - | grep . && wrong "relations name what does not exist"

needs()	# PACKAGE RELATION
{
	[ "$(jq -r --arg p "SPDXRef-Needed-$1" '.relationships[] | select(.spdxElementId == $p) |
		.relationshipType' "$SBOM" | head -n 1)" = "$2" ] || wrong "$1 is no $2"
}

needs linux BUILD_DEPENDENCY_OF
needs libmnl-dev BUILD_DEPENDENCY_OF
needs iproute2 RUNTIME_DEPENDENCY_OF
needs tshark OPTIONAL_DEPENDENCY_OF
# the syscall note is of files that programs include
[ "$(jq -r '.files[] | select(.fileName == "./include/uapi/rdma/rdma_dcqcn.h").licenseConcluded' \
	"$SBOM")" = "((GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause)" ] ||
	wrong "the licence of the uapi header is not its own"
exit $STATUS
