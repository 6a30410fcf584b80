//! Compiles the C code that the benchmarks compare with.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "bench")]
    handwritten();
}

#[cfg(feature = "bench")]
fn handwritten() {
    println!("cargo:rerun-if-changed=../benches/handwritten.c");
    println!("cargo:rerun-if-changed=../benches/forced.c");
    println!("cargo:rerun-if-changed=../benches/persistent.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    cc::Build::new()
        .compiler(mpicc)
        .file("../benches/handwritten.c")
        .file("../benches/forced.c")
        .file("../benches/persistent.c")
        .warnings_into_errors(true)
        .compile("handwritten");
}
