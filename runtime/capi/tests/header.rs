//! Checks that the header and the Fortran module match the sources: the functions of `src/`, and the table of
//! collectives. `ROUNDEL_BLESS=1 cargo test -p roundel-capi` generates them again.

mod table;

use std::fs;
use std::path::Path;
use table::Function;

/// The lines around the collectives in the Fortran module.
const BEGIN: &str = "    ! Collectives, made of the table in src/collectives.rs.\n";
const END: &str = "    ! End of the collectives.\n";

#[test]
fn the_header_is_up_to_date() {
    is_up_to_date("include/roundel.h", |_| header());
}

#[test]
fn the_fortran_module_is_up_to_date() {
    is_up_to_date("include/roundel.f90", |found| {
        let (before, rest) = found.split_once(BEGIN).expect("the collectives begin");
        let (_, after) = rest.split_once(END).expect("the collectives end");
        let interfaces: Vec<String> = functions().iter().map(Function::fortran).collect();
        format!("{before}{BEGIN}{}{END}{after}", interfaces.join("\n"))
    });
}

/// Every C function has a Fortran interface with the same number of arguments.
#[test]
fn fortran_has_all_functions() {
    let module = fs::read_to_string(root().join("include/roundel.f90")).expect("there is a module");
    let header = without_comments(&header());
    let functions: Vec<&str> = header.split(';').filter(|text| text.contains('(')).collect();
    assert!(functions.len() > 40, "{} functions", functions.len());
    for function in functions {
        let (before, list) = function.split_once('(').expect("a function");
        let name = before.split_whitespace().last().expect("a name").trim_start_matches('*');
        let list = list.split(')').next().expect("a list");
        let interface = module.split_once(&format!("function {name}(")).unwrap_or_else(|| panic!("no {name}")).1;
        let found = interface.split(')').next().expect("a list");
        assert_eq!(arguments(found), arguments(if list == "void" { "" } else { list }), "arguments of {name}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn is_up_to_date(file: &str, made: impl Fn(&str) -> String) {
    let path = root().join(file);
    let found = fs::read_to_string(&path).expect("there is such a file");
    let made = made(&found);
    if std::env::var_os("ROUNDEL_BLESS").is_some() {
        return fs::write(&path, &made).expect("it can be written");
    }
    assert!(made == found, "{file} is old: run `ROUNDEL_BLESS=1 cargo test -p roundel-capi`");
}

fn functions() -> Vec<Function> {
    let source = fs::read_to_string(root().join("src/collectives.rs")).expect("there is a table");
    let functions = table::functions(&source);
    assert_eq!(functions.len(), 3 * 11, "eleven collectives");
    functions
}

fn arguments(list: &str) -> usize {
    if list.trim().is_empty() { 0 } else { list.matches(',').count() + 1 }
}

/// Cbindgen does not expand macros, so it gets the functions of the table in a separate file.
fn header() -> String {
    let root = root();
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml can be read");
    // Tests may run at the same time, in one process or in several.
    let (process, thread) = (std::process::id(), std::thread::current().id());
    let collectives = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("collectives-{process}-{thread:?}.rs"));
    let declared: String = functions().iter().map(Function::rust).collect();
    fs::write(&collectives, declared).expect("there is room for a file");
    let source = |name: &str| root.join("src").join(name);
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(source("algorithm.rs"))
        .with_src(&collectives)
        .with_src(source("request.rs"))
        .with_src(source("error.rs"))
        .with_src(source("version.rs"))
        .with_src(source("fortran.rs"))
        .generate();
    fs::remove_file(&collectives).expect("the file was there");
    let mut text = Vec::new();
    bindings.expect("cbindgen reads the sources").write(&mut text);
    String::from_utf8(text).expect("a header is text")
}

fn without_comments(header: &str) -> String {
    let mut code = String::new();
    for part in header.split("/*") {
        code += part.split_once("*/").map_or(part, |(_, after)| after);
    }
    code
}
