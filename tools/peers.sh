#!/bin/sh
# Puts the client libraries and servers of chat platforms that the long tests talk to below the folder that is given, one
# environment for each list in tools/peers.
set -eu
lists=$(dirname "$0")/peers
for list in "$lists"/*.txt; do
    name=$(basename "$list" .txt)
    "$(dirname "$0")/python_environment.sh" "$1/$name" "$list" "$name"
done
