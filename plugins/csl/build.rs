//! Sets a larger stack than other plugins have, because the elements and macros of styles nest.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo:rustc-link-arg-cdylib=-zstack-size=2097152");
    }
}
