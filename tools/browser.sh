#!/bin/sh
# Brings the browser that the page is tested with, and what drives it, in exactly the versions of
# tests/e2e/pnpm-lock.yaml. Installs nothing outside this folder. What is up to date is left alone.
set -u
cd "$(dirname "$0")/.." || exit 1
pnpm=.tools/pnpm/node_modules/.bin/pnpm
browser=.tools/browser
lock=tests/e2e/pnpm-lock.yaml

fail() {
    rm -rf "$browser.new"
    echo "The browser for the tests is not to be had: $1." >&2
    echo "$2" >&2
    exit 1
}

bring_packages() {
    cmp -s "$lock" tests/e2e/node_modules/.installed.yaml && return
    words=$(CI=1 "$pnpm" --dir tests/e2e install --frozen-lockfile --store-dir "$PWD/.tools/pnpm-store" 2>&1) ||
        fail "pnpm says '$(echo "$words" | grep -vi warn | head -n 5 | tr '\n' ' ')'" \
            "Let this machine reach the npm registry, or name another with: npm config set registry ADDRESS."
    cp "$lock" tests/e2e/node_modules/.installed.yaml
}

# Where it lies is written into its settings, so one that was moved is unpacked again.
is_unpacked() {
    [ -x "$browser/chromium" ] && [ "$(cat "$browser/version" 2>/dev/null)" = "$(version)" ]
}

version() {
    cksum <"$lock"
    cksum <tests/e2e/browser/unpack.mjs
    pwd
}

unpack() {
    rm -rf "$browser.new"
    words=$(node tests/e2e/browser/unpack.mjs "$browser.new" "$PWD/$browser" 2>&1) ||
        fail "it can't be unpacked ($words)" "Make room for 250 MB here, and let this user write to $browser."
    version >"$browser.new/version"
    rm -rf "$browser" && mv "$browser.new" "$browser"
}

[ "$(uname -sm)" = "Linux x86_64" ] || fail "there is one for Linux on x86-64 only" "Run the tests of the page there."
tools/web.sh tools || exit 1
bring_packages
is_unpacked || unpack
