#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whether everything that names this project's version names the same one: the one of
# include/rdma_dcqcn_version.h. Says what differs.

cd "$(dirname "$0")/../.." || exit 1
STATUS=0
VERSION=$(sed -n 's/^#define RDMA_DCQCN_VERSION[[:blank:]]*"\(.*\)"$/\1/p' include/rdma_dcqcn_version.h)
[[ $VERSION =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "# \"$VERSION\" is not a version"; STATUS=1; }

same() # WHAT VERSION
{
	[ "$2" = "$VERSION" ] && return
	echo "# $1 has version \"$2\" instead of $VERSION"
	STATUS=1
}

same dkms.conf "$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' dkms.conf)"
same rpm/rdma-dcqcn.spec "$(sed -n 's/^Version:[[:blank:]]*//p' rpm/rdma-dcqcn.spec)"
same debian/changelog "$(sed -n '1s/^rdma-dcqcn (\(.*\)) .*/\1/p' debian/changelog)"
same NEWS.md "$(sed -n 's/^## \([0-9.]*\), .*/\1/p' NEWS.md | head -n 1)"
for f in drivers/infiniband/sw/dcqcn/main.c drivers/net/dcbport/main.c; do
	grep -qx 'MODULE_VERSION(RDMA_DCQCN_VERSION);' $f ||
		{ echo "# $f has a version of its own"; STATUS=1; }
done
exit $STATUS
