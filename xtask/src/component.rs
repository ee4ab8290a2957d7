//! Core module → component with custom sections for its contract version and its manifest.

use std::path::Path;

use carrel_pdk::Manifest;
use wasm_encoder::{CustomSection, Encode, Section};
use wasmparser::{Parser, Payload};

use crate::Failure;

/// Custom section with the manifest's JSON, so that it can be read without running anything.
const MANIFEST: &str = "carrel:manifest";
/// Custom section with the contract's version, so that it can be read before compiling.
const CONTRACT: &str = "carrel:contract";

/// Makes a component of the core module `input`, which targets one of the contract's worlds; with a
/// manifest, the component contains it and the contract version that it needs.
pub(crate) fn componentize(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    manifest: Option<&Manifest>,
) -> Result<(), Failure> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let mut component = carrel_componentize::componentize(input)?;
    if let Some(manifest) = manifest {
        append(&mut component, CONTRACT, manifest.contract());
        append(&mut component, MANIFEST, &manifest.to_json());
    }
    std::fs::write(output, component).map_err(|error| format!("{}: {error}", output.display()))
}

/// The names of a component's imports.
pub(crate) fn imports(file: impl AsRef<Path>) -> Result<Vec<String>, Failure> {
    let file = file.as_ref();
    let bytes = read(file)?;
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(&bytes) {
        match payload.map_err(|error| format!("{}: {error}", file.display()))? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    let import = import.map_err(|error| format!("{}: {error}", file.display()))?;
                    names.push(import.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

fn append(component: &mut Vec<u8>, name: &str, text: &str) {
    let section = CustomSection { name: name.into(), data: text.as_bytes().into() };
    component.push(section.id());
    section.encode(component);
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
}
