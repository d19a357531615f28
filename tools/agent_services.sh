#!/bin/sh
# Puts what the tests of agent services talk to into folders of their own below .tools/agent-services: the vendors' SDKs,
# an A2A server, a LangGraph development server, and Langflow. The packages are exactly those of tools/agent_services.
#   tools/agent_services.sh vendors a2a langgraph
#   tools/agent_services.sh langflow      about 1.8 GB
set -u
cd "$(dirname "$0")/.." || exit 1
uv=${UV:-.tools/bin/uv}
python=.venv/bin/python

fail() {
    rm -rf "$folder.new"
    echo "$name for the tests is not to be had: $1." >&2
    echo "$2" >&2
    exit 1
}

for name in "$@"; do
    folder=.tools/agent-services/$name
    wanted=tools/agent_services/$name.txt
    cmp -s "$wanted" "$folder/requirements.txt" && [ -x "$folder/bin/python" ] && continue
    [ -x "$uv" ] && [ -x "$python" ] || fail "there is no uv and no environment yet" "Run: make setup."
    rm -rf "$folder.new" && mkdir -p "$(dirname "$folder")" || fail "$folder can't be written" "Let this user write to it."
    words=$("$uv" venv --quiet --relocatable --python "$python" "$folder.new" 2>&1) ||
        fail "uv says '$(echo "$words" | head -n 3 | tr '\n' ' ')'" "Let this user write to $(dirname "$folder")."
    words=$(VIRTUAL_ENV="$folder.new" "$uv" pip install --quiet --require-hashes --requirement "$wanted" 2>&1) ||
        fail "uv says '$(echo "$words" | head -n 3 | tr '\n' ' ')'" \
            "Let this machine reach the package registry, or name another with UV_DEFAULT_INDEX."
    cp "$wanted" "$folder.new/requirements.txt" || fail "$folder can't be written" "Make room on its disk."
    rm -rf "$folder" && mv "$folder.new" "$folder"
done
