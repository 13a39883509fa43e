//! Providers of models and agents, by their names in the conventions.
//!
//! | requested model | agent | `gen_ai.provider.name` |
//! |---|---|---|
//! | begins with `claude` or `anthropic/` | contains `claude` | `anthropic` |
//! | begins with `gpt-`, `o1`, `o3`, `o4` or `openai/` | contains `codex` | `openai` |
//! | begins with `gemini` or `google/` | contains `gemini` | `gcp.gemini` |
//! | begins with `grok` or `xai/` | contains `grok` | `x_ai` |
//! | begins with `mistral`, `codestral` or `devstral` | contains `mistral` | `mistral_ai` |
//! | begins with `deepseek` | contains `deepseek` | `deepseek` |
//! | begins with `command-` or `cohere/` | | `cohere` |
//! | any other | any other | the name of the agent, or `acp` |
//!
//! The model decides before the agent. Case is ignored.
//!
//! ```
//! use semconv_map::provider::provider;
//!
//! assert_eq!(provider(Some("claude-agent-acp"), Some("default")), Some("anthropic"));
//! assert_eq!(provider(Some("cline"), Some("gpt-4o")), Some("openai"));
//! assert_eq!(provider(Some("opencode"), None), None);
//! ```
//!
//! Spec: [`gen_ai.provider.name`,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/gen-ai.md)

/// Providers with the beginnings of their models, and a part of the names of their agents.
const PROVIDERS: [(&str, &[&str], Option<&str>); 7] = [
    ("anthropic", &["claude", "anthropic/"], Some("claude")),
    ("openai", &["gpt-", "o1", "o3", "o4", "openai/"], Some("codex")),
    ("gcp.gemini", &["gemini", "google/"], Some("gemini")),
    ("x_ai", &["grok", "xai/"], Some("grok")),
    ("mistral_ai", &["mistral", "codestral", "devstral"], Some("mistral")),
    ("deepseek", &["deepseek"], Some("deepseek")),
    ("cohere", &["command-", "cohere/"], None),
];

/// Returns the provider of a model or of an agent, if the conventions have a name for it.
pub fn provider(agent: Option<&str>, model: Option<&str>) -> Option<&'static str> {
    let begins = |text: &str, start: &str| {
        text.as_bytes()
            .get(..start.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(start.as_bytes()))
    };
    let model = model.unwrap_or_default();
    let agent = agent.unwrap_or_default().as_bytes();
    let has =
        |part: &str| agent.windows(part.len()).any(|it| it.eq_ignore_ascii_case(part.as_bytes()));
    let of_model =
        PROVIDERS.iter().find(|(_, starts, _)| starts.iter().any(|it| begins(model, it)));
    let of_agent = || PROVIDERS.iter().find(|(_, _, part)| part.is_some_and(has));
    of_model.or_else(of_agent).map(|(name, _, _)| *name)
}
