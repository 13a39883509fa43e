//! Skills of a server.
use super::{ServerOptions, adapt_outcome};
use crate::mcp::base::Era;
use crate::mcp::dispatch::ClientRequest;
use crate::skills::{SCHEME, SkillCatalog};
use alloc::sync::Arc;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;

/// The skills of a server.
#[derive(Clone, Debug)]
pub(super) struct OfferedSkills {
    catalog: Arc<SkillCatalog>,
    /// Whether their files are the only resources.
    is_all: bool,
}

impl ServerOptions {
    /// Offers skills to clients since 2026-07-28. Their files are resources, for clients of both generations. A server with
    /// other resources declares that capability before, and receives the requests for them. It should list the resources
    /// that [`SkillCatalog::handle`] returns with its own.
    pub fn offer_skills(&mut self, catalog: impl Into<Arc<SkillCatalog>>) {
        let (catalog, is_all) = (catalog.into(), self.capabilities.resources.is_none());
        catalog.declare(&mut self.capabilities);
        self.skills = Some(OfferedSkills { catalog, is_all });
    }
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
