//! Skills of a server.
use super::ServerOptions;
use super::offered_skills::OfferedSkills;
use crate::skills::SkillCatalog;
use alloc::sync::Arc;

impl ServerOptions {
    /// Offers skills to clients since 2026-07-28. Their files are resources, for clients of both
    /// generations. A server with other resources declares that capability before, and receives the
    /// requests for them. It should list the resources that [`SkillCatalog::handle`] returns with
    /// its own.
    pub fn offer_skills(&mut self, catalog: impl Into<Arc<SkillCatalog>>) {
        let catalog = catalog.into();
        let is_all = self.capabilities.resources.is_none();
        catalog.declare(&mut self.capabilities);
        self.skills = Some(OfferedSkills { catalog, is_all });
    }
}
