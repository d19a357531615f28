#!/bin/sh
# Puts Synapse, the Matrix homeserver that the tests talk to, into the folder that is given.
exec "$(dirname "$0")/python_environment.sh" "$1" "$(dirname "$0")/synapse/requirements.txt" Synapse
