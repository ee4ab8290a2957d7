//! Makes a component of a core module: `carrel-componentize IN.wasm OUT.wasm`.
//!
//! `carrel plugin build` compiles this program once for each user and runs it. Exit codes: 0 done, 1
//! failed, 2 misuse.

use std::process::ExitCode;

use carrel_componentize::componentize;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("usage: carrel-componentize IN.wasm OUT.wasm");
        return ExitCode::from(2);
    };
    let written = componentize(input).and_then(|component| {
        std::fs::write(output, component).map_err(|error| format!("{output}: {error}"))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("carrel-componentize: {failure}");
            ExitCode::FAILURE
        }
    }
}
