#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The init script where systemd is not the first process: start, stop, restart,
# reload and status, each with its exit status.

# shellcheck source=tests/lib/func.sh
. "$(dirname "$0")/../lib/func.sh"

init=$(dirname "$0")/../../etc/lund.init
run=$dir/run
export LUND_DEFAULTS=$dir/defaults
cat >"$LUND_DEFAULTS" <<END
LUND=$LUND
LUNADM=$LUNADM
CONFIG=$config
STATEDIR=$dir/state
RUNDIR=$run
OPTIONS="--portal 127.0.0.1:0 --workers 1 ${LUND_ENGINE:+--engine $LUND_ENGINE}"
END
export LUND_SOCKET=$run/lund.sock
echo '{ "version": 1 }' >"$config"

the_pid() { cat "$run/lund.pid" 2>/dev/null; }
# whatever happens, it does not stay
trap 'pid=$(the_pid); cleanup' EXIT

service()
{
	sh "$init" "$@"
}

ends 3 "status before it runs" service status
ok "stop before it runs" service stop
ends 2 "a word it does not know" service dance
ok "start" service start
first=$(the_pid)
ok "it serves when start returns" adm target list
ok "status while it runs" service status
has "which names the process" "$out" "$first"
ok "start again" service start
is "is no second daemon" "$first" "$(the_pid)"

ok "a target" adm target create iqn.2026-11.example.test:init
ok "reload" service reload
is "keeps the process" "$first" "$(the_pid)"
ok "and what it serves" adm target show iqn.2026-11.example.test:init
cp "$config" "$dir/good.json"
echo '{ "version": 1, "nonsense": 1 }' >"$config"
ends 1 "reload of a bad configuration" service reload
has "says what is wrong" "$out$err" nonsense
ok "while the daemon goes on" adm target show iqn.2026-11.example.test:init
ends 1 "restart with a bad configuration" service restart
is "does not stop the daemon" "$first" "$(the_pid)"
ends 1 "a second daemon with its pid file" "$LUND" -c "$dir/good.json" \
	-s "$dir/sock2" -d "$dir/state" --pidfile "$run/lund.pid"
is "leaves the file alone" "$first" "$(the_pid)"
cp "$dir/good.json" "$config"

ok "restart" service restart
second=$(the_pid)
is "is another process" 1 $((first != second))
ok "with the same targets" adm target show iqn.2026-11.example.test:init
kill -KILL "$second"
gone() { ! kill -0 "$second"; }
await gone
ends 1 "status of one that was killed" service status
ok "start after that" service start
ok "it serves" adm target list
ok "stop" service stop
is "removes the pid file" "" "$(the_pid)"
ends 3 "no daemon is at the socket" adm target list
ends 3 "status after stop" service status
ends 7 "reload after stop" service reload

echo '{ "version": 1, "nonsense": 1 }' >"$config"
ends 1 "start with a bad configuration" service start
has "says what is wrong" "$out$err" nonsense
cp "$dir/good.json" "$config"
ok "start at once after that" service start
ok "stop" service stop

pid=
finish
