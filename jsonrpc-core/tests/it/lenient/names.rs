//! Names of members with escapes.
use super::*;

#[test]
fn names_that_need_escapes_are_found() {
    object! {
        /// Names with special characters.
        pub struct OddNames {}
        optional {
            /// With characters that pointers escape.
            a: u8 = "a/~1\u{1}\"" [default_on_error],
        }
    }
    open_union! {
        /// A union with members before its tag.
        pub enum OddUnion by "t" {
            /// The only variant.
            Odd(OddNames) = "odd",
        }
    }
    let text = r#"{"a/~1\u0001\"":"x y","t":"odd"}"#;
    let decoded = lenient::<OddUnion>(text);
    assert_eq!(decoded.diagnostics[0].pointer, "/a~1~01\u{1}\"");
}

/// Such a name has no value that the encoded text could repeat.
#[test]
fn name_with_a_lone_surrogate_is_an_error_in_all_modes() {
    object! {
        /// An object with a union, which may be invalid.
        pub struct LastObject {}
        optional {
            /// The union, here without its tag.
            update: Update = "update" [default_on_error],
        }
    }
    for mode in [Mode::Strict, Mode::SpecLenient, Mode::Preserve] {
        let error =
            wire::decode_with::<LastObject>(r#"{"update":{"\ud800":1}}"#, mode).unwrap_err();
        assert!(error.to_string().contains("lone surrogate"), "{mode:?}: {error}");
    }
    let plan = r#""title":"t","steps":[],"size":1"#;
    for text in [
        format!(r#"{{{plan},"inner":{{"\ud800":1,{plan}}}}}"#),
        r#"{"title":"t","steps":[{"name":"n","\ud800":1}],"size":1}"#.to_owned(),
    ] {
        for mode in [Mode::Strict, Mode::SpecLenient, Mode::Preserve] {
            let error = wire::decode_with::<Plan>(&text, mode).unwrap_err().to_string();
            assert!(error.contains("lone surrogate"), "{mode:?}: {error}");
        }
    }
}
