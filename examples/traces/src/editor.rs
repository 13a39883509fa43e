//! The known editors.
use clap::ValueEnum;

/// An editor with a client of ACP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Editor {
    /// Zed
    Zed,
    /// IDEs of JetBrains, with AI Assistant
    Jetbrains,
    /// Visual Studio Code, with the extension ACP Client
    Vscode,
    /// Neovim, with codecompanion.nvim or avante.nvim
    Neovim,
    /// Emacs, with agent-shell
    Emacs,
}
