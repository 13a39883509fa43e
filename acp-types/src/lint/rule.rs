//! The rules, as data.
use core::fmt;

/// Something that a transcript may be found at fault with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Its name, which stays.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where the rule comes from.
    pub group: Group,
    /// What is at fault, in few words.
    pub about: &'static str,
    /// The page of the specification that says so, for the version of the connection; see [`spec`](Self::spec).
    page: &'static str,
}

impl Rule {
    /// The rule of this code.
    pub fn find(code: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.code == code)
    }

    /// The page of the specification that says so, as it is in `version` of the protocol.
    pub fn spec(&self, version: u16) -> alloc::string::String {
        if self.page.contains("://") {
            return self.page.into();
        }
        if version != 2 {
            return alloc::format!("https://agentclientprotocol.com/protocol/v1/{}", self.page);
        }
        // What has a page in version 1 and is a part of another in version 2.
        let page = match self.page {
            "prompt-turn" => "prompt-lifecycle",
            "terminals" => "tool-calls#terminals",
            other => other,
        };
        alloc::format!("https://agentclientprotocol.com/protocol/v2/{page}")
    }
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is allowed, and somebody may wonder.
    Info,
    /// The specification says that it should not be, or a race may excuse it.
    Warning,
    /// The specification forbids it.
    Error,
}

impl Severity {
    /// Its name.
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

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// The schema says so, or JSON-RPC 2.0.
    Schema,
    /// The text of the specification says so about a single message.
    Prose,
    /// The text of the specification says so about the order of messages.
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
        NULL_ID = "null-id" Warning "a request whose id is `null`: version 2 has none, and errors use it" at "schema";
        UNKNOWN_METHOD = "unknown-method" Error "a method that the version does not have, and whose name does not begin with `_`" at "extensibility";
        WRONG_DIRECTION = "wrong-direction" Error "a method that only the other side may send, or a request that is a notification, or the other way round" at "schema";
        INVALID_PARAMS = "invalid-params" Error "parameters that are not those of their method" at "schema";
        INVALID_RESULT = "invalid-result" Error "a result that is not that of its method" at "schema";
        UNKNOWN_MEMBER = "unknown-member" Warning "a member that its type does not have: what is not in the schema belongs into `_meta`" at "extensibility";
        UNKNOWN_NAME = "unknown-name" Warning "a name that is not in its list; in version 2 one may begin with `_`" at "extensibility";
        UNKNOWN_VARIANT = "unknown-variant" Warning "a kind of object that the schema does not have; in version 2 one may begin with `_`" at "extensibility";
        META_OBJECT = "meta-object" Warning "a `_meta` that is not an object, which counts as absent" at "extensibility";
        UNSTABLE_METHOD = "unstable-method" Info "a method that does not belong to its version yet" at "draft/schema";
    }
    Prose {
        RELATIVE_PATH = "relative-path" Error "a path that is not absolute" at "overview";
        LINE_ZERO = "line-zero" Error "line 0: lines count from 1" at "overview";
        BASE64 = "base64" Error "data that is not base64" at "content";
        DATE_TIME = "date-time" Warning "a time that is not ISO 8601, in version 2 RFC 3339" at "schema";
        PRIORITY = "priority" Warning "a priority that is not from 0 to 1" at "content";
        CURRENCY = "currency" Warning "a currency that is not three capital letters (ISO 4217)" at "schema";
        DUPLICATE_ID = "duplicate-id" Error "two things in one list with the same id or name" at "schema";
        COMMAND_NAME = "command-name" Error "a command whose name is empty, or in version 2 has white space" at "slash-commands";
        CURRENT_VALUE = "current-value" Error "a current value or mode that is not among those to choose from" at "session-config-options";
        EMPTY_OPTIONS = "empty-options" Error "a question for permission with nothing to choose from" at "tool-calls";
        EMPTY_CHOICES = "empty-choices" Error "a list of choices that has nothing in it" at "schema";
        EMPTY_PROMPT = "empty-prompt" Warning "a prompt without content" at "schema";
        EMPTY_TITLE = "empty-title" Error "a notice without a title" at "schema";
        FORM_REQUIRED = "form-required" Error "a form that requires what it does not have" at "elicitation";
        FORM_SECRET = "form-secret" Warning "a form that asks for a secret: that belongs where only the user and who asks can see it, into mode `url`" at "elicitation";
        ICON_SOURCE = "icon-source" Error "an icon that is neither `https:` nor `data:`" at "schema";
        ICON_SIZE = "icon-size" Warning "a size of an icon that is neither like `48x48` nor `any`" at "schema";
        ENV_NAME = "env-name" Warning "an environment variable whose name is empty, or has `=` or a null character, which no system takes" at "session-setup";
        PATCH_PATH = "patch-path" Error "a path in a patch that is not absolute, or has a prefix such as `a/`" at "tool-calls#diffs";
        SYSTEM_PROMPT = "system-prompt" Error "a system prompt that is empty, or has content that is not text" at "draft/schema#systemprompt";
        MCP_OUTCOME = "mcp-outcome" Error "an answer to `mcp/message` with both a result and an error" at "draft/schema#messagemcpresponse";
        CAPABILITY_PAIR = "capability-pair" Error "a capability without another that it needs" at "initialization";
        ERROR_CODE = "error-code" Error "an error code that is not a 32-bit integer, or that its request may not be answered with" at "schema#errorcode";
        ERROR_CODE_RESERVED = "error-code-reserved" Warning "an undefined error code that JSON-RPC reserves" at "https://www.jsonrpc.org/specification#error_object";
        ERROR_DATA = "error-data" Warning "an error without the data that its code calls for" at "schema#errorcode";
    }
    Sequence {
        NOT_INITIALIZED = "not-initialized" Error "something before `initialize` was answered" at "initialization";
        INITIALIZE_AGAIN = "initialize-again" Error "a second `initialize`" at "initialization";
        VERSION_ANSWER = "version-answer" Error "an agent that answers with version 2 or later where an earlier one was asked for" at "initialization";
        VERSION_SHAPE = "version-shape" Error "an agent that answers with one version and speaks another" at "initialization";
        NOT_ANNOUNCED = "not-announced" Error "something that the other side has not said it can do" at "initialization";
        AUTH_METHOD_UNKNOWN = "auth-method-unknown" Error "a login by a method that the agent does not offer" at "authentication";
        AUTH_METHOD_TERMINAL = "auth-method-terminal" Error "a login by a method that is for a terminal" at "authentication";
        PROVIDER_REQUIRED = "provider-required" Error "a provider that is disabled, and is required" at "draft/schema#disableproviderrequest";
        ARCHIVED_MISSING = "archived-missing" Error "a session in a list that does not say whether it is archived, of an agent that archives" at "draft/schema#sessioninfo";
        ID_REUSED = "id-reused" Error "a request with the id of one that is still open" at "https://www.jsonrpc.org/specification#request_object";
        UNMATCHED_RESPONSE = "unmatched-response" Error "a response to no open request" at "https://www.jsonrpc.org/specification#response_object";
        UNANSWERED_REQUEST = "unanswered-request" Warning "a request without a response when the transcript ends" at "https://www.jsonrpc.org/specification#response_object";
        CANCEL_UNKNOWN = "cancel-unknown" Info "`$/cancel_request` for a request that is not open" at "cancellation";
        CANCEL_ANSWER = "cancel-answer" Warning "a request that was taken back with `$/cancel_request`, and answered with an error other than -32800" at "cancellation";
        CANCEL_UNASKED = "cancel-unasked" Info "an error -32800 for a request that was not cancelled, in a session that was not stopped; it may also mean a lack of resources" at "cancellation";
        PROXY_UNASKED = "proxy-unasked" Error "`proxy/successor` on a connection that `proxy/initialize` did not begin" at "https://agentclientprotocol.com/rfds/proxy-chains";
        PROXY_MESSAGE = "proxy-message" Error "a wrapped message that may not go to that side, or whose parameters are neither an object nor an array" at "https://agentclientprotocol.com/rfds/proxy-chains";
        PROXY_FORWARD = "proxy-forward" Error "a proxy that answers `proxy/initialize` without an answer of its successor to `initialize`" at "https://agentclientprotocol.com/rfds/proxy-chains";
        PROXY_VERSION = "proxy-version" Error "a proxy that answers `proxy/initialize` with another version than its successor" at "https://agentclientprotocol.com/rfds/proxy-chains";
        PROXY_CANCEL = "proxy-cancel" Error "a cancellation that is passed on to another program: each cancels its own requests" at "https://agentclientprotocol.com/rfds/proxy-chains";
        SESSION_UNKNOWN = "session-unknown" Error "a message of a session that no response has named" at "session-setup";
        UPDATE_EARLY = "update-early" Warning "something of a session before the answer that names it" at "session-setup";
        SESSION_CLOSED = "session-closed" Error "something of a session after it was closed or deleted" at "session-setup";
        TURN_BUSY = "turn-busy" Warning "a prompt while another of its session is open" at "prompt-turn";
        UPDATE_LATE = "update-late" Warning "a message, a plan or a tool call while no prompt is open" at "prompt-turn";
        CANCEL_IGNORED = "cancel-ignored" Warning "a prompt that was cancelled, and not answered so" at "prompt-turn";
        PERMISSION_AFTER_CANCEL = "permission-after-cancel" Warning "a question for permission after the turn was cancelled" at "prompt-turn";
        PERMISSION_NOT_CANCELLED = "permission-not-cancelled" Error "an open question for permission, answered otherwise than `cancelled` after the turn was cancelled" at "prompt-turn";
        OPTION_UNKNOWN = "option-unknown" Error "an answer that was not among those to choose from" at "tool-calls";
        TOOL_CALL_UNKNOWN = "tool-call-unknown" Warning "a change of a tool call that was not announced" at "tool-calls";
        TOOL_CALL_AGAIN = "tool-call-again" Warning "a tool call that is announced twice" at "tool-calls";
        TOOL_CALL_REOPENED = "tool-call-reopened" Warning "a tool call that goes on after it ended" at "tool-calls";
        TOOL_CALL_OPEN = "tool-call-open" Warning "a tool call without a final status when its turn ends" at "tool-calls";
        TERMINAL_UNKNOWN = "terminal-unknown" Error "a terminal that was not created, or is released" at "terminals";
        TERMINAL_OPEN = "terminal-open" Warning "a terminal that is not released when its turn ends" at "terminals";
        MODE_UNKNOWN = "mode-unknown" Error "a mode that the session does not have" at "session-modes";
        OPTION_ID_UNKNOWN = "config-unknown" Error "an option that the session does not have" at "session-config-options";
        CONFIG_VALUE = "config-value" Error "a value that the option does not have" at "session-config-options";
        ELICITATION_UNKNOWN = "elicitation-unknown" Warning "an elicitation that is complete and was not asked for" at "elicitation";
        FORM_ANSWER = "form-answer" Error "an answer to a form that lacks what it requires, or has what it does not ask for" at "elicitation";
        REPLAY_WITHOUT_STATE = "replay-without-state" Error "a session that the client comes back to, and that is not told what it is at before the answer" at "session-setup";
        IDLE_WITHOUT_REASON = "idle-without-reason" Info "a session that stops working and does not say why" at "prompt-lifecycle";
        CLOSED_RUNNING = "closed-running" Error "a session that is closed while it works, and not said to be idle before the answer" at "session-setup";
        CANCEL_NOT_OFFERED = "cancel-not-offered" Error "a tool call or a terminal that is cancelled, and does not offer that" at "tool-calls";
        BACKGROUND_UNKNOWN = "background-unknown" Error "work in the background that was not announced" at "prompt-lifecycle#background-work";
        BACKGROUND_MISSING = "background-missing" Error "a state without `background`, of an agent that reports such work" at "prompt-lifecycle#background-work";
    }
}
