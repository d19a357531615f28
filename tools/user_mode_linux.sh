#!/bin/sh
# Puts User Mode Linux, a Linux kernel that runs as a program, into the folder that is given: the distribution's package,
# unpacked and installed nowhere. Tests use it for what the machine's own kernel can't do. What is there is left alone.
set -u
folder=$1

fail() {
    rm -rf "$folder.new"
    echo "User Mode Linux for the tests is not available: $1." >&2
    exit 1
}

[ -x "$folder/usr/bin/linux.uml" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "there is no apt to fetch it with"
rm -rf "$folder.new" && mkdir -p "$folder.new/fetched" || fail "$folder can't be written"
(cd "$folder.new/fetched" && apt-get download user-mode-linux >/dev/null 2>&1) || fail "its package can't be fetched"
dpkg-deb -x "$folder.new/fetched/"user-mode-linux_*.deb "$folder.new" || fail "its package can't be unpacked"
rm -rf "$folder.new/fetched" "$folder" && mv "$folder.new" "$folder"
