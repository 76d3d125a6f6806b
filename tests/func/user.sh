#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon as another user: it keeps no privilege, serves and saves as before,
# and says what that user may not do.  Secrets stay where they belong.

# shellcheck source=tests/lib/func.sh
. "$(dirname "$0")/../lib/func.sh"

iqn=iqn.2026-11.example.test:user
secret=never-to-be-seen-anywhere
user=nobody

if [ "$(id -u)" != 0 ] || ! id $user >/dev/null 2>&1; then
	skip "becoming another user takes root, and a user"
	finish
fi

owner() { stat -c %U "$1"; }
status() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$pid/status"; }

ends 1 "a user that is not there" "$LUND" -c "$config" -s "$LUND_SOCKET" \
	-d "$dir/state" --portal 127.0.0.1:0 --user no-such-user
has "is named" "$err" no-such-user
echo '{ "version": 1 }' >"$config"
mkdir "$dir/closed"
ends 1 "a folder that is not the user's" "$LUND" -c "$config" \
	-s "$LUND_SOCKET" -d "$dir/closed" --portal 127.0.0.1:0 --user $user
has "is named" "$err" "$dir"
has "with the user" "$err" $user

chown $user "$dir" "$config"
start --user $user || finish
is "it is that user" "$(id -u $user)" "$(status Uid | cut -f 2)"
is "in all three ways" 1 "$(status Uid | tr '\t' '\n' | sort -u | wc -l)"
is "without the groups of root" "$(id -G $user)" "$(status Groups | xargs)"
for set in CapPrm CapEff CapInh CapAmb; do
	is "no capability is left in $set" 0000000000000000 "$(status $set)"
done
is "the state folder, made for it, is the user's" $user "$(owner "$dir/state")"
ok "a target" adm target create $iqn
ok "a volume" adm volume create vol --size 8M
is "its file is the user's" $user "$(owner "$dir/state/vol.img")"
ok "a LUN" adm lun add $iqn vol
ok "a rule" adm acl allow $iqn '*'
is "what is saved is the user's" $user "$(owner "$config")"
ok "a host reads" iscsi-inq "iscsi://$portal/$iqn/0"

truncate -s 8M "$dir/roots.img"
chmod 600 "$dir/roots.img"
ends 1 "a file of root's is no volume" adm volume create more \
	--path "$dir/roots.img"
has "and it says why" "$err" "Permission denied"

# ---- secrets ----

printf %s $secret >"$dir/secret-file"
ok "a secret" adm chap set $iqn esx --secret-file "$dir/secret-file"
rm "$dir/secret-file"
for what in "config show" "chap list" "target show $iqn" "session list"; do
	# shellcheck disable=SC2086
	ok "$what" adm --json $what
	is "does not tell it" 0 "$(printf %s "$out" | grep -c $secret)"
done
is "nor does the log" 0 "$(grep -c $secret "$dir/log")"
is "nor the configuration" 0 "$(grep -c $secret "$config")"
is "it stands in files that the user alone reads" 600 \
	"$(grep -rl $secret "$dir" | xargs stat -c %a | sort -u)"
ok "who knows it logs in" iscsi-inq "iscsi://esx%$secret@$portal/$iqn/0"

# ---- from the configuration ----

stop
sed -i "1s/{/{ \"user\": \"$user\",/;" "$config"
start || finish
is "the configuration may name the user" "$(id -u $user)" \
	"$(status Uid | cut -f 2)"
ok "what was there is there" iscsi-inq "iscsi://esx%$secret@$portal/$iqn/0"
finish
