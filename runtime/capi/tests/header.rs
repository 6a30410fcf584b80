//! The header is the one that cbindgen makes of the sources now. `ROUNDEL_BLESS=1 cargo test -p roundel-capi` writes it
//! anew.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("include/roundel.h");
    let made = generated(root);
    if std::env::var_os("ROUNDEL_BLESS").is_some() {
        fs::write(&path, &made).expect("the header can be written");
    }
    let found = fs::read_to_string(&path).expect("there is a header");
    assert!(made == found, "include/roundel.h is old: run `ROUNDEL_BLESS=1 cargo test -p roundel-capi`");
}

/// Every function of C has an interface for Fortran, with as many arguments.
#[test]
fn fortran_has_all_functions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let module = fs::read_to_string(root.join("include/roundel.f90")).expect("there is a module");
    let header = without_comments(&generated(root));
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

fn arguments(list: &str) -> usize {
    if list.trim().is_empty() { 0 } else { list.matches(',').count() + 1 }
}

fn generated(root: &Path) -> String {
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml can be read");
    let bindings = cbindgen::Builder::new().with_crate(root).with_config(config).generate();
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
