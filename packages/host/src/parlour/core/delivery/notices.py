"""What people are told when there is no answer: short, true, without internals."""

_SENTENCES = {
    "interrupted": "The answer was interrupted by a restart. Please ask again.",
    "runner.timeout": "The agent took too long and was stopped.",
    "runner.no_output": "The agent ended without an answer.",
    "runner.crashed": "The agent stopped unexpectedly while it was answering. Please ask again.",
    "runner.unavailable": "The agent is not available right now.",
    "runner.diverged": "The answer was interrupted and could not be taken up again safely. Please ask again.",
    "budget_exceeded": "The limit of what may be used here is reached for now. Please try again later.",
    "quarantined": "This message could not be answered: the agent failed on it more than once.",
    "misconfigured": "Nobody can answer here yet: the agent is not set up for this.",
    "limited": "That was a lot at once. Please wait a minute.",
    "expired": "This message waited too long and was not answered.",
}


def sentence(code: str, error: str = "") -> str:
    """A runner's own failure speaks for itself; the Host's codes have a sentence."""
    return _SENTENCES.get(code) or error or "The agent failed and gave no reason."
