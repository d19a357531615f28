"""Answers with applications of Alibaba Cloud Model Studio (DashScope)."""
