"""What adapters share: back-off, JSON frames and the queue of incoming events."""
