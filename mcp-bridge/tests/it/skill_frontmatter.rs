//! Frontmatter of skills.
use jsonrpc_core::wire;
use mcp_bridge::mcp::skills::{Skill, SkillFrontmatter};
use mcp_bridge::skills::{check, is_same_frontmatter};
use serde_json::json;

/// The values are those of the specification of Agent Skills.
#[test]
fn fields_of_the_frontmatter_have_limits() {
    let long = |length| "é".repeat(length);
    let table = [
        (json!({ "description": long(1024), "compatibility": long(500) }), None),
        (json!({ "metadata": { "author": "a", "version": "1.0" }, "own": { "n": 1 } }), None),
        (json!({ "description": long(1025) }), Some("`description`")),
        (json!({ "compatibility": long(501) }), Some("`compatibility`")),
        (json!({ "compatibility": "" }), Some("`compatibility`")),
        (json!({ "compatibility": ["git"] }), Some("`compatibility`")),
        (json!({ "metadata": { "version": 1.0 } }), Some("`metadata`")),
        (json!({ "metadata": { "tags": ["a"] } }), Some("`metadata`")),
        (json!({ "metadata": "a" }), Some("`metadata`")),
    ];
    for (fields, expected) in table {
        let mut skill = json!({ "uri": "skill://a/SKILL.md", "resources": "dynamic",
            "frontmatter": { "name": "a", "description": "d" } });
        let frontmatter = skill["frontmatter"].as_object_mut().expect("an object");
        frontmatter.extend(fields.as_object().expect("fields").clone());
        let skill: Skill = serde_json::from_value(skill).expect("a skill");
        match (check(&skill), expected) {
            (Ok(()), None) => {}
            (Err(error), Some(field)) => assert!(error.to_string().contains(field), "{error}"),
            other => panic!("{fields}: {other:?}"),
        }
    }
}

#[test]
fn frontmatters_are_compared_by_value() {
    let read = |fields: &str| {
        let text = format!(r#"{{"name":"a","description":"d"{fields}}}"#);
        wire::decode::<SkillFrontmatter>(&text).expect("a frontmatter")
    };
    let entry = read(r#","n":{"a":[1000,"ö"],"b":null}"#);
    for same in [r#","n":{"b":null,"a":[1e3,"\u00f6"]}"#, r#","n":{"a":[1000.0,"ö"],"b":null}"#] {
        assert!(is_same_frontmatter(&read(same), &entry), "{same}");
    }
    for other in [
        "",
        r#","n":{"a":[1000,"ö"]}"#,
        r#","n":{"a":[1000,"ö"],"c":null}"#,
        r#","n":{"a":[1001,"ö"],"b":null}"#,
        r#","n":{"a":["1000","ö"],"b":null}"#,
        r#","n":{"a":[1000],"b":null}"#,
        r#","n":{"a":[1000,"ö"],"b":null},"m":1"#,
    ] {
        assert!(!is_same_frontmatter(&read(other), &entry), "{other}");
        assert!(!is_same_frontmatter(&entry, &read(other)), "{other}");
    }
}
