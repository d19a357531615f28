#!/bin/sh
# Runs the unit tests on every other supported Python that is found, each in an environment of its own below the folder
# that is given: tools/pythons.sh FOLDER PYTEST-ARGUMENTS. It ends with the names of those that were found and passed.
set -u
folder=$1
shift
uv=.tools/bin/uv
own=$(.venv/bin/python -c 'import sys; print("3.%d" % sys.version_info.minor)')
passed=

# Prints the path of a Python of this version that starts and is complete, wherever a version manager has put it.
find_python() {
    for place in $(echo "$PATH" | tr : ' ') "$HOME"/.pyenv/versions/"$1".*/bin; do
        [ -x "$place/python$1" ] || continue
        "$place/python$1" -c 'import sqlite3, ssl, sys; print(sys.executable)' 2>/dev/null && return
    done
}

for version in 3.11 3.12 3.13 3.14; do
    [ "$version" != "$own" ] || continue
    python=$(find_python "$version")
    [ -n "$python" ] || continue
    UV_PROJECT_ENVIRONMENT=$folder/$version "$uv" sync --quiet --frozen --compile-bytecode --python "$python" || exit 1
    "$folder/$version/bin/python" -m pytest -q "$@" || { echo "the unit tests fail on Python $version" >&2; exit 1; }
    passed="$passed $version"
done
echo "unit tests passed on other Pythons:${passed:- none was found}"
