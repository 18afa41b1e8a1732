#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whether everything that names the oldest kernel, or the newest one tested, names those of META.
# Says what differs.

cd "$(dirname "$0")/../.." || exit 1
STATUS=0

wrong() { echo "# $*"; STATUS=1; }
series() { sed -n "s/^$1: *\([0-9]*\.[0-9]*\)\$/\1/p" META; }	# FIELD

OLDEST=$(series Linux-Minimum)
NEWEST=$(series Linux-Maximum)
[ "$OLDEST" ] && [ "$NEWEST" ] || { wrong "META lacks Linux-Minimum or Linux-Maximum"; exit 1; }

# DKMS matches the kernel's release with bash
. ./dkms.conf
for major in {4..12}; do
	for minor in {0..25}; do
		release=$major.$minor.3-1-amd64
		[[ $release =~ $BUILD_EXCLUSIVE_KERNEL ]] && dkms=builds || dkms=skips
		((major * 1000 + minor >= ${OLDEST%.*} * 1000 + ${OLDEST#*.})) && meta=builds || meta=skips
		[ $dkms = $meta ] || wrong "dkms.conf $dkms for $release, but META has $OLDEST"
	done
done

# The rows of the table, as kernels_table writes it: the oldest first
ROWS=$(sed -n '/^\.\. Written by/,/^\.\. to here/ s/^\([0-9]\+\.[0-9]\+\)\..*/\1/p' \
	Documentation/kernels.rst)
[ "$(head -n 1 <<<"$ROWS")" = "$OLDEST" ] ||
	wrong "the oldest kernel tested in kernels.rst is not META's $OLDEST"
[ "$(tail -n 1 <<<"$ROWS")" = "$NEWEST" ] ||
	wrong "the newest kernel tested in kernels.rst is not META's $NEWEST"

while read -r file words; do
	words=${words//OLDEST/$OLDEST}
	tr -s '[:space:]' ' ' <"$file" | grep -qF "${words//NEWEST/$NEWEST}" ||
		wrong "$file does not say \"${words//NEWEST/$NEWEST}\""
done <<'END'
dkms.conf				Linux OLDEST or newer,
README.md				needs Linux OLDEST or later
NEWS.md					on Linux OLDEST to NEWEST
Documentation/kernels.rst		Linux OLDEST and later, with soft-RoCE
Documentation/install.rst		needs Linux OLDEST or later
Documentation/install.rst		any kernel from OLDEST on
Documentation/tutorial.rst		needs Linux OLDEST or later
Documentation/stability.rst		build for Linux OLDEST and later
Documentation/architecture.rst		any kernel from OLDEST on
Documentation/troubleshooting.rst	Linux OLDEST or later
upstream/rfc-congestion-control.txt	the rxe of OLDEST to NEWEST
END
exit $STATUS
