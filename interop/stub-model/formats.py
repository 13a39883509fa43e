"""The wire formats of models: what a request says of its conversation, and the responses for a step of a scenario.

Each format has `conversation(body)`, `whole(step, call, call_id)` for a response without a stream if agents request that, and
`events(step, call, call_id)` for the events of a stream.
"""
import re
import time

from tools import Tool

MARK = re.compile(r"scenario:([a-z]+)(?: in (\S+))?")
TRANSCRIPT = "The conversation so far, which this session has not seen"
CHUNK = 16


class Conversation:
    """The scenario of a request, the number of its tool calls so far, the declared tools, and the images of its prompt."""

    def __init__(self):
        self.scenario, self.workspace, self.calls, self.images, self.tools = None, None, 0, 0, []

    def user(self, texts, images):
        """Reads a message of the user. A transcript of earlier turns selects no scenario."""
        texts = [text for text in texts if text]
        marks = [mark for text in texts for mark in MARK.findall(text.split(TRANSCRIPT)[0])]
        marks = marks or [mark for text in texts for mark in MARK.findall(text)]
        if marks:
            self.scenario, self.workspace = marks[-1]
            self.calls = self.images = 0
        self.images += images


def pieces(step):
    """Yields the text of a round in pieces, with the pause of the round."""
    text = step.get("text", "")
    for _ in range(step.get("times", 1)):
        for start in range(0, len(text), CHUNK):
            time.sleep(step.get("pauseMs", 0) / 1000)
            yield text[start : start + CHUNK]


def typed(event):
    """Returns an event with the name that is also its type."""
    return event["type"], event


def untyped(event):
    return None, event


class Google:
    """`streamGenerateContent` of Google."""

    def conversation(body):
        talk = Conversation()
        for declared in body.get("tools", []):
            for tool in declared.get("functionDeclarations", []):
                talk.tools.append(Tool(tool["name"], tool.get("parametersJsonSchema") or tool.get("parameters") or {}))
        for message in body.get("contents", []):
            parts = message.get("parts", [])
            if message.get("role") == "model":
                talk.calls += sum("functionCall" in part for part in parts)
            else:
                talk.user([part.get("text") for part in parts], sum("inlineData" in part for part in parts))
        return talk

    def events(step, call, call_id):
        def chunk(part, finish=None):
            candidate = {"index": 0, "content": {"role": "model", "parts": [part]}}
            if finish:
                candidate["finishReason"] = finish
            usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
            return untyped({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"})

        if thought := step.get("thought"):
            yield chunk({"text": thought, "thought": True})
        for piece in pieces(step):
            yield chunk({"text": piece})
        if call:
            yield chunk({"functionCall": {"id": call_id, "name": call.name, "args": call.arguments}}, "STOP")
        else:
            yield chunk({"text": ""}, "STOP")


class Responses:
    """The Responses API of OpenAI."""

    def conversation(body):
        talk = Conversation()
        for tool in body.get("tools", []):
            # Tools of an MCP server may be grouped in a namespace.
            for one in tool.get("tools", [tool]):
                if "name" in one:
                    namespace = tool["name"] if one is not tool else None
                    is_custom = one.get("type") == "custom"
                    talk.tools.append(Tool(one["name"], one.get("parameters") or {}, is_custom, namespace))
        for item in body.get("input", []):
            if item.get("type") in ("function_call", "custom_tool_call"):
                talk.calls += 1
            elif item.get("role") == "user":
                parts = item.get("content", [])
                talk.user([part.get("text") for part in parts], sum(part.get("type") == "input_image" for part in parts))
        return talk

    def events(step, call, call_id):
        response = {"id": f"resp_{call_id}", "object": "response", "created_at": 1, "model": "scripted", "output": []}
        output = response["output"]
        yield typed({"type": "response.created", "response": {**response, "status": "in_progress"}})
        if thought := step.get("thought"):
            item = {"type": "reasoning", "id": f"rs_{call_id}", "summary": []}
            where = {"item_id": item["id"], "output_index": len(output), "summary_index": 0}
            part = {"type": "summary_text", "text": thought}
            yield typed({"type": "response.output_item.added", "output_index": where["output_index"], "item": item})
            yield typed({"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}})
            yield typed({"type": "response.reasoning_summary_text.delta", **where, "delta": thought})
            item = {**item, "summary": [part]}
            yield typed({"type": "response.output_item.done", "output_index": where["output_index"], "item": item})
            output.append(item)
        item = {"type": "message", "id": f"msg_{call_id}", "role": "assistant", "content": []}
        where = {"item_id": item["id"], "output_index": len(output), "content_index": 0}
        yield typed({"type": "response.output_item.added", "output_index": where["output_index"], "item": item})
        text = ""
        for piece in pieces(step):
            text += piece
            yield typed({"type": "response.output_text.delta", **where, "delta": piece})
        item = {**item, "content": [{"type": "output_text", "text": text, "annotations": []}]}
        yield typed({"type": "response.output_item.done", "output_index": where["output_index"], "item": item})
        output.append(item)
        if call:
            item = {"id": f"fc_{call_id}", "call_id": call_id, "status": "completed", "name": call.name}
            if call.is_custom:
                item |= {"type": "custom_tool_call", "input": call.text()}
            else:
                item |= {"type": "function_call", "arguments": call.text()}
            if call.namespace:
                item["namespace"] = call.namespace
            yield typed({"type": "response.output_item.added", "output_index": len(output), "item": item})
            yield typed({"type": "response.output_item.done", "output_index": len(output), "item": item})
            output.append(item)
        usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
        yield typed({"type": "response.completed", "response": {**response, "status": "completed", "usage": usage}})


class Chat:
    """Chat completions of OpenAI."""

    def conversation(body):
        talk = Conversation()
        for tool in body.get("tools") or []:
            if function := tool.get("function"):
                talk.tools.append(Tool(function["name"], function.get("parameters") or {}))
        for message in body.get("messages", []):
            if message["role"] == "assistant":
                talk.calls += len(message.get("tool_calls") or [])
            elif message["role"] == "user":
                content = message.get("content") or ""
                parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
                talk.user([part.get("text") for part in parts], sum(part.get("type") == "image_url" for part in parts))
        return talk

    def tool_calls(call, call_id):
        function = {"name": call.name, "arguments": call.text()}
        return [{"index": 0, "id": call_id, "type": "function", "function": function}]

    def whole(step, call, call_id):
        message = {"role": "assistant", "content": "".join(pieces(step))}
        if call:
            message["tool_calls"] = Chat.tool_calls(call, call_id)
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}
        return {**CHAT, "object": "chat.completion", "choices": [choice], "usage": CHAT_USAGE}

    def events(step, call, call_id):
        def chunk(delta, finish=None):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return untyped({**CHAT, "object": "chat.completion.chunk", "choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        if thought := step.get("thought"):
            yield chunk({"reasoning_content": thought})
        for piece in pieces(step):
            yield chunk({"content": piece})
        if call:
            yield chunk({"tool_calls": Chat.tool_calls(call, call_id)})
        yield chunk({}, "tool_calls" if call else "stop")
        yield untyped({**CHAT, "object": "chat.completion.chunk", "choices": [], "usage": CHAT_USAGE})
        yield untyped("[DONE]")


CHAT = {"id": "chatcmpl-scripted", "created": 1, "model": "scripted"}
CHAT_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


class Anthropic:
    """The Messages API of Anthropic."""

    def conversation(body):
        talk = Conversation()
        for tool in body.get("tools", []):
            talk.tools.append(Tool(tool["name"], tool.get("input_schema") or {}))
        for message in body.get("messages", []):
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if message["role"] == "assistant":
                talk.calls += sum(part["type"] == "tool_use" for part in parts)
            else:
                talk.user([part.get("text") for part in parts], sum(part["type"] == "image" for part in parts))
        return talk

    def blocks(step, call, call_id):
        if thought := step.get("thought"):
            yield {"type": "thinking", "thinking": thought, "signature": "c2NyaXB0ZWQ="}
        yield {"type": "text", "text": step.get("text", "")}
        if call:
            yield {"type": "tool_use", "id": call_id, "name": call.name, "input": call.arguments}

    def whole(step, call, call_id):
        stop = "tool_use" if call else "end_turn"
        return {**MESSAGE, "id": f"msg_{call_id}", "content": list(Anthropic.blocks(step, call, call_id)), "stop_reason": stop}

    def events(step, call, call_id):
        yield typed({"type": "message_start", "message": {**MESSAGE, "id": f"msg_{call_id}", "content": []}})
        for index, block in enumerate(Anthropic.blocks(step, call, call_id)):
            empty = {
                "thinking": {"thinking": "", "signature": ""},
                "text": {"text": ""},
                "tool_use": {"input": {}},
            }[block["type"]]
            yield typed({"type": "content_block_start", "index": index, "content_block": {**block, **empty}})
            match block["type"]:
                case "thinking":
                    deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
                    deltas.append({"type": "signature_delta", "signature": block["signature"]})
                case "text":
                    deltas = ({"type": "text_delta", "text": piece} for piece in pieces(step))
                case "tool_use":
                    deltas = [{"type": "input_json_delta", "partial_json": call.text()}]
            for delta in deltas:
                yield typed({"type": "content_block_delta", "index": index, "delta": delta})
            yield typed({"type": "content_block_stop", "index": index})
        stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        yield typed({"type": "message_delta", "delta": stop, "usage": MESSAGE["usage"]})
        yield typed({"type": "message_stop"})


MESSAGE = {
    "type": "message",
    "role": "assistant",
    "model": "scripted",
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 11, "output_tokens": 7},
}
