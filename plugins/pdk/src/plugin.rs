//! The trait that a plugin implements and the macro that exports it.

use crate::{Error, Host, Manifest};

/// A source's plugin.
///
/// Every call runs in a new instance, so an implementation keeps no state; it is a type without
/// values.
pub trait Plugin {
    /// The plugin's manifest. It is constant and must not depend on anything outside.
    fn manifest() -> Manifest;

    /// Runs the tool `tool` with `arguments`, a JSON object that satisfies the tool's input schema,
    /// and returns a JSON object that satisfies its output schema.
    ///
    /// # Errors
    ///
    /// Any failure, as one of the contract's codes.
    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error>;

    /// Reads a document in the format `format` and returns a JSON object that satisfies the
    /// format's output schema. Pure: it cannot call the host.
    ///
    /// # Errors
    ///
    /// [`Code::InvalidDocument`](crate::Code::InvalidDocument) with a position when the document is
    /// not in the format; [`Code::UpstreamError`](crate::Code::UpstreamError) when it is the
    /// source's error report.
    fn parse(format: &str, document: &str) -> Result<String, Error>;

    /// Reads a document in a format that the manifest declares as
    /// [`bytes`](crate::manifest::Format::bytes), and returns a JSON object that satisfies the
    /// format's output schema. Pure, as [`parse`](Self::parse). A plugin that implements it is
    /// exported by `plugin!(…, bytes)`; other plugins do not implement it.
    ///
    /// `document` is the file as it is: any bytes, or none. `options` is a JSON object, `{}` when the
    /// caller has none. Read it with [`args::arguments`](crate::args::arguments()) into a type that
    /// refuses unknown members:
    ///
    /// ```
    /// use carrel_pdk::{Error, arguments};
    /// use serde::Deserialize;
    ///
    /// #[derive(Default, Deserialize)]
    /// #[serde(default, deny_unknown_fields)]
    /// struct Options {
    ///     pages: Option<String>,
    /// }
    ///
    /// fn pages(options: &str) -> Result<Option<String>, Error> {
    ///     Ok(arguments::<Options>(options)?.pages)
    /// }
    ///
    /// assert_eq!(pages("{}").unwrap(), None);
    /// assert_eq!(pages(r#"{"pages": "3-7"}"#).unwrap().as_deref(), Some("3-7"));
    /// assert!(pages(r#"{"page": 3}"#).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), and [`Code::InvalidArguments`](crate::Code::InvalidArguments) for
    /// options that the format does not have.
    fn parse_bytes(format: &str, document: &[u8], options: &str) -> Result<String, Error> {
        let _ = (document, options);
        Err(Error::unknown_format(format))
    }
}

/// Exports a type that implements [`Plugin`] as the component's functions.
///
/// `plugin!(Type)` exports a plugin whose formats are all text, `plugin!(Type, bytes)` one with a
/// format of bytes. A host refuses a component whose manifest and exports disagree.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! plugin {
    ($plugin:ty, bytes) => {
        $crate::plugin!($plugin);
    };
    ($plugin:ty) => {
        const _: () = {
            const fn implements_plugin<P: $crate::Plugin>() {}
            implements_plugin::<$plugin>()
        };
    };
}

/// Exports a type that implements [`Plugin`] as the component's functions.
///
/// `plugin!(Type)` exports a plugin whose formats are all text, `plugin!(Type, bytes)` one with a
/// format of bytes. A host refuses a component whose manifest and exports disagree.
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! plugin {
    ($plugin:ty, bytes) => {
        $crate::plugin!($plugin);

        const _: () = {
            struct Reader;

            impl $crate::document_bindings::exports::carrel::plugin::documents::Guest for Reader {
                fn parse_bytes(
                    format: $crate::export::Text,
                    document: $crate::export::Bytes,
                    options: $crate::export::Text,
                ) -> Result<$crate::export::Text, $crate::export::Text> {
                    $crate::export::parse_bytes::<$plugin>(&format, &document, &options)
                }
            }

            $crate::document_bindings::export_documents!(
                Reader with_types_in $crate::document_bindings
            );
        };
    };
    ($plugin:ty) => {
        const _: () = {
            struct Component;

            impl $crate::bindings::exports::carrel::plugin::source::Guest for Component {
                fn describe() -> $crate::export::Text {
                    $crate::export::describe::<$plugin>()
                }

                fn call(
                    tool: $crate::export::Text,
                    arguments: $crate::export::Text,
                ) -> Result<$crate::export::Text, $crate::export::Text> {
                    $crate::export::call::<$plugin>(&tool, &arguments)
                }

                fn parse(
                    format: $crate::export::Text,
                    document: $crate::export::Text,
                ) -> Result<$crate::export::Text, $crate::export::Text> {
                    $crate::export::parse::<$plugin>(&format, &document)
                }
            }

    $crate::bindings::export!(Component with_types_in $crate::bindings);
        };
    };
}
