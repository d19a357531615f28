#!/bin/sh
# Puts npm packages that the tests need into a folder, in exactly the versions of the package-lock.json of a list in
# tools, and installs nothing elsewhere. Scripts of packages don't run. What is there already is left alone.
# With the word install, optional packages that the registry does not have are left out: `npm ci` refuses a lock file
# without the packages for other systems, even if nothing here needs them.
#   tools/node_packages.sh LIST FOLDER [install]
set -u
wanted=$1
folder=$2
how=${3:-ci}

fail() {
    rm -rf "$folder.new"
    echo "$(basename "$wanted") for the tests is not to be had: $1." >&2
    echo "$2" >&2
    exit 1
}

cmp -s "$wanted/package-lock.json" "$folder/package-lock.json" && exit 0
command -v node >/dev/null && command -v npm >/dev/null ||
    fail "there is no node with npm" "Install Node.js 20 or newer (Debian, Ubuntu: apt-get install nodejs npm)."
rm -rf "$folder.new" && mkdir -p "$folder.new" || fail "$folder can't be written" "Let this user write to it."
cp "$wanted/package.json" "$wanted/package-lock.json" "$folder.new/" ||
    fail "$folder can't be written" "Make room on its disk."
words=$(cd "$folder.new" && npm "$how" --ignore-scripts --no-save --no-audit --no-fund --loglevel=error 2>&1) ||
    fail "npm says '$(echo "$words" | grep -v '^npm warn' | head -n 3 | tr '\n' ' ')'" \
        "Let this machine reach the npm registry, or name another with: npm config set registry ADDRESS."
cp "$wanted/package-lock.json" "$folder.new/"
rm -rf "$folder" && mv "$folder.new" "$folder"
