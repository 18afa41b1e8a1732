#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What cannot be written, as on a full disk, is an error: one line that names the output, and no
# file that is not complete. Prints each deviation.

cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
STATUS=0
DCQCN=tools/dcqcn/dcqcn LAB=tools/lab/lab SIM=tools/sim/sim ROCE=tools/wireshark/roce

# fails TEXT COMMAND...: the status is not 0, and the error is this one line
fails()
{
	local text=$1 said; shift

	said=$("$@" 2>&1 >/dev/full) && { echo "# $*: succeeds"; STATUS=1; }
	[[ $said == *$text* ]] && [ "$(wc -l <<<"$said")" = 1 ] && return
	printf '# %s, instead of %s:\n%s\n' "$*" "$text" "$said"
	STATUS=1
}

for command in "-V" "help" "model help" "model" "-j model" "-j -p model" "model --config sonic" \
	"model --sweep kmax=50KB,100KB" "-j model --sweep kmax=50KB"; do
	# shellcheck disable=SC2086 # words
	fails "dcqcn: standard output: No space left on device" $DCQCN $command
done
for tool in $LAB $SIM; do
	for command in -V "run --help" list "list --json"; do
		# shellcheck disable=SC2086 # words
		fails "${tool##*/}: standard output: No space left on device" $tool $command
	done
	fails "${tool##*/}: standard output: No space left on device" \
		env "PYTHONUNBUFFERED=$([ -n "${PYTHONUNBUFFERED-}" ] || echo 1)" $tool list
done
fails "lab: unrecognized arguments: x" $LAB list --json x
fails "bench: standard output: No space left on device" tools/bench/bench --help
fails "No space left on device" tools/lab/congestion-point help
fails "flush stdout: No space left on device" $ROCE help
$LAB list >&- 2>"$TMP/said" || { echo "# lab list >&-:"; cat "$TMP/said"; STATUS=1; }

# Files of at most 1 KB; children must not be killed, but see the error
limited() # COMMAND...
{
	(trap '' XFSZ; ulimit -f 1; exec "$@") 2>&1 >/dev/null | cat
	return "${PIPESTATUS[0]}"
}

# spoils FILE TEXT COMMAND...: it fails so, and the file is as it was, alone in its directory
spoils()
{
	local file=$1 text=$2 old said status; shift 2

	for old in "" old; do
		rm -rf "${file%/*}" && mkdir "${file%/*}" || exit 1
		[ -z "$old" ] || echo old >"$file"
		said=$(limited "$@")
		status=$?
		[ $status = 1 ] && [[ $said == *$text* ]] && [ "$(wc -l <<<"$said")" = 1 ] &&
			[ "$(ls "${file%/*}")" = "${old:+${file##*/}}" ] &&
			{ [ -z "$old" ] || [ "$(cat "$file")" = old ]; } && continue
		echo "# $*: status $status, left $(ls -l "${file%/*}"), said $said"
		STATUS=1
	done
}

echo time,dev,qpn,state,rate,target_rate,alpha,queue_bytes,cnp_handled >"$TMP/run.csv"
for i in 1 2 3 4; do
	echo "$i.0,rxe0,17,1,${i}000000,1000000,0.$i,${i}0,$i" >>"$TMP/run.csv"
done
for kind in png svg; do
	f=$TMP/out/x.$kind
	spoils "$f" "dcqcn: $f: File too large" $DCQCN plot -o "$f" "$TMP/run.csv"
	spoils "$f" "dcqcn: $f: File too large" $DCQCN model -o "$f"
done
cd tools || exit 1
f=$TMP/out/x.png
python="import sys
from testbed.core import command, files, plots
with open('$TMP/graph.csv', 'w') as f:
	f.write('x,y\n1,2\n3,4\n')
def draw():
	plots.draw('graph.gp', {'input_file': '$TMP/graph.csv', 'title_text': 't', 'x_title': 'x',
		'lines': 1, 'line_titles': ['y']}, '$f')
def whole():
	with files.replacing('$f') as f:
		f.write(5000 * 'x')
def json():
	command.write_json('$f', 5000 * 'x')
def plain():
	with open('$f', 'w') as f:
		f.write(5000 * 'x')
sys.exit(command.main('test', globals()[sys.argv[1]]))"
for what in draw whole json; do
	spoils "$f" "test: $f: File too large" python3 -Bc "$python" $what
done
said=$(limited python3 -Bc "$python" plain)
[ $?:"$said" = "1:test: writing a file failed: File too large" ] || { echo "# plain: $said"; STATUS=1; }
# A device cannot be replaced by a file
ln -s /dev/full "$TMP/full.svg"
fails "dcqcn: $TMP/full.svg: No space left on device" dcqcn/dcqcn plot -o "$TMP/full.svg" "$TMP/run.csv"
[ -L "$TMP/full.svg" ] || { echo "# a link to a device was replaced"; STATUS=1; }
exit $STATUS
