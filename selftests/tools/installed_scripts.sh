#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# congestion-point and roce: help at every level, and a single line for each invalid argument,
# which begins with the command. Changes no device. selftests/lab/run and wireshark.sh use them
# as they are meant. Prints each deviation.

cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
STATUS=0
CP=tools/lab/congestion-point ROCE=tools/wireshark/roce

complain()
{
	echo "# $1: status $2:"
	sed 's/^/#   /' "$TMP/out" "$TMP/err"
	STATUS=1
}

run() { "$@" >"$TMP/out" 2>"$TMP/err" </dev/null; }

refuses() # TEXT COMMAND...
{
	local text=$1 status; shift

	run "$@"
	status=$?
	[ $status = 1 ] && [ ! -s "$TMP/out" ] && [ "$(wc -l <"$TMP/err")" = 1 ] &&
		grep -q "^${1##*/}: " "$TMP/err" && grep -qF -e "$text" "$TMP/err" && return
	complain "$*, instead of $text" $status
}

helps() # TEXT COMMAND...
{
	local text=$1 status; shift

	run "$@"
	status=$?
	[ $status = 0 ] && [ ! -s "$TMP/err" ] && grep -q "$text" "$TMP/out" && return
	complain "$*" $status
}

for word in help -h --help; do
	helps "^usage: congestion-point set " $CP $word
	helps "^roce timeline FILE " $ROCE $word
done
for word in -h --help; do
	for command in set show undo; do
		helps "^usage: congestion-point set " $CP $command lo $word
	done
	for command in ecn ce cnps timeline; do
		helps "^roce timeline FILE " $ROCE $command $word
	done
done

refuses "a command is missing" $CP
refuses '"mark": no such command' $CP mark
for command in set undo; do
	refuses "$command: the device is missing" $CP $command
done
for command in show undo; do
	refuses "nonesuch: no such device" $CP $command nonesuch
done
refuses "lo is not a congestion point" $CP undo lo
refuses "colour: no such key; there are rate" $CP set lo rate 1mbit colour red
refuses "lo: rate is missing" $CP set lo kmin 1KB
ALL=(rate 1mbit kmin 1KB kmax 2KB pmax 1 buffer 2KB)
refuses "nonesuch: no such device" $CP set nonesuch "${ALL[@]}"
refuses "lo: kmin 3000 is not below kmax 2000" $CP set lo "${ALL[@]}" kmin 3KB
refuses "lo: kmax 9000 is above the buffer, 2000" $CP set lo "${ALL[@]}" kmax 9KB
refuses "is too flat with pmax" $CP set lo "${ALL[@]}" kmax 1GB buffer 1GB pmax 0.000001
while read -r key value text; do
	refuses "$key $value: $text" $CP set lo "${ALL[@]}" "$key" "$value"
	refuses "$key: the value is missing" $CP set lo "${ALL[@]}" "$key"
	refuses "$key: the value is empty" $CP set lo "${ALL[@]}" "$key" ""
done <<'END'
rate fast not of the form 48mbit or 1.5gbit
rate 1mbps not of the form
rate 1kbit out of range, 1000000 to 400000000000
kmin -1 not of the form 10000, 10KB or 10KiB
kmin 0 out of range
kmax 1PB not of the form
kmax 1 out of range
pmax 0 out of range, 1e-06 to 1
pmax 101% out of range
pmax nan not of the form 0.1 or 10%
buffer 1999 out of range, 2000 to 1000000000
cnp first must be strict or data
cnp-dscp 64 out of range, 0 to 63
ecn off must be mark or strip
END

# Without privileges, tc can do nothing
mkdir "$TMP/bin"
printf '#!/bin/sh\ncase $* in *show*) ;; *) exit 2 ;; esac\n' >"$TMP/bin/tc"
chmod +x "$TMP/bin/tc"
PATH=$TMP/bin:$PATH run $CP set lo "${ALL[@]}"
status=$?
[ $status = 1 ] && grep -q "^congestion-point: lo: tc failed; nothing has changed" "$TMP/err" ||
	complain "$CP set without privileges" $status

# A port that is named twice, as with its bridge, has one congestion point to remove
cat >"$TMP/bin/tc" <<END
#!/bin/sh
case \$* in
*show*) ! [ -e $TMP/port ] || echo "qdisc prio dc0: root" ;;
*) rm $TMP/port ;;
esac
END
touch "$TMP/port"
PATH=$TMP/bin:$PATH run $CP undo lo lo
status=$?
[ $status = 0 ] && [ ! -e "$TMP/port" ] || complain "$CP undo lo lo" $status

refuses "a command is missing" $ROCE
refuses '"show": no such command' $ROCE show
for command in ecn ce cnps timeline; do
	refuses "$command: needs a capture file" $ROCE $command
	refuses "$TMP/nonesuch: cannot be read" $ROCE $command "$TMP/nonesuch"
	refuses "/etc/passwd: The file" $ROCE $command /etc/passwd
done
refuses "ecn: needs a capture file, and nothing else" $ROCE ecn a b
refuses "timeline: needs a capture file, and may have milliseconds" $ROCE timeline a 0
exit $STATUS
