//! Messages of the macro about code that it refuses. The messages are ours, so they are checked here, independently of
//! how a compiler prints them. The doc-tests check that the code is refused.

use crate::parse::Struct;
use syn::DeriveInput;

/// The messages for a struct, in order.
fn messages(code: &str) -> Vec<String> {
    let input: DeriveInput = syn::parse_str(code).unwrap();
    match Struct::parse(&input) {
        Ok(_) => vec![],
        Err(error) => error.into_iter().map(|each| each.to_string()).collect(),
    }
}

/// Checks that each list of words is found in the message at the same index.
#[track_caller]
fn assert_refused(code: &str, words: &[&str]) {
    let messages = messages(code);
    assert_eq!(messages.len(), words.len(), "{messages:#?}");
    for (message, words) in messages.iter().zip(words) {
        assert!(message.contains(words), "{message:?} does not say {words:?}");
    }
}

#[test]
fn what_is_not_a_struct_is_told_to_implement_by_hand() {
    assert_refused("enum E { A(Range<u8>) }", &["an enum, only for a struct; implement the trait by hand"]);
    assert_refused("union U { a: u8 }", &["a union, only for a struct; implement the trait by hand"]);
}

#[test]
fn a_struct_needs_a_divided_field() {
    for empty in ["struct S;", "struct S();", "struct S {}"] {
        assert_refused(empty, &["`S` has no field that could be divided"]);
    }
    assert_refused(
        "struct S(#[divide_by(clone)] u8, #[divide_by(default)] u8);",
        &["leave at least one field without `#[divide_by(clone)]` and `#[divide_by(default)]`"],
    );
}

#[test]
fn attributes_are_told_where_they_belong() {
    assert_refused("#[divide_by(clone)] struct S(D);", &["belongs on a field"]);
    assert_refused("#[divide_by(default)] struct S(D);", &["belongs on a field"]);
    assert_refused("struct S(#[divide_by(crate = furcate)] D);", &["belongs on the struct"]);
}

#[test]
fn unknown_words_are_told_the_known_ones() {
    assert_refused("struct S(#[divide_by(copy)] D);", &["takes `clone` or `default`"]);
    assert_refused("#[divide_by(krate = x)] struct S(D);", &["takes only `#[divide_by(crate = path)]`"]);
    for nothing in ["#[divide_by]", "#[divide_by()]", "#[divide_by = clone]"] {
        assert_refused(&format!("struct S({nothing} D);"), &["on a field: `#[divide_by(clone)]`"]);
        assert_refused(&format!("{nothing} struct S(D);"), &["on a struct: `#[divide_by(crate = path)]`"]);
    }
}

#[test]
fn contradictions_are_refused() {
    assert_refused("struct S(D, #[divide_by(clone, default)] D);", &["one of `clone` and `default`"]);
    assert_refused(
        "struct S(D, #[divide_by(clone)] #[divide_by(clone)] D);",
        &["one of `clone` and `default`, once"],
    );
    assert_refused("#[divide_by(crate = a, crate = b)] struct S(D);", &["named twice"]);
}

#[test]
fn a_quoted_crate_is_told_to_lose_its_quotes() {
    assert_refused(r#"#[divide_by(crate = "furcate")] struct S(D);"#, &["a path without quotes"]);
}

#[test]
fn all_mistakes_are_reported_at_once() {
    assert_refused(
        "#[divide_by(clone)] struct S(#[divide_by(copy)] D, #[divide_by] D);",
        &["belongs on a field", "unknown word", "on a field: "],
    );
}

#[test]
fn good_structs_are_not_refused() {
    for good in [
        "struct S(D);",
        "struct S { a: D, #[divide_by(clone)] b: u8, #[divide_by(default,)] c: u8 }",
        "#[divide_by(crate = crate::a::b)] #[other(attribute)] struct S(#[serde(skip)] D);",
    ] {
        assert_refused(good, &[]);
    }
}
