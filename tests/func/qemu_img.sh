#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# qemu-img as a host: what it converts onto a volume compares equal, holes stay
# holes, and a copy that the target makes itself is the same as well.

# shellcheck source=tests/lib/func.sh
. "$(dirname "$0")/../lib/func.sh"

iqn=iqn.2026-11.example.test:qemu

if ! command -v qemu-img >/dev/null; then
	echo "no qemu-img here"
	exit 77
fi
mkdir "$dir/state"
start || finish
ok "a target" adm target create $iqn
ok "for everyone" adm acl allow $iqn '*'
for n in 0 1 2; do
	ok "volume $n" adm volume create v$n --size 64M
	ok "LUN $n" adm lun add $iqn v$n --lun $n
done
url=iscsi://$portal/$iqn
if ! run qemu-img info "$url/0"; then
	case $err in
	*"Unknown protocol"* | *"nknown driver"*)
		echo "qemu-img has no iscsi driver here"
		exit 77
		;;
	esac
	fail "qemu-img info: $err"
fi

# data at both ends and in the middle, holes between
truncate -s 64M "$dir/a.raw"
for at in 0 17 40 63; do
	dd if=/dev/urandom of="$dir/a.raw" bs=1M count=1 seek=$at \
		conv=notrunc status=none
done
dd if=/dev/urandom of="$dir/a.raw" bs=512 count=3 seek=60001 conv=notrunc \
	status=none

ok "convert onto a volume" \
	qemu-img convert -n -f raw -O raw "$dir/a.raw" "$url/0"
ok "compares equal" qemu-img compare -f raw -F raw "$dir/a.raw" "$url/0"
ok "convert from a volume" \
	qemu-img convert -f raw -O raw "$url/0" "$dir/b.raw"
ok "is the same file" cmp "$dir/a.raw" "$dir/b.raw"
ok "convert from volume to volume" \
	qemu-img convert -n -f raw -O raw "$url/0" "$url/1"
ok "compares equal" qemu-img compare -f raw -F raw "$dir/a.raw" "$url/1"
ok "convert by offload (-C)" \
	qemu-img convert -C -n -f raw -O raw "$url/0" "$url/2"
ok "compares equal" qemu-img compare -f raw -F raw "$dir/a.raw" "$url/2"
ok "the other volume, too" qemu-img compare -f raw -F raw "$url/0" "$url/2"

ok "map" qemu-img map -f raw --output=json "$url/0"
is "tells holes from data" true \
	"$(json 'any(not e["data"] for e in j) and any(e["data"] for e in j)')"
is "and covers all" 67108864 "$(json 'j[-1]["start"] + j[-1]["length"]')"
ok "a volume with holes" adm --json volume show v0
is "occupies little" true "$(json 'j["allocated"] < 16 << 20')"

ok "bench writes" qemu-img bench -w -c 500 -d 8 -s 4096 -f raw "$url/1"
ok "bench reads" qemu-img bench -c 500 -d 8 -s 65536 -f raw "$url/1"

finish
