//! Settings that start an agent with tracing, for editors.

use crate::cli::{Options, SetupOptions};
use crate::editor::Editor;
use clap::Parser;
use serde_json::{Map, Value, json};
use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

impl Editor {
    /// Returns the place of the settings.
    fn place(self) -> &'static str {
        match self {
            Self::Zed => "settings.json of Zed (command `zed: open settings file`)",
            Self::Jetbrains => "~/.jetbrains/acp.json (AI Chat, `Configure ACP Agents`)",
            Self::Vscode => {
                "settings.json of VS Code, for the extension `formulahendry.acp-client`"
            }
            Self::Neovim => "init.lua of Neovim, for the plugin that is installed",
            Self::Emacs => "init.el of Emacs, for the package `agent-shell`",
        }
    }

    fn settings(self, agent: &Agent) -> String {
        match self {
            Self::Zed => {
                let mut server = agent.server();
                server.insert("type".to_owned(), json!("custom"));
                document("agent_servers", agent, server)
            }
            Self::Jetbrains => document("agent_servers", agent, agent.server()),
            Self::Vscode => document("acp.agents", agent, agent.server()),
            Self::Neovim => neovim(agent),
            Self::Emacs => emacs(agent),
        }
    }
}

/// A traced agent.
struct Agent {
    /// Name of the agent without its path.
    name: String,
    /// Path of this program.
    command: String,
    /// Options of this program, and the command of the agent.
    args: Vec<String>,
}

impl Agent {
    /// The display name.
    fn title(&self) -> String {
        format!("{}, traced", self.name)
    }

    /// A name without white space.
    fn id(&self) -> String {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
        let plain = |it: char| if is_plain(it) { it.to_ascii_lowercase() } else { '-' };
        format!("{}-traced", self.name.chars().map(plain).collect::<String>())
    }

    fn server(&self) -> Map<String, Value> {
        let members = [("command", json!(self.command)), ("args", json!(self.args))];
        let members = members.into_iter().chain([("env", json!({}))]);
        members.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Prints the settings on standard output, and their place on standard error. Options that this
/// program does not accept are an error.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub(crate) fn run(options: &SetupOptions) -> io::Result<ExitCode> {
    let mut args = options.words.clone();
    // A separator before the first word is not among the words. Options begin with a hyphen.
    if !args.first().is_some_and(|word| word.starts_with('-')) {
        args.insert(0, "--".to_owned());
    }
    if let Err(error) = Options::try_parse_from(["acp-traces".to_owned()].iter().chain(&args)) {
        error.exit();
    }
    let name = name_of(args.iter().skip_while(|word| *word != "--").skip(1));
    let program = env::current_exe().ok().map(|it| it.to_string_lossy().into_owned());
    let agent = Agent { name, command: program.unwrap_or_else(|| "acp-traces".to_owned()), args };
    let editor = options.editor;
    eprintln!("acp-traces: add to {}:", editor.place());
    io::stdout().write_all(editor.settings(&agent).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the name of an agent: that of its program, or of the package that a runner of packages
/// starts.
fn name_of<'a>(mut command: impl Iterator<Item = &'a String>) -> String {
    let program = command.next().map(Path::new).and_then(Path::file_stem).unwrap_or_default();
    let is_runner = ["npx", "bunx", "uvx"].iter().any(|runner| program == *runner);
    let package = command.find(|word| is_runner && !word.starts_with('-'));
    let package = package.and_then(|word| word.rsplit('/').next()?.split('@').next());
    package.map_or_else(|| program.to_string_lossy().into_owned(), str::to_owned)
}

/// Returns a JSON document with the agent below a setting.
fn document(setting: &str, agent: &Agent, server: Map<String, Value>) -> String {
    let document = json!({ setting: { agent.title(): server } });
    format!("{document:#}\n")
}

/// Spec: [codecompanion.nvim, ACP
/// adapters](https://codecompanion.olimorris.dev/configuration/adapters-acp), [avante.nvim, ACP
/// support](https://github.com/yetone/avante.nvim#acp-support)
fn neovim(agent: &Agent) -> String {
    // The adapter determines authentication and defaults.
    let adapters = [("claude", "claude_code"), ("codex", "codex"), ("gemini", "gemini_cli")];
    let known = adapters.iter().find(|(name, _)| agent.name.starts_with(name));
    let adapter = known.map_or("opencode", |(_, adapter)| adapter);
    let list = |words: &mut dyn Iterator<Item = &String>| {
        words.map(|word| lua(word)).collect::<Vec<_>>().join(", ")
    };
    let id = lua(&agent.id());
    let command = lua(&agent.command);
    let all = list(&mut [&agent.command].into_iter().chain(&agent.args));
    let args = list(&mut agent.args.iter());
    format!(
        r#"-- codecompanion.nvim
require("codecompanion").setup({{
  adapters = {{
    acp = {{
      [{id}] = function()
        return require("codecompanion.adapters").extend("{adapter}", {{
          commands = {{ default = {{ {all} }} }},
        }})
      end,
    }},
  }},
}})

-- avante.nvim
require("avante").setup({{
  provider = {id},
  acp_providers = {{
    [{id}] = {{ command = {command}, args = {{ {args} }}, env = {{}} }},
  }},
}})
"#
    )
}

/// Spec: [agent-shell](https://github.com/xenodium/agent-shell)
fn emacs(agent: &Agent) -> String {
    let args: Vec<_> = agent.args.iter().map(|word| lisp(word)).collect();
    let id = agent.id();
    let title = lisp(&agent.title());
    let command = lisp(&agent.command);
    let args = args.join(" ");
    let prompt = lisp(&format!("{}> ", agent.id()));
    format!(
        r"(with-eval-after-load 'agent-shell
  (add-to-list 'agent-shell-agent-configs
               (agent-shell-make-agent-config
                :identifier '{id}
                :mode-line-name {title}
                :buffer-name {title}
                :shell-prompt {prompt}
                :shell-prompt-regexp {prompt}
                :client-maker
                (lambda (buffer)
                  (acp-make-client :command {command}
                                   :command-params '({args})
                                   :context-buffer buffer)))))
"
    )
}

/// Returns a string literal of Lua.
fn lua(text: &str) -> String {
    let mut literal = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => literal.extend(['\\', character]),
            control if control.is_ascii_control() => {
                literal.push_str(&format!("\\{:03}", u32::from(control)));
            }
            other => literal.push(other),
        }
    }
    literal + "\""
}

/// Returns a string literal of Emacs Lisp.
fn lisp(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
