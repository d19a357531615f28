#!/bin/sh
# Sees to it that there is a bubblewrap for the sandbox around plugins: the one on the PATH, or else the distribution's
# package, unpacked into the folder that is given and installed nowhere. Needs no root. Says what to do where it fails.
set -u
folder=$1

fail() {
    rm -rf "$folder.new"
    echo "The sandbox around plugins is not to be had: $1." >&2
    echo "$2" >&2
    exit 1
}
INSTALL="Install bubblewrap 0.8 or newer (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)."
ALLOW="docs/operate/security.md, section If namespaces are not allowed, shows how to allow it on this machine or in this container."

# By making one: to be there is not to be allowed.
prove() {
    words=$("$1" --unshare-all --unshare-user --disable-userns --ro-bind / / --proc /proc --dev /dev true 2>&1) && exit 0
    case $words in
    *"Unknown option"*) fail "$1 is too old ($words)" "$INSTALL" ;;
    *) fail "$1 says '$words'" "$ALLOW" ;;
    esac
}

# With lists of packages of our own where the system has none: only root may renew the system's.
fetch() {
    apt-get download bubblewrap >/dev/null 2>&1 && return
    mkdir -p lists/partial cache/archives/partial
    set -- -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User="" -o Acquire::Retries=0
    apt-get "$@" update >/dev/null 2>&1
    apt-get "$@" download bubblewrap >/dev/null
}

unpack() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "there is no apt to fetch it with" "$INSTALL"
    rm -rf "$folder.new" && mkdir -p "$folder.new/fetched" || fail "$folder can't be written" "Let this user write to it."
    (cd "$folder.new/fetched" && fetch) || fail "its package can't be fetched" "$INSTALL"
    dpkg-deb -x "$folder.new/fetched/"bubblewrap_*.deb "$folder.new" || fail "its package can't be unpacked" "$INSTALL"
    rm -rf "$folder.new/fetched" "$folder" && mv "$folder.new" "$folder"
}

[ "$(uname -s)" = Linux ] || fail "it works on Linux only" "Run this on Linux."
found=$(command -v bwrap) && prove "$found"
[ -x "$folder/usr/bin/bwrap" ] || unpack
prove "$folder/usr/bin/bwrap"
