//! A scripted ACP agent.
