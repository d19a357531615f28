"""Makes Pods that podman plays from the workloads of the Kubernetes manifests.

Podman knows Pods and volumes. What it does not know is replaced: a Secret by a folder with its files, and a variable
whose value comes from elsewhere, or that a reader of the manifests must set, by the value given here.
"""

import copy
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.support.harness import eventually

from .containers import OBJECTS, POSTGRES, Engine
from .manifests import objects

NETWORK = "parlour-test"
Manifest = dict[str, Any]


def workload(variant: str, name: str) -> Manifest:
    """Returns the StatefulSet or Deployment of a variant with this name."""
    kinds = ("StatefulSet", "Deployment")
    [found] = [each for each in objects(variant) if each["kind"] in kinds and each["metadata"]["name"] == name]
    return found


def pod(
    made_by: Manifest,
    name: str,
    given: Mapping[str, Path] | None = None,
    variables: Mapping[str, str] | None = None,
    port: int | None = None,
) -> Manifest:
    """Returns a Pod of the workload, with a volume of its own, and its first port published at this one."""
    spec = copy.deepcopy(made_by["spec"]["template"]["spec"])
    for claim in made_by["spec"].get("volumeClaimTemplates", ()):
        claimed = {"claimName": f"{name}-{claim['metadata']['name']}"}
        spec["volumes"].append({"name": claim["metadata"]["name"], "persistentVolumeClaim": claimed})
    for container in [*spec["containers"], *spec.get("initContainers", ())]:
        for variable in container.get("env", ()):
            if variable["name"] in (variables or {}):
                variable.pop("valueFrom", None)
                variable["value"] = (variables or {})[variable["name"]]
    for volume in spec["volumes"]:
        if "secret" in volume:
            folder = (given or {})[volume.pop("secret")["secretName"]]
            volume["hostPath"] = {"path": str(folder), "type": "Directory"}
    if port is not None:
        spec["containers"][0]["ports"][0]["hostPort"] = port
    labels = made_by["spec"]["template"]["metadata"]["labels"]
    kept = {"io.podman.annotations.init.container.type": "always"}  # podman 4.3 removes it before it has ended
    metadata = {"name": name, "labels": labels, "annotations": kept}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def play(engine: Engine, made: Manifest, folder: Path, *options: str, alias: str = "") -> str:
    """Plays the Pod in the test's network, and returns the name of its first container."""
    name = made["metadata"]["name"]
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(made))
    network = f"--network={NETWORK}" + (f":alias={alias}" if alias else "")
    engine.podman("kube", "play", network, *options, file)
    return f"{name}-{made['spec']['containers'][0]['name']}"


def run(engine: Engine, made: Manifest, profiles: Path, alias: str) -> str:
    """Runs the only container of a Pod with the options that its manifest says, and returns its name.

    Podman 4.3 plays Pods without their `procMount` and `seccompProfile`, and `hostUsers` only where the machine has
    ranges of users for it.
    """
    name, spec = made["metadata"]["name"], made["spec"]
    [container] = spec["containers"]
    user, context = spec["securityContext"], container["securityContext"]
    options = [f"--user={user['runAsUser']}:{user['runAsGroup']}"]
    options += [f"--cap-drop={each}" for each in context["capabilities"]["drop"]]
    options += ["--read-only"] * context["readOnlyRootFilesystem"]
    options += ["--security-opt=no-new-privileges"] * (not context["allowPrivilegeEscalation"])
    options += [f"--security-opt=seccomp={profiles / user['seccompProfile']['localhostProfile']}"]
    options += ["--security-opt=unmask=ALL"] * (context.get("procMount") == "Unmasked")
    volumes = {each["name"]: each for each in spec["volumes"]}
    for mount in container["volumeMounts"]:
        claim = volumes[mount["name"]].get("persistentVolumeClaim")
        place = f"{claim['claimName']}:{mount['mountPath']}" if claim else f"{mount['mountPath']}:mode=1777"
        options.append(f"--volume={place}" if claim else f"--tmpfs={place}")
    network = f"--network={NETWORK}:alias={alias}"
    engine.podman("run", "--detach", f"--name={name}", network, *options, container["image"], *container["args"])
    return str(name)


def secret(folder: Path, **values: str) -> Path:
    """Returns a folder with a file for each entry of the Secret; `_` in a name stands for `-`."""
    folder.mkdir()
    for name, value in values.items():
        (folder / name.replace("_", "-")).write_text(value)
    return folder


@contextmanager
def played_network(engine: Engine) -> Iterator[None]:
    """Provides the network, and removes it with all that was played in it."""
    engine.podman("network", "create", NETWORK)
    try:
        yield
    finally:
        engine.podman("pod", "rm", "--all", "--force", check=False)
        engine.podman("rm", "--all", "--force", "--time=2", check=False)
        engine.podman("volume", "rm", "--all", "--force", check=False)
        engine.podman("network", "rm", "--force", NETWORK, check=False)


def stores(engine: Engine, folder: Path) -> tuple[dict[str, str], Path]:
    """Starts PostgreSQL and an S3 server. Returns variables for them, and the Secret `parlour-secrets`."""
    password, objects_key = secrets.token_hex(24), secrets.token_hex(24)
    (folder / "password").write_text(password)
    given = {"USER": "parlour", "DB": "parlour", "PASSWORD_FILE": "/password"}
    given |= {"INITDB_ARGS": "--encoding=UTF8 --locale=C"}
    variables = [f"--env=POSTGRES_{name}={value}" for name, value in given.items()]
    mounted = f"--volume={folder / 'password'}:/password:ro"
    engine.podman("run", "--detach", f"--network={NETWORK}", "--name=database", *variables, mounted, POSTGRES)
    engine.podman("run", "--detach", f"--network={NETWORK}", "--name=objects", "--entrypoint=minio", OBJECTS)
    listens = ("exec", "database", "pg_isready")
    eventually(lambda: "accepting" in engine.podman(*listens, check=False), "PostgreSQL is there", seconds=90)
    url = f"postgresql://parlour:{password}@database:5432/parlour"
    made = secret(folder / "secrets", database_url=url, objects_access_key="parlour", objects_secret_key=objects_key)
    replaced = {"ENDPOINT": "http://objects:9000", "ACCESS_KEY": "parlour"}
    return {f"PARLOUR__ARTIFACTS__S3__{name}": value for name, value in replaced.items()}, made
