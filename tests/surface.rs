//! What a user's crate sees of Roundel: the names at the root of `roundel`, its dependencies, and publishable packages.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are inside of the workspace")
}

/// The public names of a file of a crate, without those hidden from its documentation.
fn public_names(file: &str) -> BTreeSet<String> {
    let file = syn::parse_file(file).expect("it compiles");
    let mut names = BTreeSet::new();
    for item in &file.items {
        let (visibility, attributes) = match item {
            syn::Item::Mod(item) => (&item.vis, &item.attrs),
            syn::Item::Use(item) => (&item.vis, &item.attrs),
            _ => continue,
        };
        let is_hidden = attributes.iter().any(|attr| {
            attr.path().is_ident("doc") && attr.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
        });
        if is_hidden || !matches!(visibility, syn::Visibility::Public(_)) {
            continue;
        }
        match item {
            syn::Item::Mod(item) => {
                names.insert(item.ident.to_string());
            }
            syn::Item::Use(item) => used(&item.tree, &mut names),
            _ => {}
        }
    }
    names
}

fn used(tree: &syn::UseTree, names: &mut BTreeSet<String>) {
    match tree {
        syn::UseTree::Path(path) => used(&path.tree, names),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| used(tree, names)),
        syn::UseTree::Name(name) => {
            names.insert(name.ident.to_string());
        }
        syn::UseTree::Rename(renamed) => {
            names.insert(renamed.rename.to_string());
        }
        syn::UseTree::Glob(_) => panic!("the root of a crate names what it exports"),
    }
}

/// A new name at the root is a promise to users, so it must be added here deliberately.
#[test]
fn the_root_exports_what_users_need_and_no_internals() {
    let file = std::fs::read_to_string(root().join("runtime/src/lib.rs")).expect("the root of the crate");
    let calls =
        ["Allgather", "Allreduce", "Alltoall", "Broadcast", "GatherTo", "ReduceScatter", "ReduceTo", "ScatterFrom"];
    let kinds = [
        "IsAllgather",
        "IsAllreduce",
        "IsAlltoall",
        "IsBroadcast",
        "IsGather",
        "IsReduce",
        "IsReduceScatter",
        "IsScatter",
    ];
    let settings =
        ["AllowUnproved", "Error", "Layout", "Options", "Policy", "Refusal", "Transport", "Unproved", "Wire"];
    let declarations = ["Collective", "Place", "Sink", "arith"];
    let modules = [
        "algorithms",
        "choice",
        "choose",
        "mpi",
        "operation",
        "plan",
        "profile",
        "selection",
        "threads",
        "trace",
        "transport",
    ];
    let all = calls.iter().chain(&kinds).chain(&settings).chain(&declarations).chain(&modules);
    assert_eq!(public_names(&file), all.map(ToString::to_string).collect());
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names are text")
}

/// A Rust parser takes seconds to build, so there must be only one.
#[test]
fn a_users_crate_builds_one_syn() {
    let tree =
        cargo(&["tree", "-p", "cyclic-shift", "-e", "normal,build", "--prefix", "none", "--locked", "--offline"]);
    let versions: BTreeSet<&str> = tree.lines().filter(|line| line.starts_with("syn v")).collect();
    let versions: BTreeSet<&str> = versions.iter().map(|line| line.trim_end_matches(" (*)")).collect();
    assert_eq!(versions.len(), 1, "{versions:?}");
}

/// The requirements of `cargo publish`, for the packages that are published.
#[test]
fn packages_for_others_can_be_published() {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1", "--locked", "--offline"]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let is_published = |package: &&serde_json::Value| package["publish"].is_null();
    let mut published: Vec<&str> = packages.iter().filter(is_published).filter_map(|p| p["name"].as_str()).collect();
    published.sort_unstable();
    let ours = ["roundel", "roundel-capi", "roundel-macros", "roundel-pmpi", "roundel-spec", "roundel-verify"];
    assert_eq!(published, ours);
    for package in packages.iter().filter(is_published) {
        let name = &package["name"];
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let is_dev = dependency["kind"] == "dev";
            assert!(is_dev || dependency["req"] != "*", "{name}: {} has no version", dependency["name"]);
        }
    }
}

/// A published package is built from its own folder, so it must contain every file that it includes.
#[test]
fn packages_include_files_of_their_own() {
    let mut seen = 0;
    for package in ["spec", "macros", "runtime", "runtime/capi", "runtime/pmpi", "verify"] {
        let folder = root().join(package);
        for source in sources(&folder.join("src")) {
            let text = std::fs::read_to_string(&source).expect("a source");
            // The examples of the documentation are tests of this repository.
            let text = text.split("#[cfg(doctest)]").next().expect("the text before");
            for included in text.split("include_str!(\"").skip(1) {
                let name = included.split('"').next().expect("a name");
                let above = name.matches("../").count();
                let inside =
                    source.strip_prefix(&folder).expect("a source of the package").ancestors().count() > above + 1;
                assert!(inside, "{} includes {name}, which is not in its package", source.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "{seen} files are included");
}

fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}
