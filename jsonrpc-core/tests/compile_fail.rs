//! Errors of the macros for invalid definitions.

/// Each error names the member, variant or block at fault, and the expected form.
/// `TRYBUILD=overwrite` writes the files with the expected text again.
#[test]
fn macro_errors_name_the_member() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
