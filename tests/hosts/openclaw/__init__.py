"""Tests of OpenClaw workspaces."""
