//! {{title}}: what the plugin offers. Its documents are bytes, so it is exported with `bytes`.

mod marc;

use carrel_pdk::manifest::Format;
use carrel_pdk::{Error, Host, Manifest, Plugin, arguments, schema};
use serde::Deserialize;

/// The options of `marc`; one that is not here is refused.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Read no more than so many records.
    first: Option<usize>,
}

struct Source;

impl Plugin for Source {
    fn manifest() -> Manifest {
        let mut manifest = Manifest::new("{{name}}", "0.1.0", "Reads files of library records.");
        manifest.title = Some("{{title}}".to_owned());
        manifest.formats = vec![Format {
            media_types: vec!["application/marc".to_owned()],
            ..Format::bytes("marc", "MARC 21 records.", schema::output::<marc::Records>())
        }];
        manifest
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, _document: &str) -> Result<String, Error> {
        Err(Error::unknown_format(format))
    }

    fn parse_bytes(format: &str, document: &[u8], options: &str) -> Result<String, Error> {
        if format != "marc" {
            return Err(Error::unknown_format(format));
        }
        let options: Options = arguments(options)?;
        marc::read(document, options.first.unwrap_or(usize::MAX))
    }
}

carrel_pdk::plugin!(Source, bytes);
