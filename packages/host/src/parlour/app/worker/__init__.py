"""`parlour worker`: executes runs of a Host on another machine, with plugins of its own."""
