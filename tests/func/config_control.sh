#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lunadm and the configuration file: verbs, exit statuses, JSON shapes, what is
# saved and what is refused, what survives a restart, many askers at once.

# shellcheck source=tests/lib/func.sh
. "$(dirname "$0")/../lib/func.sh"

iqn=iqn.2026-11.example.test:disk

# ---- exit statuses ----

ends 3 "no daemon at the socket" adm target list
has "it says so" "$err" "$LUND_SOCKET"
mkdir "$dir/state"
start || finish
ends 2 "no command" adm
ends 2 "an unknown noun" adm horse list
ends 2 "an unknown verb" adm target ride
ends 2 "an unknown option" adm target list --sideways
ends 2 "too few arguments" adm target create
ends 2 "a size that is none" adm volume create v --size 1X
ends 2 "an unknown short option" adm target show -x
ends 1 "which is a word after --" adm target show -- -x
ends 2 "an option that is needed" adm acl check $iqn
has "is named" "$err" --initiator
ends 2 "an interval that is none" adm stats --interval 0
ok "help" adm --help
has "tells the nouns" "$out" "lunadm portal add"
ok "help on a noun" adm volume --help
has "tells its verbs" "$out" "lunadm volume resize"
is "and those alone" 0 "$(printf '%s' "$out" | grep -c "lunadm target")"
ok "help on a verb" adm acl check -h
ends 1 "a target that is not there" adm target show iqn.2026-11.example.test:no
is "one line says why" 1 "$(printf '%s\n' "$err" | wc -l)"

# ---- verbs and JSON ----

ok "a target is made" adm --json target create $iqn --alias "the disk"
is "its name comes back" $iqn "$(json 'j["name"]')"
ends 1 "not twice" adm target create $iqn
ends 1 "a name that is no iSCSI name" adm target create disk
ok "a volume is made" adm --json volume create vm1 --size 64M
naa=$(json 'j["naa"]')
is "its size comes back" 67108864 "$(json 'j["size"]')"
is "its identity has 16 bytes" 32 ${#naa}
is "its identity is of type 6" 6 "${naa:0:1}"
ends 1 "not twice" adm volume create vm1 --size 64M
ok "volumes are listed" adm --json volume list
is "with name" vm1 "$(json 'j[0]["name"]')"
is "with block size" 512 "$(json 'j[0]["block_size"]')"
is "with durability" write-through "$(json 'j[0]["durability"]')"
is "with identity" "$naa" "$(json 'j[0]["naa"]')"
is "with what it occupies" True \
	"$(json 'isinstance(j[0]["allocated"], int)' | sed 's/t/T/')"
ok "it becomes a LUN" adm lun add $iqn vm1
ok "LUNs are listed" adm --json lun list $iqn
is "by the lowest number" 0 "$(json 'j[0]["lun"]')"
is "of the volume" vm1 "$(json 'j[0]["volume"]')"
ends 1 "a LUN of no volume" adm lun add $iqn vm9
ends 1 "a LUN in use" adm lun add $iqn vm1 --lun 0
ok "a rule" adm acl allow $iqn 'iqn.1998-01.com.vmware:*' --address 127.0.0.0/8
ok "rules are listed" adm --json acl list $iqn
is "with pattern" 'iqn.1998-01.com.vmware:*' "$(json 'j[0]["initiator"]')"
is "with address" 127.0.0.0/8 "$(json 'j[0]["address"]')"
ok "what a host would see" adm acl check $iqn \
	--initiator iqn.1998-01.com.vmware:esx1 --address 127.0.0.1
has "and which LUN" "$out" vm1
ok "from elsewhere" adm acl check $iqn \
	--initiator iqn.1998-01.com.vmware:esx1 --address 192.0.2.1
has "it is kept out" "$out" "other addresses"
ok "from an address that is not given" adm acl check $iqn \
	--initiator iqn.1998-01.com.vmware:esx1
has "it is asked for" "$out" --address
ok "the state of a portal group" adm --json portal state 1 active/non-optimized
ok "portals" adm --json portal list
is "with the state of their group" active/non-optimized "$(json 'j[0]["state"]')"
has "it is saved" "$(cat "$config")" '"1": "active/non-optimized"'
ends 1 "a state that is none" adm portal state 1 sleepy
ends 1 "a group that is none" adm portal state 0 unavailable
ok "back again" adm portal state 1 active/optimized
ok "portals" adm --json portal list
is "with the state of their group" active/optimized "$(json 'j[0]["state"]')"
is "with address" 127.0.0.1 "$(json 'j[0]["address"]')"
is "with group" 1 "$(json 'j[0]["group"]')"
ok "sessions" adm --json session list
is "none" 0 "$(json 'len(j)')"
ok "primitives" adm --json vaai status
for p in ats clone zero delete; do
	is "$p is supported" true "$(json "j[0]['$p']['supported']")"
	is "$p was not used" 0 "$(json "j[0]['$p']['used']")"
	is "$p moved no bytes" 0 "$(json "j[0]['$p']['bytes']")"
done
ok "counters" adm --json stats
is "of the volume" vm1 "$(json 'j[0]["volume"]')"
ok "a table" adm volume list
has "with a heading" "$out" NAME
ok "a table without" adm --no-headings volume list
is "the heading is left out" 0 "$(printf '%s' "$out" | grep -c NAME)"
# The longest line that lunadm prints on a terminal of so many columns.
longest()	# COLUMNS WORDS
{
	run script -qec "stty cols $1; '$LUNADM' $2" /dev/null
	printf '%s\n' "$out" | tr -d '\r' | wc -L
}
fits()		# COLUMNS WORDS
{
	local n

	n=$(longest "$1" "$2")
	is "$2 fits on $1 columns (with $n)" 1 $((n > 10 && n <= $1))
}
ok "a volume with a long path" adm volume create long --size 1M \
	--path "$dir/$(printf '%0100d' 0).img"
iscsi-inq -i iqn.2026-11.example.test:a-name-that-is-quite-long-as-names-go \
	"iscsi://$portal/iqn.2026-11.example.test:no/0" >/dev/null 2>&1
for args in "volume list" "lun list" "acl list" "vaai status" \
	"session refused"; do
	fits 80 "$args"
	fits 120 "$args"
done
ok "a pipe" adm --no-headings session refused
is "gets one line a login" 1 "$(printf '%s\n' "$out" | wc -l)"
ok "a pipe gets one line a volume" adm --no-headings volume list
is "however long" 2 "$(printf '%s\n' "$out" | wc -l)"
ok "it is deleted" adm volume delete long --erase
ok "one volume" adm volume show vm1
has "shows its size for people, too" "$out" "size: 67108864 (64M)"
ok "a volume to delete" adm volume create gone --size 1M
ok "it is deleted" adm volume delete gone
is "its file stays" 1 "$(find "$dir/state" -name 'gone*' -size +0 | wc -l)"
ends 1 "its file is not taken for a new one of another size" \
	adm volume create gone --size 2M
find "$dir/state" -name 'gone.img' -delete

# ---- secrets ----

(umask 077 && printf 'very-secret-words' >"$dir/secret")
ok "a secret by file" adm chap set $iqn esx --secret-file "$dir/secret"
printf 'other-secret-words' | "$LUNADM" chap set discovery disc \
	--secret-file - >"$dir/out" 2>&1
is "a secret by standard input" 0 $?
for args in "chap list" "config show" "target show $iqn" "session refused"; do
	# shellcheck disable=SC2086
	ok "$args" adm --json $args
	is "no secret in $args" 0 \
		"$(printf '%s' "$out$err" | grep -c -e very-secret -e other-secret)"
done
is "no secret in the configuration" 0 "$(grep -c secret-words "$config")"
is "no secret in the log" 0 "$(grep -c secret-words "$dir/log")"
is "files with secrets are private" 0 \
	"$(grep -rl secret-words "$dir" --include='*' 2>/dev/null |
		xargs -r stat -c '%a %n' | grep -vc '^600')"
ok "authentication is taken away" adm chap clear $iqn

# ---- the file ----

ok "it is saved at once, as JSON" python3 -c "
import json
c = json.load(open('$config'))
assert c['volumes']['vm1'], c
assert c['targets']['$iqn']['luns'], c"
ok "show tells what runs" adm config show
has "the target" "$out" $iqn
ok "it is saved elsewhere" adm config save "$dir/copy.json"
ok "which the daemon finds good" adm config check "$dir/copy.json"
ok "and a daemon that is not started as well" \
	"$LUND" --check -c "$dir/copy.json" -d "$dir/state"

bad()		# WHAT JSON PATH
{
	printf '%s\n' "$2" >"$dir/bad.json"
	ends 1 "$1 is refused by lund --check" \
		"$LUND" --check -c "$dir/bad.json" -d "$dir/state"
	has "$1, with the place" "$out$err" "$3"
	ends 1 "$1 is refused by config check" adm config check "$dir/bad.json"
	ends 1 "$1 is refused by config load" adm config load "$dir/bad.json"
	has "$1, with the place" "$out$err" "$3"
}

bad "an unknown key" '{ "version": 1, "volums": {} }' volums
bad "an identity that is not the recorded one" "$(jq '.volumes.vm1.naa =
	"6020000fffffffffffffffffffffffff"' "$dir/copy.json")" volumes.vm1.naa
bad "a wrong type" '{ "version": 1, "volumes": { "a": { "size": [] } } }' \
	volumes.a.size
bad "a volume that is not defined" '{ "version": 1, "targets": {
	"'$iqn'": { "luns": { "0": "nobody" } } } }' nobody
bad "a syntax error" '{ "version": 1,
	"volumes": { "a" } }' 2
bad "a wrong identity" '{ "version": 1, "volumes": { "vm1": {
	"path": "vm1.img", "size": "64M", "naa": "6000" } } }' naa
ok "nothing has changed by it" adm target show $iqn

sed 's/the disk/a better disk/' "$dir/copy.json" >"$dir/new.json"
ok "a changed file is loaded" adm config load "$dir/new.json"
ok "and its difference is there" adm --json target show $iqn
is "by the alias" "a better disk" "$(json 'j["alias"]')"
sed -i 's/a better disk/the best disk/' "$config"
kill -HUP "$pid"
alias_is() { run adm --json target show $iqn && [ "$(json 'j["alias"]')" = "$1" ]; }
await alias_is "the best disk"
is "SIGHUP reads the file again" 0 $?
echo '{ "nonsense": ' >"$config"
kill -HUP "$pid"
await grep -q "$config" "$dir/log"
ok "a bad file leaves all as it was" alias_is "the best disk"
ok "comments are kept" cp "$dir/copy.json" "$config"
sed -i '1s/{/{ "# mine": "a word to the reader",/' "$config"
kill -HUP "$pid"
await alias_is "the disk"
ok "while changes are saved" adm target set $iqn alias=changed
is "the comment is there" 1 "$(grep -c 'a word to the reader' "$config")"

# ---- restart ----

stop
start || finish
ok "the volume is there again" adm --json volume show vm1
is "with its identity" "$naa" "$(json 'j["naa"]')"
ok "and the LUN" adm --json lun list $iqn
is "of the volume" vm1 "$(json 'j[0]["volume"]')"

# ---- many at once ----

pids=
for n in $(seq 32); do
	"$LUNADM" target create $iqn-$n >"$dir/many.$n" 2>&1 &
	pids="$pids $!"
done
bad_ones=0
for p in $pids; do
	wait "$p" || bad_ones=$((bad_ones + 1))
done
is "32 askers at once are all served" 0 $bad_ones
ok "and all was done" adm --json target list
is "each once" 33 "$(json 'len(set(t["name"] for t in j))')"
is "and saved" 33 "$(python3 -c "
import json
print(len(json.load(open('$config'))['targets']))")"

# ---- the socket itself ----

is "the socket is for its owner and group" 660 "$(stat -c %a "$LUND_SOCKET")"
ask()
{
	out=$(python3 - "$LUND_SOCKET" "$1" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\n")
data = b""
while not data.endswith(b"\n"):
    more = s.recv(65536)
    if not more:
        break
    data += more
sys.stdout.write(data.decode())
END
)
}
ask '{"jsonrpc":"2.0","id":7,"method":"target.list","params":{}}'
is "any program may ask" 7 "$(json 'j["id"]')"
ask '{"jsonrpc":"2.0","id":8,"method":"target.ride"}'
is "an unknown method" -32601 "$(json 'j["error"]["code"]')"
ask '{"jsonrpc":"2.0","id":9,"meth'
is "half a document" -32700 "$(json 'j["error"]["code"]')"
ask '[1,2,3]'
is "no request" -32600 "$(json '(j[0] if isinstance(j, list) else j)["error"]["code"]')"
ok "and the daemon goes on" adm target list

finish
