"""Tests of WeChat personal accounts."""
