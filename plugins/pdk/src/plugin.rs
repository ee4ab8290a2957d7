//! The trait an author implements and the macro that exports it.

use crate::{Error, Host, Manifest};

/// A source's plugin.
///
/// Every call runs in a new instance, so an implementation keeps no state; it is a type without
/// values.
pub trait Plugin {
    /// What the plugin is and offers. Constant: it may not depend on anything outside.
    fn manifest() -> Manifest;

    /// Runs the tool `tool` with `arguments`, a JSON object that satisfies the tool's input schema,
    /// and returns a JSON object that satisfies its output schema.
    ///
    /// # Errors
    ///
    /// Whatever keeps the tool from a result, as one of the codes of the contract.
    fn call(tool: &str, arguments: &str, host: &dyn Host) -> Result<String, Error>;

    /// Reads a document in the format `format` and returns a JSON object that satisfies the
    /// format's output schema. Pure: there is no host to ask.
    ///
    /// # Errors
    ///
    /// [`Code::InvalidDocument`](crate::Code::InvalidDocument) with a position when the document is
    /// not what the format promises; [`Code::UpstreamError`](crate::Code::UpstreamError) when it is
    /// the source's own report of an error.
    fn parse(format: &str, document: &str) -> Result<String, Error>;
}

/// Exports a type that implements [`Plugin`] as the component's functions.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! plugin {
    ($plugin:ty) => {
        const _: () = {
            const fn implements_plugin<P: $crate::Plugin>() {}
            implements_plugin::<$plugin>()
        };
    };
}

/// Exports a type that implements [`Plugin`] as the component's functions.
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! plugin {
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
