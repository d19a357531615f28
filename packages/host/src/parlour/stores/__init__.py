"""Where facts are kept: the databases behind the journal, and the migrations that make their tables."""
