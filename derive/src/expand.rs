//! Generates the implementation from the description of the fields.
//!
//! # Hygiene
//!
//! All names are absolute paths (primitive types too), all calls name their trait, and all locals have the macro's own
//! spans. So no name of the user's scope can be confused with a generated one.
//!
//! Every call also names its field's type (`<Type as Trait>::method`), because the compiler shows at that place that
//! the type does not fit.

use crate::parse::{Cut, Field, Struct};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Generics, Ident, WherePredicate, parse_quote};

/// Generates the implementation of `Divisible`.
pub(crate) fn divisible(input: &Struct<'_>) -> TokenStream {
    let Struct { name, generics, home, fields } = input;
    let divided: Vec<_> = fields.iter().filter(|field| field.cut == Cut::Divide).collect();
    let predicates = predicates(input);
    let mut generics = (*generics).clone();
    if !predicates.is_empty() {
        generics.make_where_clause().predicates.extend(predicates);
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();

    let smallest = divided
        .iter()
        .map(|Field { member, ty, .. }| quote!(<#ty as #home::Divisible>::size(&self.#member)))
        .reduce(|smallest, size| quote!(::core::cmp::Ord::min(#smallest, #size)));
    let all_should = divided
        .iter()
        .map(|Field { member, ty, .. }| quote!(<#ty as #home::Divisible>::should_be_divided(&self.#member)));
    let index = Ident::new("__furcate_index", Span::mixed_site());
    let parts_at_index = parts(
        fields,
        |Field { member, ty, .. }| quote!(<#ty as #home::Divisible>::divide_at(self.#member, #index)),
    );
    // If several fields are divided, the trait's own `divide` cuts them all after half the size.
    let divide = (divided.len() == 1).then(|| {
        let parts =
            parts(fields, |Field { member, ty, .. }| quote!(<#ty as #home::Divisible>::divide(self.#member)));
        quote! {
            #[inline]
            fn divide(self) -> (Self, Self) {
                #parts
            }
        }
    });

    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #parameters #home::Divisible for #name #arguments #conditions {
            #[inline]
            fn size(&self) -> ::core::primitive::usize {
                #smallest
            }

            #[inline]
            fn should_be_divided(&self) -> ::core::primitive::bool {
                #(#all_should)&&*
            }

            #[inline]
            fn divide_at(self, #index: ::core::primitive::usize) -> (Self, Self) {
                #parts_at_index
            }

            #divide
        }
    }
}

/// Generates both parts of `self`, in a pair. `cut` generates the cut of a divided field; all other fields are treated
/// as their attributes say.
fn parts(fields: &[Field<'_>], cut: impl Fn(&Field<'_>) -> TokenStream) -> TokenStream {
    let local = |side: &str, index| format_ident!("__furcate_{}_{}", side, index, span = Span::mixed_site());
    let members: Vec<_> = fields.iter().map(|field| &field.member).collect();
    let lefts: Vec<_> = (0..fields.len()).map(|index| local("left", index)).collect();
    let rights: Vec<_> = (0..fields.len()).map(|index| local("right", index)).collect();
    let pairs = fields.iter().map(|field| {
        let Field { member, ty, .. } = field;
        match field.cut {
            Cut::Divide => cut(field),
            Cut::Clone => quote!((<#ty as ::core::clone::Clone>::clone(&self.#member), self.#member)),
            Cut::Default => quote!((self.#member, <#ty as ::core::default::Default>::default())),
        }
    });
    quote! {
        #(let (#lefts, #rights) = #pairs;)*
        (Self { #(#members: #lefts),* }, Self { #(#members: #rights),* })
    }
}

/// Returns the conditions on the fields' types that depend on type parameters.
fn predicates(input: &Struct<'_>) -> Vec<WherePredicate> {
    let home = &input.home;
    let depends = |field: &&Field<'_>| mentions_parameter(field.ty.to_token_stream(), input.generics);
    let predicate = |Field { ty, cut, .. }: &Field<'_>| match cut {
        Cut::Divide => parse_quote!(#ty: #home::Divisible),
        Cut::Clone => parse_quote!(#ty: ::core::clone::Clone),
        Cut::Default => parse_quote!(#ty: ::core::default::Default),
    };
    input.fields.iter().filter(depends).map(predicate).collect()
}

/// Whether one of the words of a type is the name of a type parameter.
///
/// The check compares words, not meanings: a path's segment of the same name counts too, which costs a superfluous
/// condition.
fn mentions_parameter(tokens: TokenStream, generics: &Generics) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => {
            generics.type_params().any(|parameter| parameter.ident.unraw() == word.unraw())
        }
        TokenTree::Group(group) => mentions_parameter(group.stream(), generics),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
