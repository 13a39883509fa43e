# States on standard error why it does not start.
printf '%s\n' 'Error: no model for the key sk-abc123' '    at main (agent.js:1:1)' >&2
exit 1
