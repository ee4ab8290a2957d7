//! Lenient reading of JSON: every member may be missing, null or of another type than documented. A
//! member of an unexpected type is ignored; only text that is not JSON is an error.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A string; a number counts as a string, and so does the first item of a list. Borrows if nothing
/// was escaped.
#[derive(Debug, Default, Clone)]
pub struct Text<'d>(pub Option<Cow<'d, str>>);

/// A list; another value that is not null counts as its only item.
#[derive(Debug, Clone)]
pub struct List<T>(pub Vec<T>);

/// A whole number, possibly written as a string.
#[derive(Debug, Default, Clone, Copy)]
pub struct Count(pub Option<u64>);

/// True or false, possibly written as a string.
#[derive(Debug, Default, Clone, Copy)]
pub struct Flag(pub Option<bool>);

/// The members of an object in the document's order.
#[derive(Debug, Clone)]
pub struct Members<'d, T>(pub Vec<(Cow<'d, str>, T)>);

/// An object of which some members are read.
pub trait Object<'de>: Default {
    /// Reads the value of `key`, or returns that the key is unknown.
    ///
    /// # Errors
    ///
    /// When the text is not JSON.
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;

    /// Reads a plain string in place of an object.
    fn from_text(_text: &str) -> Self {
        Self::default()
    }

    /// Reads a list in place of an object.
    ///
    /// # Errors
    ///
    /// When the text is not JSON.
    fn from_list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        drain_list(list)?;
        Ok(Self::default())
    }
}

/// Declares a type that is read from an object: `"name in the document" => field: type`.
///
/// ```
/// use carrel_pdk::json::{from_str, lenient::{Count, List, Text, object}};
///
/// object! {
///     /// A book.
///     Book {
///         "title" => title: Text<'d>,
///         "authors" => authors: List<Text<'d>>,
///         "pages" => pages: Count,
///     }
/// }
///
/// let book: Book<'_> = from_str(r#"{"title": null, "authors": "One", "pages": "12"}"#).unwrap();
/// assert_eq!(book.title.0, None);
/// assert_eq!(book.authors.0[0].0.as_deref(), Some("One"));
/// assert_eq!(book.pages.0, Some(12));
/// ```
#[macro_export]
macro_rules! lenient_object {
    ($(#[$doc:meta])* $name:ident { $($key:literal => $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Clone)]
        pub(crate) struct $name<'d> {
            $(pub(crate) $field: $type,)*
        }

        impl<'d> $crate::json::lenient::Object<'d> for $name<'d> {
            fn member<A: $crate::json::lenient::serde::de::MapAccess<'d>>(
                &mut self,
                key: &str,
                map: &mut A,
            ) -> Result<bool, A::Error> {
                match key {
                    $($key => self.$field = map.next_value()?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }

        $crate::lenient_deserialize!($name);
    };
}

/// Implements `Deserialize` for a type that is a [`lenient::Object`](crate::json::lenient::Object).
#[macro_export]
macro_rules! lenient_deserialize {
    ($name:ident) => {
        impl<'d> $crate::json::lenient::serde::de::Deserialize<'d> for $name<'d> {
            fn deserialize<D: $crate::json::lenient::serde::de::Deserializer<'d>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                $crate::json::lenient::read_object(deserializer)
            }
        }
    };
}

#[doc(inline)]
pub use crate::{lenient_deserialize as deserialize_object, lenient_object as object};
#[doc(hidden)]
pub use serde;

/// Reads an object; another value counts as absent.
///
/// # Errors
///
/// When the text is not JSON.
pub fn read_object<'de, T: Object<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(ObjectVisitor(PhantomData))
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Default for Members<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A member's name, borrowed when nothing was escaped.
struct Key<'d>(Cow<'d, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(TextVisitor)?;
        Ok(Self(text.0.unwrap_or_default()))
    }
}

/// Skips the rest of a list.
fn drain_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Skips the rest of an object.
fn drain_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<(), A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Makes a visitor return its default for types of values that it does not accept.
macro_rules! without {
    ($($kind:ident)*) => { $(without!(@ $kind);)* };
    (@ list) => {
        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            drain_list(list)?;
            Ok(Default::default())
        }
    };
    (@ object) => {
        fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
            drain_object(object)?;
            Ok(Default::default())
        }
    };
    (@ null) => {
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
    };
    (@ boolean) => {
        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
    };
    (@ number) => {
        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
    };
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(text))))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.visit_string(number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        self.visit_string(number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        self.visit_string(number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut first = Text(None);
        while let Some(next) = list.next_element::<Text<'de>>()? {
            let is_blank = first.0.as_deref().is_none_or(|text| text.trim().is_empty());
            if is_blank && next.0.is_some() {
                first = next;
            }
        }
        Ok(first)
    }

    without!(null boolean object);
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|item| List(vec![item]))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        T::deserialize(BorrowedStrDeserializer::new(text)).map(|item| List(vec![item]))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(StrDeserializer::new(text)).map(|item| List(vec![item]))
    }

    without!(null boolean number);
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Count(Some(number)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Count(u64::try_from(number).ok()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        // Below 2^53 every whole number is exact.
        let is_whole = (0.0..9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0;
        Ok(Count(is_whole.then_some(number as u64)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let text = text.trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(Count(text.parse().ok().filter(|_| is_plain)))
    }

    without!(null boolean list object);
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("true or false")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Flag(Some(flag)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let text = text.trim();
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        Ok(Flag(if is("true") { Some(true) } else { is("false").then_some(false) }))
    }

    without!(null number list object);
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Object<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut object = T::default();
        while let Some(Key(key)) = map.next_key()? {
            if !object.member(&key, &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(object)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::from_text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::from_list(list)
    }

    without!(null boolean number);
}

struct MembersVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
    type Value = Members<'de, T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((Key(key), value)) = map.next_entry()? {
            members.push((key, value));
        }
        Ok(Members(members))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Members::default())
    }

    without!(null boolean number list);
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<'de, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MembersVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests;
