#!/bin/sh
# Unpacks packages of the distribution into a folder, for tests. They are installed nowhere, and root is not needed.
#   tools/debian_packages.sh FOLDER COMMAND PACKAGE ...    does nothing if COMMAND is on the PATH
set -u
folder=$1 command=$2
shift 2

fail() {
    rm -rf "$folder.new"
    echo "$command for the tests is not available: $1." >&2
    echo "Install it (Debian, Ubuntu: apt-get install $packages)." >&2
    exit 1
}
packages=$*

# With package lists of our own where the system has none: only root may update the system's.
fetch() {
    apt-get download $packages >/dev/null 2>&1 && return
    mkdir -p lists/partial cache/archives/partial
    set -- -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User="" -o Acquire::Retries=0
    apt-get "$@" update >/dev/null 2>&1
    apt-get "$@" download $packages >/dev/null
}

command -v "$command" >/dev/null && exit 0
[ "$(cat "$folder/packages" 2>/dev/null)" = "$packages" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "there is no apt to fetch it with"
rm -rf "$folder.new" && mkdir -p "$folder.new/fetched" || fail "$folder can't be written"
(cd "$folder.new/fetched" && fetch) || fail "its packages can't be fetched"
for package in "$folder.new/fetched/"*.deb; do
    dpkg-deb -x "$package" "$folder.new" || fail "$package can't be unpacked"
done
echo "$packages" >"$folder.new/packages"
rm -rf "$folder.new/fetched" "$folder" && mv "$folder.new" "$folder"
