//! Pages about the crate as a whole. They exist only in the documentation.

pub mod handlers {
    #![doc = include_str!("../HANDLERS.md")]
}
pub mod lint_rules {
    #![doc = include_str!("../LINT.md")]
}
pub mod methods {
    #![doc = include_str!("../METHODS.md")]
}
pub mod migration {
    #![doc = include_str!("../MIGRATION.md")]
}
