#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bash completion of lunadm: what is offered at a cursor, from the usage text
# and from the daemon that runs.

# shellcheck source=tests/lib/func.sh
. "$(dirname "$0")/../lib/func.sh"
# shellcheck source=etc/lunadm.bash-completion
. "$(dirname "$0")/../../etc/lunadm.bash-completion"

iqn=iqn.2026-11.example.test:disk
start || finish
ok "a target" adm target create $iqn
ok "a volume" adm volume create vm1 --size 1M
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'

# offers "WHAT" "THE LINE UP TO THE CURSOR" "WHAT IS OFFERED, OR A PART"
offers()
{
	COMP_LINE="$LUNADM $2"
	COMP_POINT=${#COMP_LINE}
	COMPREPLY=()
	_lunadm
	has "$1" " ${COMPREPLY[*]} " " $3 "
}

only()
{
	offers "$1" "$2" "$3"
	is "$1, and nothing else" "$3" "${COMPREPLY[*]}"
}

only "a noun" "vol" "volume"
offers "all nouns" "" "acl chap config daemon lun portal session stats target vaai volume"
only "a verb" "volume re" "resize"
offers "options" "volume create x --" "--path --size --thick"
only "an option" "volume create x --bl" "--block-size"
only "values of an option" "volume create x --io " "buffered direct"
only "volumes" "volume show " "vm1"
only "a volume as the second argument" "lun add $iqn " "vm1"
only "a volume behind another option" "--json volume show v" "vm1"
only "a volume of vaai status" "vaai status " "vm1"
offers "what a noun without verbs takes" "stats " "vm1 $iqn"
offers "and its options" "stats --" "--interval --count"
only "targets" "target show iqn" "$iqn"
only "what follows a colon of a name" "target show ${iqn%disk}d" "disk"
only "nothing where the words have ended" "target show $iqn " ""
only "keys" "target set $iqn " "alias= enabled= redirect= redirect-permanent="
only "a second key" "volume set vm1 io=direct thr" "threshold="
touch "$dir/a-file"
only "files" "config load $dir/a-f" "$dir/a-file"
only "a file behind an option" "chap set $iqn u --secret-file $dir/a-f" \
	"$dir/a-file"
socket=$LUND_SOCKET
export LUND_SOCKET=$dir/none
only "names from the daemon at -s" "-s $socket volume show " "vm1"
only "no names without a daemon" "volume show " ""
export LUND_SOCKET=$socket

finish
