//! Reads the struct into a description of its fields.

use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Generics, Ident, Index, Member, Path, Result, Type};

/// A struct that can be divided.
pub(crate) struct Struct<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) generics: &'a Generics,
    /// Path of the trait's crate: `::furcate` or the path in the struct's attribute.
    pub(crate) home: Path,
    pub(crate) fields: Vec<Field<'a>>,
}

/// A field and the effect of a cut on it.
pub(crate) struct Field<'a> {
    pub(crate) member: Member,
    pub(crate) ty: &'a Type,
    pub(crate) cut: Cut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Each part gets its share.
    Divide,
    /// The left part gets a clone.
    Clone,
    /// The right part gets the default.
    Default,
}

impl<'a> Struct<'a> {
    /// Reads a struct. All mistakes in it are reported together.
    pub(crate) fn parse(input: &'a DeriveInput) -> Result<Self> {
        let name = &input.ident;
        let data = match &input.data {
            Data::Struct(data) => data,
            Data::Enum(data) => return Err(not_a_struct(data.enum_token.span, "an enum")),
            Data::Union(data) => return Err(not_a_struct(data.union_token.span, "a union")),
        };
        let mut mistakes = Mistakes::default();
        let home = mistakes.note(home(&input.attrs)).flatten();
        let mut fields = Vec::with_capacity(data.fields.len());
        for (index, field) in data.fields.iter().enumerate() {
            let member = match &field.ident {
                Some(name) => Member::Named(name.clone()),
                None => Member::Unnamed(Index::from(index)),
            };
            if let Some(cut) = mistakes.note(cut(&field.attrs)) {
                fields.push(Field { member, ty: &field.ty, cut });
            }
        }
        mistakes.into_result()?;
        if fields.iter().all(|field| field.cut != Cut::Divide) {
            return Err(nothing_to_divide(name, fields.is_empty()));
        }
        let home = home.unwrap_or_else(|| syn::parse_quote!(::furcate));
        Ok(Struct { name, generics: &input.generics, home, fields })
    }
}

fn not_a_struct(at: proc_macro2::Span, what: &str) -> Error {
    let message = format!(
        "`Divisible` cannot be derived for {what}, only for a struct; \
         implement the trait by hand (two methods: `size` and `divide_at`)"
    );
    Error::new(at, message)
}

fn nothing_to_divide(name: &Ident, empty: bool) -> Error {
    let message = if empty {
        format!("`{name}` has no field that could be divided; `Divisible` needs at least one")
    } else {
        format!(
            "no field of `{name}` is divided; \
             leave at least one field without `#[divide_by(clone)]` and `#[divide_by(default)]`"
        )
    };
    Error::new(name.span(), message)
}

/// The struct's own `#[divide_by(crate = path)]`.
fn home(attributes: &[Attribute]) -> Result<Option<Path>> {
    let mut home = None;
    for_each_word(attributes, "on a struct: `#[divide_by(crate = path)]`", |word| {
        if word.path.is_ident("clone") || word.path.is_ident("default") {
            return Err(word.error("this belongs on a field, not on the struct"));
        }
        if !word.path.is_ident("crate") {
            return Err(word.error("unknown word; a struct takes only `#[divide_by(crate = path)]`"));
        }
        if home.is_some() {
            return Err(word.error("the crate is named twice"));
        }
        let value = word.value()?;
        let path = value.call(Path::parse_mod_style).map_err(|error| {
            Error::new(
                error.span(),
                "expected a path without quotes, as in `#[divide_by(crate = my::furcate)]`",
            )
        })?;
        home = Some(path);
        Ok(())
    })?;
    Ok(home)
}

/// A field's `#[divide_by(..)]`.
fn cut(attributes: &[Attribute]) -> Result<Cut> {
    let mut cut = None;
    for_each_word(attributes, "on a field: `#[divide_by(clone)]` or `#[divide_by(default)]`", |word| {
        let this = if word.path.is_ident("clone") {
            Cut::Clone
        } else if word.path.is_ident("default") {
            Cut::Default
        } else if word.path.is_ident("crate") {
            return Err(word.error("this belongs on the struct, not on a field"));
        } else {
            return Err(word.error(
                "unknown word; a field takes `clone` or `default` (without attribute it is divided)",
            ));
        };
        if cut.replace(this).is_some() {
            return Err(word.error("a field takes one of `clone` and `default`, once"));
        }
        Ok(())
    })?;
    Ok(cut.unwrap_or(Cut::Divide))
}

/// Visits every word in the parentheses of every `#[divide_by(..)]`.
fn for_each_word(
    attributes: &[Attribute],
    usage: &str,
    mut visit: impl FnMut(&ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("divide_by")) {
        let mut empty = true;
        let list = attribute.meta.require_list().map_err(|_| Error::new(attribute.span(), usage))?;
        list.parse_nested_meta(|word| {
            empty = false;
            visit(&word)
        })?;
        if empty {
            return Err(Error::new(attribute.span(), usage));
        }
    }
    Ok(())
}

/// Errors that are reported together.
#[derive(Default)]
struct Mistakes {
    all: Option<Error>,
}

impl Mistakes {
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result
            .map_err(|error| match &mut self.all {
                Some(all) => all.combine(error),
                None => self.all = Some(error),
            })
            .ok()
    }

    fn into_result(self) -> Result<()> {
        self.all.map_or(Ok(()), Err)
    }
}
