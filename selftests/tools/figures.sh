#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/figures in a tree of its own: a figure is stale once code that matters to it has
# changed, and only then, and what came out the same is taken over. The table of this tree is in
# form. Says what differs.

cd "$(dirname "$0")/../.." || exit 1
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
STATUS=0

commit()
{
	git -C "$TMP" add -A && git -C "$TMP" -c user.name=x -c user.email=x@x commit -q -m "$1"
}

table() # COMMIT CODE
{
	cat >"$TMP/Documentation/figures.toml" <<-END
		[code]
		module = ["drivers"]
		[[figure]]
		page = "page.rst"
		what = "pictures/a.png"
		commit = "$1"
		kernel = "7.3.4"
		command = "sim run a"
		code = ["$2"]
	END
}

# figures STATUS WORDS [OPTION...]: run it in that tree
figures()
{
	local said status

	said=$(selftests/figures --top "$TMP" "${@:3}" 2>&1)
	status=$?
	[ $status = "$1" ] && [[ $said == *"$2"* ]] && return
	echo "# want status $1 and \"$2\", got $status and:"
	printf '%s\n' "$said" | sed 's/^/#   /'
	STATUS=1
}

git init -q "$TMP" && mkdir "$TMP/Documentation" "$TMP/drivers" "$TMP/tools" &&
	echo ".. image:: pictures/a.png" >"$TMP/Documentation/page.rst" &&
	echo 'char *a = "/*"; /* why */' >"$TMP/drivers/a.c" && touch "$TMP/tools/b" &&
	commit "first" || exit
FIRST=$(git -C "$TMP" rev-parse HEAD)

table "$FIRST" module
figures 0 "1 figures, 0 stale"
echo change >"$TMP/tools/b" && commit "of a tool"
figures 0 "0 stale"
printf '/*\n * better\n */\nchar *a =\n\t"/*"; // why\n' >"$TMP/drivers/a.c" && commit "of comments"
figures 0 "0 stale"
echo 'char *a = "/**/"; /* why */' >"$TMP/drivers/a.c" && commit "of the module"
figures 1 "commits since in 1 files, the last $(git -C "$TMP" log -1 --format=%h) of the module"
table "$(git -C "$TMP" rev-parse HEAD)" module
figures 0 "0 stale"
printf '[a]\nb = 1\n[[expect]]\nc = 2\n' >"$TMP/drivers/a.toml" && commit "of a scenario"
table "$(git -C "$TMP" rev-parse HEAD)" module
printf '# why\n[a]\nb = 1\n[[expect]]\nc = 3\n[[expect]]\nd = 1\n' >"$TMP/drivers/a.toml" &&
	commit "of what it expects"
figures 0 "0 stale"
printf '[a]\nb = 2\n' >"$TMP/drivers/a.toml" && commit "of what it simulates"
figures 1 "the last $(git -C "$TMP" log -1 --format=%h) of what it simulates"
table unknown module
figures 1 "its commit is unknown"
table 0123456789abcdef0123456789abcdef01234567 module
figures 2 "is not in this history"
table "$FIRST" gone
figures 1 "there is no gone"
table "$FIRST" drivers
echo ".. image:: pictures/b.png" >>"$TMP/Documentation/page.rst"
figures 1 "b.png is not in figures.toml"
mkdir -p "$TMP/tools/sim/scenarios" && touch "$TMP/tools/sim/scenarios/"{a,b,c}.toml
echo 'run ``sim run c a`` or ``b``, and sim run d' >"$TMP/Documentation/page.rst"
table "$FIRST" tools/sim/scenarios/a.toml
figures 1 "page.rst: scenario b is not in figures.toml"
figures 1 "page.rst: scenario c is not in figures.toml"
echo 'sim run a, and ``d``' >"$TMP/Documentation/page.rst"
figures 0 "" --form

# Results of a run of all tests at the last commit: scenario "a" has these runs
echo ".. image:: pictures/a.png" >"$TMP/Documentation/page.rst"
results() # COMMAND RUNS
{
	mkdir -p "$OUT/a/sim/a" && printf '{"command": "%s", "tree": "%s"}' "$1" \
		"$(git -C "$TMP" rev-parse HEAD^{tree})" >"$OUT/a/verdict.json" &&
		printf '{"kernel": "7.4.0", "runs": [%s]}' "$2" >"$OUT/a/sim/a/result.json"
}
field() # KEY: of the only figure
{
	sed -n "s/^$1 = //p" "$TMP/Documentation/figures.toml"
}
OUT=$TMP/.git/check
table "$FIRST" module
echo 'results = { "a n=1" = "" }' >>"$TMP/Documentation/figures.toml"
commit "with results" && LAST=$(git -C "$TMP" rev-parse --short HEAD)
figures 1 "no result of a" --results "$OUT"
results "sim run --only n=1 a" '{"name": "k=2,n=1", "queue": 7}'
figures 1 "has only some runs of a" --results "$OUT"
results "sim run a" '{"name": "k=2,n=1", "queue": 7}, {"name": "n=12", "queue": 8}'
figures 1 "differs  page.rst: pictures/a.png" --results "$OUT"
figures 2 "goes with --results" --compared page.rst
figures 0 "compared  page.rst: pictures/a.png: of $LAST" --results "$OUT" --compared page.rst
[ "$(field commit) $(field kernel)" = "\"$LAST\" \"7.4.0\"" ] || { echo "# not taken over"; STATUS=1; }
figures 0 "0 stale"
commit "taken" && LAST=$(git -C "$TMP" rev-parse --short HEAD)
results "sim run a" '{"queue": 7, "name": "k=2,n=1"}, {"name": "n=12", "queue": 9}'
figures 0 "same      page.rst: pictures/a.png: of $LAST" --results "$OUT"
results "sim run a" '{"name": "k=2,n=1", "queue": 9}'
figures 1 "differs" --results "$OUT"
results "sim run a" '{"name": "n=12", "queue": 9}'
figures 1 "a has no run n=1" --results "$OUT"
echo >"$TMP/tools/c" && results "sim run a" '{"name": "n=1", "queue": 7}'
sed -i 's/"tree": "[^"]*"/"tree": "0123"/' "$OUT/a/verdict.json"
figures 2 "no commit in this history has the tree" --results "$OUT" --compared page.rst

selftests/figures --form || STATUS=1
exit $STATUS
