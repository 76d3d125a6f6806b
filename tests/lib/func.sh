# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the functional tests in shell share: a daemon of the test's own in $dir,
# lunadm on its socket, checks that count.  Source it, run checks, call finish.
#
#   is "what it shows" WANTED GOT	texts are equal
#   ok "what it shows" COMMAND...	it ends with status 0
#   ends N "what it shows" COMMAND...	it ends with status N
# What a command said is in $out and $err afterwards.

set -u
: "${O:=build}" "${LUND:=$O/lund}" "${LUNADM:=$O/lunadm}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/lund-test.XXXXXX") || exit 1
export LUND_SOCKET=$dir/sock
config=$dir/lund.json
passed=0
failed=0
skipped=0
pid=
out=
err=

cleanup()
{
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	rm -rf --one-file-system "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

pass()
{
	passed=$((passed + 1))
}

fail()
{
	failed=$((failed + 1))
	printf 'FAIL: %s\n' "$*"
}

skip()
{
	skipped=$((skipped + 1))
	printf 'skipped: %s\n' "$*"
}

is()
{
	if [ "$2" = "$3" ]; then
		pass
	else
		fail "$1: wanted '$2', got '$3'"
	fi
}

has()		# WHAT TEXT PART
{
	case $2 in
	*"$3"*) pass ;;
	*) fail "$1: no '$3' in '$2'" ;;
	esac
}

run()
{
	"$@" >"$dir/out" 2>"$dir/err" </dev/null
	set -- $?
	out=$(cat "$dir/out")
	err=$(cat "$dir/err")
	return "$1"
}

ends()
{
	local want=$1 what=$2 rc

	shift 2
	run "$@"
	rc=$?
	if [ $rc = "$want" ]; then
		pass
	else
		fail "$what: '$*' ended $rc, not $want: $out$err"
	fi
}

ok()
{
	ends 0 "$@"
}

adm()
{
	"$LUNADM" "$@"
}

# json PYTHON-EXPRESSION: of the document j in $out
json()
{
	printf '%s' "$out" | python3 -c "
import json, sys
j = json.load(sys.stdin)
v = $1
print(str(v).lower() if isinstance(v, bool) or v is None else v)" 2>&1
}

# Waits for a condition, at most ten seconds.
await()
{
	local n

	for n in $(seq 200); do
		"$@" >/dev/null 2>&1 && return 0
		[ "$n" = 200 ] || sleep 0.05
	done
	return 1
}

port_known()
{
	run adm --json portal list && port=$(json 'j[0]["port"]') &&
		[ "$port" -gt 0 ]
}

start()		# MORE OPTIONS
{
	[ -e "$config" ] || echo '{ "version": 1 }' >"$config"
	"$LUND" --portal 127.0.0.1:0 -c "$config" -s "$LUND_SOCKET" \
		-d "$dir/state" --workers 2 \
		${LUND_ENGINE:+--engine "$LUND_ENGINE"} "$@" \
		>>"$dir/log" 2>&1 &
	pid=$!
	if ! await port_known; then
		fail "the daemon did not start"
		tail -n 20 "$dir/log"
		return 1
	fi
	# shellcheck disable=SC2034	# for who sources this
	portal=127.0.0.1:$port
}

stop()
{
	local rc

	[ -n "$pid" ] || return 0
	kill -TERM "$pid"
	wait "$pid"
	rc=$?
	pid=
	is "the daemon stops cleanly" 0 $rc
	if grep -qE '(ERROR|WARNING):.*Sanitizer|runtime error:' "$dir/log"; then
		fail "a sanitizer spoke"
		grep -A 20 -E 'Sanitizer|runtime error:' "$dir/log" | head -n 60
	fi
}

finish()
{
	stop
	[ $failed = 0 ] || tail -n 20 "$dir/log"
	printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
	[ $failed = 0 ] || exit 1
	[ $passed != 0 ] || exit 77
	exit 0
}
