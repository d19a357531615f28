#!/bin/sh
# Puts a podman with an image of its own into the folder that is given, for the tests of the Box. Installs podman if it
# is missing, which needs root and Debian. The image is made of this machine's packages, so that no registry is needed.
set -eu
folder=$1
here=$(cd "$(dirname "$0")/.." && pwd)
image=localhost/parlour-box-test

if ! { command -v podman && command -v runc; } >/dev/null; then
    apt-get install --yes --no-install-recommends podman runc >/dev/null || {
        echo "podman can't be installed. Install it (Debian: apt-get install podman runc), as root." >&2
        exit 1
    }
fi

mkdir -p "$folder/bin"
folder=$(cd "$folder" && pwd)
# Containers in a container may not raise limits, and have no systemd that manages control groups.
cat >"$folder/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
END
cat >"$folder/bin/podman.new" <<END
#!/bin/sh
export CONTAINERS_CONF="$folder/containers.conf"
exec $(command -v podman) --root="$folder/root" --runroot="$folder/run" --cgroup-manager=cgroupfs "\$@"
END
chmod +x "$folder/bin/podman.new"
mv "$folder/bin/podman.new" "$folder/bin/podman"

if ! "$folder/bin/podman" image exists "$image"; then
    archive=$(mktemp)
    trap 'rm -f "$archive"' EXIT
    (cd "$here" && "${PYTHON:-python3}" -m tools.box_image "$archive")
    "$folder/bin/podman" import --quiet "$archive" "$image" >/dev/null
fi
