"""What a run may touch: computed once, frozen, and enforced by one gate over one table of actions."""
