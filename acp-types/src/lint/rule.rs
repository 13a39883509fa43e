//! The rules, as data.
use core::fmt;

/// A rule of the linter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Stable name of the rule.
    pub code: &'static str,
    /// Severity of a violation.
    pub severity: Severity,
    /// Origin of the rule.
    pub group: Group,
    /// Short description of a violation.
    pub about: &'static str,
    /// The page of the specification that defines the rule, for the version of the connection; see
    /// [`spec`](Self::spec).
    page: &'static str,
}

impl Rule {
    /// Returns the rule with this code.
    pub fn find(code: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.code == code)
    }

    /// Returns the page of the specification that defines the rule, in `version` of the protocol.
    pub fn spec(&self, version: u16) -> alloc::string::String {
        if self.page.contains("://") {
            return self.page.into();
        }
        if version != 2 {
            return alloc::format!("https://agentclientprotocol.com/protocol/v1/{}", self.page);
        }
        // Pages of version 1 that are part of another page in version 2.
        let page = match self.page {
            "prompt-turn" => "prompt-lifecycle",
            "terminals" => "tool-calls#terminals",
            other => other,
        };
        alloc::format!("https://agentclientprotocol.com/protocol/v2/{page}")
    }
}

/// The severity of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a specification permits, discourages or forbids")]
pub enum Severity {
    /// Permitted, but possibly surprising.
    Info,
    /// Discouraged by the specification, or excusable by a race.
    Warning,
    /// Forbidden by the specification.
    Error,
}

impl Severity {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The origin of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Group {
    /// The schema, or JSON-RPC 2.0.
    Schema,
    /// The text of the specification, about a single message.
    Prose,
    /// The text of the specification, about the order of messages.
    Sequence,
}

macro_rules! rules {
    ($( $group:ident { $( $NAME:ident = $code:literal $severity:ident $about:literal at $page:literal; )* } )*) => {
        /// All rules.
        pub const RULES: &[Rule] = &[$($($NAME,)*)*];
        $($(
            pub(super) const $NAME: Rule = Rule {
                code: $code,
                severity: Severity::$severity,
                group: Group::$group,
                about: $about,
                page: $page,
            };
        )*)*
    };
}

rules! {
    Schema {
        JSON_SYNTAX = "json-syntax" Error "a line that is not JSON" at "transports";
        JSON_RPC = "json-rpc" Error "JSON that is not a JSON-RPC 2.0 message" at "https://www.jsonrpc.org/specification";
        BATCH = "batch" Error "a batch, which the protocol does not use" at "transports";
        NULL_ID = "null-id" Warning "a request with the id `null`, which version 2 forbids and which errors use" at "schema";
        UNKNOWN_METHOD = "unknown-method" Error "a method that the version does not define, without the prefix `_`" at "extensibility";
        WRONG_DIRECTION = "wrong-direction" Error "a method sent by the wrong side, a request sent as a notification, or a notification sent as a request" at "schema";
        INVALID_PARAMS = "invalid-params" Error "parameters that do not match the method" at "schema";
        INVALID_RESULT = "invalid-result" Error "a result that does not match the method" at "schema";
        UNKNOWN_MEMBER = "unknown-member" Warning "a member that the schema does not define; extensions belong in `_meta`" at "extensibility";
        UNKNOWN_NAME = "unknown-name" Warning "a name that the schema does not define; version 2 reserves the prefix `_` for extensions" at "extensibility";
        UNKNOWN_VARIANT = "unknown-variant" Warning "a variant that the schema does not define; version 2 reserves the prefix `_` for extensions" at "extensibility";
        META_OBJECT = "meta-object" Warning "a `_meta` that is not an object; it counts as absent" at "extensibility";
        UNSTABLE_METHOD = "unstable-method" Info "a method that is not part of the stable version" at "draft/schema";
        REMOVED_PART = "removed-part" Warning "a part that the protocol no longer has: a plan in a file, or in version 2 a pattern in a form" at "schema";
    }
    Prose {
        RELATIVE_PATH = "relative-path" Error "a path that is not absolute" at "overview";
        LINE_ZERO = "line-zero" Error "line 0; line numbers start at 1" at "overview";
        BASE64 = "base64" Error "data that is not valid base64" at "content";
        DATE_TIME = "date-time" Warning "a timestamp that is not ISO 8601, or in version 2 not RFC 3339" at "schema";
        PRIORITY = "priority" Warning "a priority outside the range from 0 to 1" at "content";
        CURRENCY = "currency" Warning "a currency that is not an ISO 4217 code of three capital letters" at "schema";
        DUPLICATE_ID = "duplicate-id" Error "a list with a repeated id or name" at "schema";
        COMMAND_NAME = "command-name" Error "a command name that is empty, or in version 2 contains white space" at "slash-commands";
        CURRENT_VALUE = "current-value" Error "a current value or mode that is not in the list of choices" at "session-config-options";
        EMPTY_OPTIONS = "empty-options" Error "a permission request without options" at "tool-calls";
        EMPTY_CHOICES = "empty-choices" Error "an empty list of choices" at "schema";
        EMPTY_PROMPT = "empty-prompt" Warning "a prompt without content" at "schema";
        EMPTY_TITLE = "empty-title" Error "a notice without a title" at "schema";
        EMPTY_SUGGESTION = "empty-suggestion" Error "a suggested prompt without content other than white space" at "draft/schema#promptsuggestion";
        FORM_REQUIRED = "form-required" Error "a form with a required field that it does not define" at "elicitation";
        FORM_SECRET = "form-secret" Warning "a form that requests a secret; secrets require mode `url`" at "elicitation";
        ICON_SOURCE = "icon-source" Error "an icon with a source other than `https:` or `data:`" at "schema";
        ICON_SIZE = "icon-size" Warning "an icon size that is neither `any` nor of the form `48x48`" at "schema";
        ENV_NAME = "env-name" Warning "an environment variable with an invalid name: empty, or containing `=` or a null character" at "session-setup";
        PATCH_PATH = "patch-path" Error "a path in a patch that is not absolute, or has a prefix such as `a/`" at "tool-calls#diffs";
        SYSTEM_PROMPT = "system-prompt" Error "a system prompt that is empty or contains other content than text" at "draft/schema#systemprompt";
        PROMPT_KEY = "prompt-key" Error "an `idempotencyKey` that has not 1 to 255 characters" at "prompt-lifecycle#retrying-a-prompt";
        SKILL_PLACE = "skill-place" Error "a skill that is not the first content of a prompt, for an agent without `session.prompt.skill.inline`" at "draft/schema#skillreference";
        MCP_OUTCOME = "mcp-outcome" Error "a response to `mcp/message` with both a result and an error" at "draft/schema#messagemcpresponse";
        CAPABILITY_PAIR = "capability-pair" Error "a capability without another that it requires" at "initialization";
        ERROR_CODE = "error-code" Error "an error code that is not a 32-bit integer, or is not permitted for the request" at "schema#errorcode";
        ERROR_CODE_RESERVED = "error-code-reserved" Warning "an undefined error code in the range that JSON-RPC reserves" at "https://www.jsonrpc.org/specification#error_object";
        ERROR_DATA = "error-data" Warning "an error without the data that its code requires" at "schema#errorcode";
    }
    Sequence {
        NOT_INITIALIZED = "not-initialized" Error "a message before the response to `initialize`" at "initialization";
        INITIALIZE_AGAIN = "initialize-again" Error "a second `initialize`" at "initialization";
        VERSION_ANSWER = "version-answer" Error "a response with version 2 or later to a request for an earlier version, or with a version other than 1 and 2" at "initialization";
        VERSION_SHAPE = "version-shape" Error "an agent that negotiates one version and uses another" at "initialization";
        NOT_ANNOUNCED = "not-announced" Error "a message that requires a capability the other side has not announced" at "initialization";
        AUTH_METHOD_UNKNOWN = "auth-method-unknown" Error "a login with a method that the agent does not offer" at "authentication";
        AUTH_METHOD_TERMINAL = "auth-method-terminal" Error "a login with a method that requires a terminal" at "authentication";
        PROVIDER_REQUIRED = "provider-required" Error "disabling a required provider" at "draft/schema#disableproviderrequest";
        ARCHIVED_MISSING = "archived-missing" Error "a listed session without `archived`, from an agent that archives sessions" at "draft/schema#sessioninfo";
        ID_REUSED = "id-reused" Error "a request with the id of an open request" at "https://www.jsonrpc.org/specification#request_object";
        UNMATCHED_RESPONSE = "unmatched-response" Error "a response without an open request" at "https://www.jsonrpc.org/specification#response_object";
        UNANSWERED_REQUEST = "unanswered-request" Warning "a request without a response at the end of the transcript" at "https://www.jsonrpc.org/specification#response_object";
        CANCEL_UNKNOWN = "cancel-unknown" Info "`$/cancel_request` for a request that is not open" at "cancellation";
        CANCEL_ANSWER = "cancel-answer" Warning "a request cancelled with `$/cancel_request` and answered with an error other than -32800" at "cancellation";
        CANCEL_UNASKED = "cancel-unasked" Info "an error -32800 for a request that was not cancelled; it may also report a lack of resources" at "cancellation";
        REQUEST_NOT_WITHDRAWN = "request-not-withdrawn" Error "an open request of cancelled work that the agent has not cancelled with `$/cancel_request`" at "prompt-lifecycle#cancellation";
        PROMPT_CANCELLED = "prompt-cancelled" Warning "a prompt of a cancelled or closed session that is answered with an error other than -32800" at "prompt-lifecycle#cancellation";
        PROXY_UNASKED = "proxy-unasked" Error "`proxy/successor` on a connection without `proxy/initialize`" at "https://agentclientprotocol.com/rfds/proxy-chains";
        PROXY_MESSAGE = "proxy-message" Error "a wrapped message that may not be sent to that side, or with parameters that are neither an object nor an array" at "https://agentclientprotocol.com/rfds/proxy-chains";
        PROXY_FORWARD = "proxy-forward" Error "a response to `proxy/initialize` before the successor's response to `initialize`" at "https://agentclientprotocol.com/rfds/proxy-chains";
        PROXY_VERSION = "proxy-version" Error "a response to `proxy/initialize` with another version than the successor's" at "https://agentclientprotocol.com/rfds/proxy-chains";
        PROXY_CANCEL = "proxy-cancel" Error "a forwarded cancellation; each program cancels its own requests" at "https://agentclientprotocol.com/rfds/proxy-chains";
        SESSION_UNKNOWN = "session-unknown" Error "a message of a session that no response has created" at "session-setup";
        UPDATE_EARLY = "update-early" Warning "a message of a session before the response that creates it" at "session-setup";
        SESSION_CLOSED = "session-closed" Error "a message of a session after it was closed or deleted" at "session-setup";
        TURN_BUSY = "turn-busy" Warning "a prompt while another prompt of the session is open" at "prompt-turn";
        PROMPT_REPEATED = "prompt-repeated" Error "a repeated prompt that is answered with another message" at "prompt-lifecycle#retrying-a-prompt";
        PROMPT_KEY_REUSED = "prompt-key-reused" Warning "the `idempotencyKey` of a prompt with other content" at "prompt-lifecycle#retrying-a-prompt";
        UPDATE_LATE = "update-late" Warning "a message, plan or tool call without an open prompt or a carried state of a turn without one" at "prompt-turn";
        CANCEL_IGNORED = "cancel-ignored" Warning "a cancelled prompt with a stop reason other than `cancelled`" at "prompt-turn";
        PERMISSION_AFTER_CANCEL = "permission-after-cancel" Warning "a permission request after the turn was cancelled" at "prompt-turn";
        PERMISSION_NOT_CANCELLED = "permission-not-cancelled" Error "a response other than `cancelled` to an open permission request of a cancelled turn" at "prompt-turn";
        OPTION_UNKNOWN = "option-unknown" Error "a selected option that the request does not offer" at "tool-calls";
        PERMISSION_IGNORED = "permission-ignored" Warning "a tool call that continues although its permission was not granted; an unknown option grants none" at "tool-calls#requesting-permission";
        TOOL_CALL_UNKNOWN = "tool-call-unknown" Warning "an update of a tool call that was not announced" at "tool-calls";
        TOOL_CALL_AGAIN = "tool-call-again" Warning "a tool call that is announced twice" at "tool-calls";
        TOOL_CALL_REOPENED = "tool-call-reopened" Warning "a tool call that continues after its final status" at "tool-calls";
        TOOL_CALL_OPEN = "tool-call-open" Warning "a tool call without a final status at the end of its turn" at "tool-calls";
        TERMINAL_UNKNOWN = "terminal-unknown" Error "a terminal that was not created or is already released" at "terminals";
        TERMINAL_OPEN = "terminal-open" Warning "a terminal that is not released at the end of its turn" at "terminals";
        MODE_UNKNOWN = "mode-unknown" Error "a mode that the session does not have" at "session-modes";
        OPTION_ID_UNKNOWN = "config-unknown" Error "an option that the session does not have" at "session-config-options";
        CONFIG_VALUE = "config-value" Error "a value that the option does not have" at "session-config-options";
        ELICITATION_UNKNOWN = "elicitation-unknown" Warning "a completed elicitation that was not requested" at "elicitation";
        FORM_ANSWER = "form-answer" Error "a form response without a required field, or with an undefined one" at "elicitation";
        REPLAY_WITHOUT_STATE = "replay-without-state" Error "a resumed session without a `state_update` before the response" at "session-setup";
        REPLAY_UNFINISHED = "replay-unfinished" Error "a session that is resumed with `replayFrom`, without `replay_complete` before the response" at "session-setup#replay-complete";
        REPLAY_END_UNASKED = "replay-end-unasked" Error "`replay_complete` without a request for a replay, or for the second time" at "session-setup#replay-complete";
        STATE_MISSING = "state-missing" Warning "reasoning, a tool call or a permission request of a new session that has not reported a state" at "session-setup#creating-a-session";
        CURSOR_ANCHOR = "cursor-anchor" Error "a cursor without an anchor, or with another one than before" at "draft/schema#cursorupdate";
        CURSOR_UNKNOWN = "cursor-unknown" Error "a fork at a cursor that the session does not have, or that does not offer it" at "draft/schema#forksessionrequest";
        IDLE_WITHOUT_REASON = "idle-without-reason" Info "a session that becomes idle without a reason" at "prompt-lifecycle";
        CLOSED_RUNNING = "closed-running" Error "a running session that is closed and not reported idle before the response" at "session-setup";
        CANCEL_NOT_OFFERED = "cancel-not-offered" Error "the cancellation of a tool call or terminal that does not offer it" at "tool-calls";
        BACKGROUND_UNKNOWN = "background-unknown" Error "background work that was not announced" at "prompt-lifecycle#background-work";
        BACKGROUND_MISSING = "background-missing" Error "a state without `background`, from an agent that reports background work" at "prompt-lifecycle#background-work";
    }
}
