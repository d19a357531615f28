"""The sentences of explanations. Each has a code, by which it is translated, and values.

A value that begins with punctuation, such as `: the reason`, is empty if there is nothing to say.
"""

from dataclasses import field
from typing import Any

from parlour_sdk.values import dataclass

ENGLISH_SENTENCES = {
    "received": "{event_type} came from {source}, by {who}; it was new and got number {seq}.",
    "received_by_bot": "{event_type} came from {source} on bot {bot}, by {who}; it was new and got number {seq}.",
    "received_from_nobody": "{event_type} came from {source}, from nobody; it was new and got number {seq}.",
    "duplicate": "The platform delivered it again; that was recognized and had no effect.",
    "noted": "{text}",
    "owed_owed": "It waits for its turn.",
    "owed_running": "Run {run} is at work on it.",
    "owed_claimed": "It waits to be taken in by run {run}, which was active when it came.",
    "owed_control": "It is an instruction to the Host, which is being carried out.",
    "owed_injected": "Run {run}, which was active when it came, took it in.",
    "run": "Run {run} (attempt {attempt}) began with agent {agent} on {runner}.",
    "run_by": "Run {run} (attempt {attempt}) began with agent {agent} on {runner}, by {route}.",
    "run_after": "Run {run} (attempt {attempt}, after {before}) began with agent {agent} on {runner}.",
    "run_after_by": "Run {run} (attempt {attempt}, after {before}) began with agent {agent} on {runner}, by {route}.",
    "waited": "It had waited {seconds} s for its turn.",
    "rerun": "A person had run {before} done again as run {run}, by agent {agent} on {runner}; nothing was delivered.",
    "granted": "It was granted {names}.",
    "granted_nothing": "It was granted nothing of the Host's.",
    "ended_completed": "Run {run} completed after {seconds} s.",
    "ended_failed": "Run {run} failed after {seconds} s{reason}.",
    "ended_cancelled": "Run {run} was cancelled after {seconds} s{reason}.",
    "ended_timeout": "Run {run} timed out after {seconds} s{reason}.",
    "ended": "Run {run} {status} after {seconds} s{reason}.",
    "not_shown": "Nothing of it had been shown.",
    "denied": "The run asked for {action} and was refused: {code}.",
    "denied_on": "The run asked for {action} on '{resource}' and was refused: {code}.",
    "model_given": "Model {model} got {messages} messages of {characters} characters, {tools} tools, {files} files.",
    "model_failed": "Model {model} got {messages} messages of {characters} characters and gave no answer{reason}.",
    "tool": "It used the tool {tool}.",
    "tool_failed": "The tool {tool} failed.",
    "retrieved": "It searched the knowledge base {base} and found {count} passages: {names}.",
    "retrieved_gone": "What the original run found in the knowledge base {base} is gone, so it was searched as it is "
    "now: {count} passages: {names}.",
    "retrieved_nothing": "It searched the knowledge base {base} and no passage fitted.",
    "steering_queued": "Event {event} came while it ran and was put into its queue.",
    "steering_injected": "It took in what had come meanwhile.",
    "steering_dropped": "What it had not taken in went back to be answered on its own.",
    "action_begun": "It asked for {action}, which its policy allows.",
    "action_pending": "It asked for {action}, which a person has to allow.",
    "action_refused": "It asked for an action that can't be done{reason}.",
    "hook_passed": "Plugin {plugin} was asked and changed nothing.",
    "hook_late": "Plugin {plugin} was asked and did not answer in time, so nothing was changed.",
    "hook_failed": "Plugin {plugin} was asked and failed, so nothing was changed{reason}.",
    "hook_stopped": "Plugin {plugin} stopped the message.",
    "hook_answered": "Plugin {plugin} answered the message itself.",
    "hook_replied": "Plugin {plugin} sent a message and let the agent answer, too.",
    "hook_changed": "Plugin {plugin} changed what the agent reads.",
    "hook_replaced_reply": "Plugin {plugin} replaced a reply.",
    "hook_stopped_reply": "Plugin {plugin} stopped a reply.",
    "hook_added_reply": "Plugin {plugin} added to a reply.",
    "hook_replaced_prompt": "Plugin {plugin} replaced the prompt.",
    "hook_added_to_prompt": "Plugin {plugin} added to the prompt.",
    "filter_found": "The {side} filter {position} ({use}) found: {detail}.",
    "filter_nothing": "The {side} filter {position} ({use}) found nothing.",
    "filter_unknown_passed": "The {side} filter {position} ({use}) gave no verdict, so the text passed: {detail}.",
    "filter_unknown_blocked": "The {side} filter {position} ({use}) gave no verdict, which counts as found: {detail}.",
    "approval_approved": "{who} allowed {action}{reason}.",
    "approval_denied": "{who} denied {action}{reason}.",
    "approval_expired": "Nobody allowed or denied {action} in time, so it was not done.",
    "runner_failed": "The runner said that it failed: {error}.",
    "delivery_pending": "{what} waits to be sent to {where}.",
    "delivery_again": "{what} waits to be sent to {where} again: {reason}.",
    "delivery_streaming": "{what} is being shown as it grows to {where}.",
    "delivery_sending": "{what} was handed to {where}, which has not answered yet.",
    "delivery_held": "{what} is held until the next message of the chat: {reason}.",
    "delivery_sent": "{what} was sent to {where}.",
    "delivery_failed": "{what} could not be sent to {where}: {reason}.",
    "delivery_expired": "{what} was not sent to {where} in time: {reason}.",
    "delivery": "{what} {state}.",
    "tries": "That took {tries} tries.",
    "twice": "It may have been shown twice: whether the first try arrived is not known.",
    "reply_counted": "It is reply {number} to the event; the platform limits their number or time.",
    "reply_pushed": "It exceeds the replies that the platform allows, so it goes out as a message of the bot's own.",
    "settled_answered": "It was answered{reason}.",
    "settled_silent": "The agent chose to say nothing{reason}.",
    "settled_cancelled": "A person cancelled it{reason}.",
    "settled_dropped": "Nobody was to answer it{reason}.",
    "settled_handled": "Plugins that listen handled it{reason}.",
    "settled_handed": "It was handed to a webhook{reason}.",
    "settled_limited": "It was one too many{reason}.",
    "settled_refused": "It was refused{reason}.",
    "settled_control": "It was an instruction to the Host and acted at once{reason}.",
    "settled_misconfigured": "It could not be answered{reason}.",
    "settled_quarantined": "It was set aside and will not be tried again{reason}.",
    "settled_expired": "It was too old to be answered when its turn came{reason}.",
    "settled_failed": "It was not answered{reason}.",
    "settled": "It ended as {outcome}{reason}.",
}
DELIVERY_KIND_NAMES = {
    "message": "A reply",
    "notice": "A notice",
    "approval": "A message about an approval",
    "action": "An action",
}
"""English names of the kinds of outbox rows. Sentences about deliveries carry both the kind and this name."""


@dataclass(frozen=True, slots=True)
class ExplanationSentence:
    """A sentence as its code and values."""

    code: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return ENGLISH_SENTENCES[self.code].format(**self.values)


def code_or_default(code: str, default: str) -> str:
    """Returns the code if there is a sentence for it, else `default`."""
    return code if code in ENGLISH_SENTENCES else default
