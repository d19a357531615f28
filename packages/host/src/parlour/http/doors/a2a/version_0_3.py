"""Translates between the versions 1.0 and 0.3 of A2A. The door itself speaks 1.0."""

from typing import Any

Json = dict[str, Any]
METHODS = {
    "message/send": "SendMessage",
    "message/stream": "SendStreamingMessage",
    "tasks/get": "GetTask",
    "tasks/cancel": "CancelTask",
    "tasks/resubscribe": "SubscribeToTask",
    "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
    "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
    "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
    "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
    "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
}
"""Methods of 1.0 by their names in 0.3."""
_LAST_STATES = ("completed", "failed", "canceled", "rejected")


def to_params(params: Json) -> Json:
    """Returns the parameters of a request in the form of 1.0. The parts of a message are read in both forms."""
    configuration = params.get("configuration")
    if isinstance(configuration, dict) and configuration.get("blocking") is False:
        return {**params, "configuration": {**configuration, "returnImmediately": True}}
    return params


def from_result(result: Json) -> Json:
    """Returns a result, or an event of a stream, in the form of 0.3."""
    if "task" in result:
        return _task(result["task"])
    if "artifactUpdate" in result:
        update = result["artifactUpdate"]
        return {"kind": "artifact-update", **update, "artifact": _artifact(update["artifact"])}
    if "statusUpdate" in result:
        update = result["statusUpdate"]
        status = _status(update["status"])
        return {"kind": "status-update", **update, "status": status, "final": status["state"] in _LAST_STATES}
    return _task(result) if "status" in result else result


def _task(task: Json) -> Json:
    artifacts = [_artifact(each) for each in task.get("artifacts", ())]
    return {"kind": "task", **task, "status": _status(task["status"]), "artifacts": artifacts}


def _artifact(artifact: Json) -> Json:
    return {**artifact, "parts": [_part(part) for part in artifact["parts"]]}


def _status(status: Json) -> Json:
    state = status["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
    changed = {**status, "state": state}
    return {**changed, "message": _message(status["message"])} if "message" in status else changed


def _message(message: Json) -> Json:
    role = message["role"].removeprefix("ROLE_").lower()
    return {"kind": "message", **message, "role": role, "parts": [_part(part) for part in message["parts"]]}


def _part(part: Json) -> Json:
    if "text" in part:
        return {"kind": "text", "text": part["text"]}
    file = {"mimeType": part["mediaType"], **({"name": part["filename"]} if "filename" in part else {})}
    return {"kind": "file", "file": {**file, **({"bytes": part["raw"]} if "raw" in part else {"uri": part["url"]})}}
