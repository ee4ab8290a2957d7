//! {{title}}: what the plugin offers, and how its tool reaches pages.

mod page;

use carrel_pdk::manifest::{Annotations, Format, PublicWeb, Tool};
use carrel_pdk::{Code, Error, Host, Manifest, Plugin, Request, arguments, schema};
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `title`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The page's address; https.
    #[schemars(length(min = 1))]
    url: String,
}

struct Source;

impl Plugin for Source {
    fn manifest() -> Manifest {
        let mut manifest = Manifest::new("{{name}}", "0.1.0", "Tells the titles of web pages.");
        manifest.title = Some("{{title}}".to_owned());
        // Any host with a public name. An operator has to grant it: allowed_hosts = "public-web".
        manifest.public_web = Some(PublicWeb::new(&["GET"]));
        manifest.tools = vec![Tool {
            name: "title".to_owned(),
            title: Some("Title of a page".to_owned()),
            description: "Returns the title of a web page.".to_owned(),
            input_schema: schema::input::<Asked>(),
            output_schema: schema::output::<page::Title>(),
            annotations: Annotations::LOOKUP,
        }];
        manifest.formats = vec![Format {
            media_types: vec!["text/html".to_owned()],
            ..Format::text("page", "A web page.", schema::output::<page::Title>())
        }];
        manifest
    }

    fn call(tool: &str, arguments_text: &str, host: &dyn Host) -> Result<String, Error> {
        if tool != "title" {
            return Err(Error::unknown_tool(tool));
        }
        let asked: Asked = arguments(arguments_text)?;
        // The host checks the address, limits the rate, and honours robots.txt.
        let response = host.fetch(Request::get(&asked.url))?;
        if !response.is_success() {
            let message = format!("the site answered with {}", response.status);
            return Err(Error::new(Code::UpstreamError, message));
        }
        page::read(&response.body)
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "page" => page::read(document),
            other => Err(Error::unknown_format(other)),
        }
    }
}

carrel_pdk::plugin!(Source);
