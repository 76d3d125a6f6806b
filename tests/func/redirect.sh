#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A redirected target: a host that logs in ends up at the other daemon, and
# comes back when that is over.

# shellcheck source=tests/lib/func.sh
. "$(dirname "$0")/../lib/func.sh"

iqn=iqn.2026-11.example.test:moves
here_pid=

# Both serve the target; the serial number tells which one answered.
serve()		# SERIAL
{
	adm -q target create $iqn
	adm -q acl allow $iqn '*'
	adm -q volume create vol --size 8M --serial "$1"
	adm -q lun add $iqn vol
}

inquire()
{
	iscsi-inq -e 1 -c 128 "iscsi://$here/$iqn/0"
}

mkdir "$dir/state"
start || finish
serve HERE
here=$portal
here_pid=$pid
here_socket=$LUND_SOCKET

# the other one, with files of its own in the same folder
config=$dir/there.json LUND_SOCKET=$dir/there.sock
start -d "$dir/there" || finish
serve THERE
there=$portal

LUND_SOCKET=$here_socket
ok "a host logs in" inquire
has "here" "$out" HERE
ok "the target moves" adm target set $iqn "redirect=$there"
ok "it is shown" adm --json target show $iqn
is "as it was set" "$there" "$(json 'j["redirect"]')"
is "as passing" false "$(json 'j["redirect-permanent"]')"
ok "a host logs in" inquire
has "and is there" "$out" THERE
ok "it moves for good" adm target set $iqn redirect-permanent=on
ends 10 "a host that goes nowhere for good is refused" inquire
has "and told" "$err$out" permanently
ok "it is told why hosts went away" adm session refused
has "by reason" "$out" redirected
ends 1 "not to a place that is none" adm target set $iqn redirect=nowhere
ok "it comes back" adm target set $iqn redirect=
ok "a host logs in" inquire
has "here again" "$out" HERE

stop
pid=$here_pid
finish
