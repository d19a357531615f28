#!/bin/sh
# Brings what the page is built with, in exactly the versions of web/pnpm-lock.yaml, and builds the page where its
# sources are newer than what was built. Installs nothing outside this folder. What is up to date is left alone.
#   tools/web.sh          the tools and the page
#   tools/web.sh tools    only the tools
set -u
cd "$(dirname "$0")/.." || exit 1
PNPM_VERSION=10.34.8
pnpm=.tools/pnpm/node_modules/.bin/pnpm
page=packages/host/src/parlour/page

fail() {
    rm -rf .tools/pnpm.new "$page.new"
    echo "The page can't be built: $1." >&2
    echo "$2" >&2
    exit 1
}

registry() {
    fail "$1" "Let this machine reach the npm registry, or name another with: npm config set registry ADDRESS."
}

said() {
    echo "$1" | grep -vi 'warn' | head -n 5 | tr '\n' ' '
}

bring_pnpm() {
    [ "$(cat .tools/pnpm/version 2>/dev/null)" = "$PNPM_VERSION" ] && return
    rm -rf .tools/pnpm.new && mkdir -p .tools/pnpm.new || fail ".tools can't be written" "Let this user write to it."
    words=$(npm install --prefix .tools/pnpm.new --no-audit --no-fund --loglevel=error "pnpm@$PNPM_VERSION" 2>&1) ||
        registry "npm says '$(said "$words")'"
    echo "$PNPM_VERSION" >.tools/pnpm.new/version
    rm -rf .tools/pnpm && mv .tools/pnpm.new .tools/pnpm
}

bring_packages() {
    cmp -s web/pnpm-lock.yaml web/node_modules/.installed.yaml && return
    words=$(CI=1 "$pnpm" --dir web install --frozen-lockfile --store-dir "$PWD/.tools/pnpm-store" 2>&1) ||
        registry "pnpm says '$(said "$words")'"
    cp web/pnpm-lock.yaml web/node_modules/.installed.yaml
}

is_built() {
    [ -f "$page/index.html" ] || return 1
    newer=$(find web -path web/node_modules -prune -o -path web/tests -prune -o -type f -newer "$page/index.html" -print)
    [ -z "$newer" ]
}

build() {
    words=$(PARLOUR_PAGE="$PWD/$page.new" "$pnpm" --dir web build 2>&1) ||
        fail "its sources don't build" "$words"
    # a Host that serves it meanwhile misses it for no longer than a name is changed
    rm -rf "$page.old"
    { [ ! -e "$page" ] || mv "$page" "$page.old"; } && mv "$page.new" "$page" ||
        fail "$page can't be written" "Let this user write to it."
    rm -rf "$page.old"
}

[ "${1:-}" = tools ] || ! is_built || exit 0
command -v node >/dev/null && command -v npm >/dev/null ||
    fail "there is no node with npm" "Install Node.js 20.19 or newer (Debian, Ubuntu: apt-get install nodejs npm)."
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
    fail "this is Node.js $(node --version)" "Install Node.js 20.19 or newer."
bring_pnpm
bring_packages
[ "${1:-}" = tools ] || build
