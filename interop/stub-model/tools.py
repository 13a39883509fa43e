"""Selects the tool of an agent for a step of a scenario, and fills its arguments from the schema that the agent declares."""
import json
from dataclasses import dataclass, field
from pathlib import PurePosixPath

# Names of tools in the agents, the preferred one first.
NAMES = {
    "read": ["read_file", "Read", "read", "view", "read_files"],
    "edit": ["replace", "Edit", "edit", "edit_file", "search_replace", "patch", "apply_patch"],
    "shell": [
        "run_shell_command",
        "exec_command",
        "Bash",
        "bash",
        "Shell",
        "shell",
        "run_terminal_command",
        "run_terminal_cmd",
        "terminal",
        "execute",
        "run_commands",
    ],
}
# Names of members in the arguments.
MEMBERS = {
    "path": ["file_path", "filePath", "absolute_path", "path", "target_file"],
    "old": ["old_string", "oldString", "old_str", "oldText"],
    "new": ["new_string", "newString", "new_str", "newText"],
    "command": ["command", "cmd", "commands"],
}
MEANINGS = {name: meaning for meaning, names in MEMBERS.items() for name in names}


@dataclass
class Tool:
    """A tool that an agent declares in a request."""

    name: str
    schema: dict = field(default_factory=dict)
    is_custom: bool = False
    namespace: str | None = None


@dataclass
class Call:
    """A call of a tool; the arguments of a custom tool are text."""

    name: str
    arguments: dict | str
    is_custom: bool = False
    namespace: str | None = None

    def text(self):
        return self.arguments if self.is_custom else json.dumps(self.arguments)


def call_of(action, tools, workspace):
    """Returns the call for the action of a step, or `None` if the agent has no tool for it."""
    match action:
        case {"page": name, "arguments": arguments}:
            # An agent adds the name of the MCP server to the names of its tools.
            found = [tool for tool in tools if tool.name.endswith(name)]
            return Call(found[0].name, arguments, namespace=found[0].namespace) if found else _indirect(tools, name, arguments)
        case {"read": path}:
            return _call(tools, "read", {"path": _place(workspace, path)}) or _shell(tools, f"cat {path}")
        case {"edit": path, "old": old, "new": new}:
            values = {"path": _place(workspace, path), "old": old, "new": new}
            return _call(tools, "edit", values) or _shell(tools, f"sed -i 's/{old}/{new}/' {path}")
        case {"shell": command}:
            return _shell(tools, command)


def _indirect(tools, name, arguments):
    """Returns the call of a tool that calls those of MCP servers, which the agent does not declare."""
    for tool in tools:
        match tool.name:
            case "use_tool":
                return Call(tool.name, {"tool_name": f"ui__{name}", "tool_input": arguments})
            case "tool_call":
                return Call(tool.name, {"name": f"mcp__ui__{name}", "arguments": arguments})
    return None


def _place(workspace, path):
    return str(PurePosixPath(workspace) / path) if workspace else path


def _shell(tools, command):
    return _call(tools, "shell", {"command": command})


def _call(tools, role, values):
    declared = {tool.name: tool for tool in tools}
    for name in NAMES[role]:
        if tool := declared.get(name):
            if name == "apply_patch":
                return _patch(tool, values)
            return Call(name, _fill(tool.schema, values))
    return None


def _patch(tool, values):
    name = PurePosixPath(values["path"]).name
    patch = f"*** Begin Patch\n*** Update File: {name}\n@@\n-{values['old']}\n+{values['new']}\n*** End Patch\n"
    if tool.is_custom:
        return Call(tool.name, patch, is_custom=True)
    return Call(tool.name, {member: patch for member in tool.schema.get("required", ["input"])})


def _fill(schema, values):
    """Returns the known members and the required members of an object; other values are the first ones that are valid."""
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            return _fill(schema[union][0], values)
    kind = str(schema.get("type", "object" if "properties" in schema else "string")).lower()
    if kind == "object":
        required = schema.get("required", [])
        members = {}
        for name, member in schema.get("properties", {}).items():
            if (meaning := MEANINGS.get(name)) in values:
                members[name] = [values[meaning]] if member.get("type") == "array" else values[meaning]
            elif name in required:
                members[name] = _fill(member, values)
        return members
    if kind == "array":
        return [_fill(schema.get("items", {}), values)]
    if schema.get("enum"):
        return schema["enum"][0]
    return {"boolean": False, "integer": 1, "number": 1}.get(kind, "Scripted.")
