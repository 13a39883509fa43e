//! SIGHUP: the tokens and the certificate are read again.
use crate::cli::Args;
use crate::log::say;
use crate::settings::SettingsError;
use host::http::{Access, AccessError, Tls};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// Reads the tokens and the certificate again for each SIGHUP, from now on. Without effect if
/// standard error is a terminal, for which the signal means that it is closed.
pub(crate) fn on_hangup(args: Args, access: Arc<Access>, tls: Option<Arc<Tls>>) -> io::Result<()> {
    if io::stderr().is_terminal() {
        return Ok(());
    }
    let mut hangups = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            say(match reload(args.clone(), &access, tls.as_deref()) {
                Ok(()) => "the tokens and the certificate were read again".to_owned(),
                Err(error) => format!("gateway: {error}; the earlier tokens and certificate stay"),
            });
        }
    });
    Ok(())
}

fn reload(args: Args, access: &Access, tls: Option<&Tls>) -> Result<(), SettingsError> {
    let auth = args.settings()?.auth;
    if let Some(tls) = tls {
        tls.reload().map_err(AccessError::from)?;
    }
    Ok(access.reload(&auth)?)
}
