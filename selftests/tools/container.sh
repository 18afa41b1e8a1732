#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tools/container/run asks podman for. Podman is a script here, which notes its arguments.
# Silent on success.

TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
mkdir "$TMP/bin"
cat >"$TMP/bin/podman" <<'END'
#!/bin/bash
printf '<%s>' "$@" >>"$NOTES"
echo >>"$NOTES"
[ "$1" != build ] || [ -z "$NO_BASE" ] || { echo "no such image"; exit 125; }
END
chmod +x "$TMP/bin/podman"
export NOTES=$TMP/notes NO_BASE=
RUN=tools/container/run
FAILED=0

wrong() { echo "# $*"; sed 's/^/#   /' "$TMP/out" "$NOTES"; FAILED=1; }

# run STATUS COMMAND...: with our podman
run()
{
	local status=$1; shift

	: >"$NOTES"
	PATH=$TMP/bin:$PATH "$@" >"$TMP/out" 2>&1 </dev/null
	[ $? = "$status" ] || wrong "$*: the exit status is not $status"
}
says() { grep -q -F -e "$1" "$2" || wrong "no \"$1\""; }

# shellcheck disable=SC2016 # as it is
run 0 $RUN printf '%s\n' 'two words' '$HOME'
# shellcheck disable=SC2016
says '<printf><%s\n><two words><$HOME>' "$NOTES"
says "<--volume><$PWD:$PWD>" "$NOTES"
says "<--workdir><$PWD>" "$NOTES"
! grep -q -e --build-arg "$NOTES" || wrong "a base image that was not asked for"
run 0 env BASE=localhost/debian:12 $RUN true
says '<--build-arg><BASE=localhost/debian:12>' "$NOTES"
run 0 $RUN
says '<bash><bash>' "$NOTES"

NO_BASE=1 run 1 $RUN true
says "no such image" "$TMP/out"
says "could not be built" "$TMP/out"
! grep -q '^<run>' "$NOTES" || wrong "runs without a container"

run 0 $RUN --help
says "usage: run [COMMAND...]" "$TMP/out"
[ ! -s "$NOTES" ] || wrong "--help asks podman"
run 1 $RUN --bad
says "usage: run" "$TMP/out"
mkdir "$TMP/none"
ln -s "$(type -P sh)" "$TMP/none/sh"
: >"$NOTES"
PATH=$TMP/none $RUN true >"$TMP/out" 2>&1 && wrong "runs without podman"
says "podman is not installed" "$TMP/out"
exit $FAILED
