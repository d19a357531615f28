#!/bin/sh
# Puts nginx, the reverse proxy that the tests use, into the folder that is given: the distribution's package, unpacked
# and installed nowhere. Needs no root. An nginx on the PATH is used as it is; what is there already is left alone.
set -u
folder=$1

fail() {
    rm -rf "$folder.new"
    echo "nginx for the tests is not available: $1." >&2
    echo "Install nginx 1.18 or newer (Debian, Ubuntu: apt-get install nginx-light; Fedora: dnf install nginx)." >&2
    exit 1
}

# With package lists of our own where the system has none: only root may update the system's.
fetch() {
    apt-get download nginx >/dev/null 2>&1 && return
    mkdir -p lists/partial cache/archives/partial
    set -- -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User="" -o Acquire::Retries=0
    apt-get "$@" update >/dev/null 2>&1
    apt-get "$@" download nginx >/dev/null
}

runs() {
    "$1" -V >/dev/null 2>&1
}

found=$(command -v nginx) && runs "$found" && exit 0
[ -x "$folder/usr/sbin/nginx" ] && runs "$folder/usr/sbin/nginx" && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "there is no apt to fetch it with"
rm -rf "$folder.new" && mkdir -p "$folder.new/fetched" || fail "$folder can't be written"
(cd "$folder.new/fetched" && fetch) || fail "its package can't be fetched"
dpkg-deb -x "$folder.new/fetched/"nginx_*.deb "$folder.new" || fail "its package can't be unpacked"
[ -x "$folder.new/usr/sbin/nginx" ] || fail "its package holds no program"
runs "$folder.new/usr/sbin/nginx" || fail "it does not run here"
rm -rf "$folder.new/fetched" "$folder" && mv "$folder.new" "$folder"
