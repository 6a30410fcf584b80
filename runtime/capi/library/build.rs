//! Names the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libroundel.so.{}", env!("CARGO_PKG_VERSION_MAJOR"));
}
