"""Renders the Kubernetes manifests with the kustomize of kubectl, and reads them."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.support.harness import ROOT

KUBERNETES = ROOT / "deploy" / "kubernetes"
VARIANTS = ("base", "overlays/postgres", "overlays/cluster", "overlays/runtime", "overlays/box", "overlays/ingress")


def kubectl() -> str:
    """Returns the program, which is installed from the distribution's packages if it is missing."""
    if shutil.which("kubectl") is None:
        command = ["apt-get", "install", "--yes", "--no-install-recommends", "kubernetes-client"]
        subprocess.run(command, check=True, capture_output=True)
    return "kubectl"


def rendered(variant: str) -> str:
    command = [kubectl(), "kustomize", str(KUBERNETES / variant)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def objects(variant: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(rendered(variant)) if each]


def pod_specs(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each["spec"]["template"]["spec"] for each in found if each["kind"] in ("StatefulSet", "Deployment")]


def write(variant: str, target: Path) -> Path:
    target.write_text(rendered(variant), encoding="utf-8")
    return target
