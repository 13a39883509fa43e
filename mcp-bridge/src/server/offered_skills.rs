//! Answers about the skills of a server.
use super::adapt_outcome;
use crate::mcp::base::Era;
use crate::mcp::dispatch::ClientRequest;
use crate::skills::{SCHEME, SkillCatalog};
use alloc::sync::Arc;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;

/// The skills of a server.
#[derive(Clone, Debug)]
pub(super) struct OfferedSkills {
    pub(super) catalog: Arc<SkillCatalog>,
    /// Whether their files are the only resources.
    pub(super) is_all: bool,
}

impl OfferedSkills {
    /// Answers a request about skills or resources. Returns `None` if it is not about them.
    ///
    /// # Errors
    /// Returns the error to respond with.
    pub(super) fn answer(
        &self,
        request: &ClientRequest,
        era: Option<Era>,
    ) -> Result<Option<Raw>, ErrorObject> {
        let is_theirs = match request {
            ClientRequest::ListSkills(_) | ClientRequest::GetSkill(_) => true,
            ClientRequest::ReadResource(params) => self.catalog.has_file(&params.uri),
            // Declared by the catalog, so that a missing directory is no unknown method.
            ClientRequest::ReadResourceDirectory(params) => params.uri.starts_with(SCHEME),
            _ => false,
        };
        if !is_theirs && !self.is_all {
            return Ok(None);
        }
        let era = era.unwrap_or(Era::Modern);
        self.catalog.handle(request).map(|outcome| adapt_outcome(request, outcome, era)).transpose()
    }
}
