#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dcqcn save, restore, set --from, cc use and profile apply without a kernel: see settings.c. Prints
# each deviation.

cd "$(dirname "$0")/../../tools/dcqcn" || exit 1
export LC_ALL=C
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
STATUS=0

"${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -I../../include \
	-I../../include/uapi -iquote . -o "$TMP/settings" ../../selftests/tools/settings.c \
	cmd_save.c cmd_restore.c cmd_cc.c cmd_set.c cmd_profile.c dialect.c filter.c arg.c knob.c replace.c unit.c fail.c json.c clean.c -lm || exit

# restores WHAT_IT_SETS ERROR: of what comes in
restores()
{
	local said status wanted=${2:+1}

	said=$("$TMP/settings" restore - 2>"$TMP/error")
	status=$?
	[ "$said" = "$1" ] && [ "$(cat "$TMP/error")" = "$2" ] && [ $status = "${wanted:-0}" ] && return
	printf '# instead of %s: status %d, %s\n%s\n' "$*" $status "$said" "$(cat "$TMP/error")"
	STATUS=1
}

restores "" "" <<<"rxe7 rpg_gd 11"
restores $'rxe1 rpg_gd 12\nrxe0 rpg_gd 11\nrxe0 cc_algorithm timely' "" <<END
rxe1 rpg_gd 12
rxe0 cc_algorithm timely
rxe0 rpg_gd 11
END
# neither an algorithm that is not loaded yet nor a knob of a newer release costs anything else
restores $'rxe0 rpg_gd 11\nrxe1 rpg_gd 12\nrxe1 cc_algorithm timely' \
	'dcqcn: rxe0: "swif": no such algorithm (dcqcn cc list lists them); all other settings are restored' <<END
rxe0 rpg_gd 11
rxe0 cc_algorithm swif
rxe1 rpg_gd 12
rxe1 cc_algorithm timely
END
restores "rxe1 rpg_gd 12" \
	'dcqcn: -:1: "colour": no such knob (dcqcn show lists them); all others are restored' <<END
rxe0 colour red
rxe1 rpg_gd 12
END
# nor does a device that refuses a value cost others anything
restores $'rxe1 rpg_gd 12' "dcqcn: rxe0: out of range" <<<$'rxe0 rpg_gd 99\nrxe1 rpg_gd 12'
# what was saved comes back, the default included
"$TMP/settings" save >"$TMP/saved"
grep " cc_algorithm " "$TMP/saved" | diff - <(printf '%s cc_algorithm %s\n' rxe0 dcqcn rxe1 swift) ||
	STATUS=1
restores "rxe1 cc_algorithm dcqcn" "" <<<$'rxe0 cc_algorithm dcqcn\nrxe1 cc_algorithm dcqcn'
# a link stays one, also if what it leads to does not exist yet
mkdir "$TMP/etc" "$TMP/store"
ln -s ../store/new "$TMP/etc/link"
ln -s "$TMP/etc/link" "$TMP/etc/conf"
ln -s endless "$TMP/etc/endless"
for what in new old; do
	"$TMP/settings" save -o "$TMP/etc/conf" && [ -L "$TMP/etc/conf" ] && [ -L "$TMP/etc/link" ] &&
		diff "$TMP/saved" "$TMP/store/new" && [ "$(ls "$TMP/store")" = new ] && continue
	echo "# a link to a $what file:"
	ls -l "$TMP/etc" "$TMP/store"
	STATUS=1
done
said=$("$TMP/settings" save -o "$TMP/etc/endless" 2>&1)
[ $?:"$said" = "1:dcqcn: $TMP/etc/endless: Too many levels of symbolic links" ] ||
	{ echo "# an endless link: $said"; STATUS=1; }
echo roce_rp/cc_algorithm:swift >"$TMP/dump"
# a name is right or wrong for both devices; without a device nothing can check it. A dump may have
# nothing that differs.
for what in "use swift:0:rxe0 cc_algorithm swift rxe1 cc_algorithm swift" \
	"use nonesuch:1:dcqcn: rxe0: no such algorithm" \
	"set --from $TMP/dump dev rxe0:0:rxe0 cc_algorithm swift" "set --from $TMP/dump dev rxe1:0:" \
	"use-nowhere nonesuch:1:dcqcn: cc use: no rxe device here (rdma link add makes one)" \
	"apply mlx5:0:rxe0 profile mlx5 rxe1 profile mlx5" "apply mlx5 dev rxe1:0:rxe1 profile mlx5" \
	"apply-nowhere mlx5:1:dcqcn: profile apply: no rxe device here (rdma link add makes one)"; do
	# shellcheck disable=SC2086 # words
	said=$("$TMP/settings" ${what%%:*} 2>&1)
	said=$?:${said//$'\n'/ }
	[ "$said" = "${what#*:}" ] || { echo "# $what, but $said"; STATUS=1; }
done
exit $STATUS
