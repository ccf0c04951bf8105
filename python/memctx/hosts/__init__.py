"""Files of agent hosts: session transcripts of Pi, workspaces of OpenClaw."""
