//! Errors of the compiler for invalid tools.

/// The error names the missing declaration. `TRYBUILD=overwrite` writes the files with the expected
/// text again.
#[test]
fn missing_declaration_has_a_next_step() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
