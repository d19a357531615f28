#!/bin/sh
# Puts the client libraries and servers of chat platforms that the long tests talk to below the folder that is given, one
# environment for each list in tools/peers. A folder with a lock file has packages for Node.
set -eu
lists=$(dirname "$0")/peers
for list in "$lists"/*.txt; do
    name=$(basename "$list" .txt)
    "$(dirname "$0")/python_environment.sh" "$1/$name" "$list" "$name"
done
for lock in "$lists"/*/package-lock.json; do
    folder=$(dirname "$lock")
    target="$1/$(basename "$folder")"
    if ! cmp -s "$lock" "$target/package-lock.json" || [ ! -d "$target/node_modules" ]; then
        mkdir -p "$target"
        cp "$folder/package.json" "$folder/.npmrc" "$lock" "$target"
        (cd "$target" && npm ci --ignore-scripts --omit=peer --no-audit --no-fund --silent)
    fi
done
