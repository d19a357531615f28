#!/bin/sh
# Makes the Python environment of a program that the tests talk to: in the folder that is given first, with exactly the
# packages of the file that is given second, under the name that is given third. It installs nothing elsewhere. What is
# there already is left alone.
set -u
folder=$1
wanted=$2
name=$3
uv=${UV:-$(dirname "$0")/../.tools/bin/uv}
python=${SYNAPSE_PYTHON:-$(dirname "$0")/../.venv/bin/python}

fail() {
    rm -rf "$folder.new"
    echo "$name for the tests is not to be had: $1." >&2
    echo "$2" >&2
    exit 1
}

cmp -s "$wanted" "$folder/requirements.txt" && [ -x "$folder/bin/python" ] && exit 0
[ -x "$uv" ] && [ -x "$python" ] || fail "there is no uv and no environment yet" "Run: make setup."
rm -rf "$folder.new" && mkdir -p "$(dirname "$folder")" || fail "$folder can't be written" "Let this user write to it."
words=$("$uv" venv --quiet --python "$python" "$folder.new" 2>&1) ||
    fail "uv says '$(echo "$words" | head -n 3 | tr '\n' ' ')'" "Let this user write to $(dirname "$folder")."
words=$(VIRTUAL_ENV="$folder.new" "$uv" pip install --quiet --compile-bytecode --require-hashes --requirement "$wanted" 2>&1) ||
    fail "uv says '$(echo "$words" | head -n 3 | tr '\n' ' ')'" \
        "Let this machine reach the package registry, or name another with UV_DEFAULT_INDEX."
cp "$wanted" "$folder.new/requirements.txt" || fail "$folder can't be written" "Make room on its disk."
rm -rf "$folder" && mv "$folder.new" "$folder"
