#!/bin/sh
# Prints the Python that Parlour is set up with: the one that is named, or else the first that was compiled to be quick.
# Version managers compile without Python's own optimisations unless told otherwise, and such a Python needs a third
# more time for everything. So the system's own goes before it; where that is too old or missing, it will do.
set -u
named=${1:-}
slow=

# Distributions optimise theirs, and not all of them say so in it.
about='
import sqlite3, ssl, sys, sysconfig
assert sys.version_info >= (3, 11)
options = str(sysconfig.get_config_var("CONFIG_ARGS"))
print("quick" if sys.base_prefix == "/usr" or "--enable-optimizations" in options else "slow", sys.executable)
'

# One that does not start, is too old or lacks a part is passed over.
consider() {
    words=$("$1" -c "$about" 2>/dev/null) || return 0
    case $words in
    "quick /"*) echo "${words#quick }" && exit ;;
    "slow /"*) slow=${slow:-${words#slow }} ;;
    esac
}

consider_all() {
    IFS=:
    for place in $PATH:/usr/bin; do
        for name in python3 python3.11; do
            [ -x "$place/$name" ] && consider "$place/$name"
        done
    done
}

if [ -n "$named" ]; then consider "$named"; else consider_all; fi
if [ -z "$slow" ]; then
    echo "Parlour needs Python 3.11 or newer; name one with: make PYTHON=python3.11" >&2
    exit 1
fi
echo "$slow"
