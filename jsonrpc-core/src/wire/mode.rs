//! The treatment of invalid members.

/// The treatment of invalid members with a replacement in the specification (the annotations of
/// [`object!`](crate::object)).
///
/// In all modes, unknown members, names and variants are kept, and other invalid values are errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// The member is an error, as for [`decode`](super::decode()).
    Strict,
    /// The member has the value that the specification defines, with a
    /// [`Diagnostic`](super::Diagnostic).
    SpecLenient,
    /// As `SpecLenient`, and the [`Extra`](super::Extra) of the object keeps the invalid text. It
    /// is encoded again while the member still has the replacement value.
    #[default]
    Preserve,
}
