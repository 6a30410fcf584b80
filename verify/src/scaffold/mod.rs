//! A new crate with a collective of one's own: a declaration that is right, a test, a continuous integration, and
//! libraries that have it beside the catalogue.
//!
//! Every template is a declaration of the catalogue under another name, so it is proved for all p. The templates are
//! those of a crate `my-collective`, and a test of this crate compiles and runs them.

use crate::error::Error;
use roundel::algorithms::is_taken;
use roundel_spec::Kind;
use std::path::{Path, PathBuf};
use syn::Ident;

/// The version of Roundel that a new crate depends on.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Types that the files of a crate import or that Rust knows: a collective needs another name.
const TAKEN: [&str; 20] = [
    "Allgather",
    "Allreduce",
    "Alltoall",
    "Broadcast",
    "Clone",
    "Collective",
    "Copy",
    "Debug",
    "Default",
    "Eq",
    "Err",
    "GatherTo",
    "Ok",
    "PartialEq",
    "ReduceScatter",
    "ReduceTo",
    "Result",
    "ScatterFrom",
    "Sum",
    "Vec",
];

/// A crate to be made.
#[derive(Debug)]
pub struct Scaffold {
    folder: PathBuf,
    /// The name of the crate.
    name: String,
    kind: Kind,
    /// The source tree of Roundel, if the crate depends on that instead of a published version.
    tree: Option<PathBuf>,
}

/// The files of a kind: the declaration, and the test.
fn templates(kind: Kind) -> (&'static str, &'static str) {
    macro_rules! of {
        ($file:literal) => {
            (
                include_str!(concat!("templates/declarations/", $file)),
                include_str!(concat!("templates/tests/", $file)),
            )
        };
    }
    match kind {
        Kind::Allgather => of!("allgather.rs"),
        Kind::Allreduce => of!("allreduce.rs"),
        Kind::ReduceScatter => of!("reduce_scatter.rs"),
        Kind::Broadcast => of!("broadcast.rs"),
        Kind::Reduce => of!("reduce.rs"),
        Kind::Gather => of!("gather.rs"),
        Kind::Scatter => of!("scatter.rs"),
        Kind::Alltoall => of!("alltoall.rs"),
    }
}

impl Scaffold {
    /// A crate in a folder of the same name. `tree` is the source tree of Roundel, if it is not to be a published
    /// version.
    pub fn new(folder: &Path, kind: Kind, tree: Option<&Path>) -> Result<Self, Error> {
        let name = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_');
        let is_free = !["core", "std", "alloc", "test", "roundel"].contains(&name.as_str());
        // A keyword is no identifier.
        if !is_plain || !is_free || syn::parse_str::<Ident>(&module(&name)).is_err() {
            return Err(Error::CrateName { name });
        }
        let tree = tree.map(|tree| match tree.join("runtime/Cargo.toml").canonicalize() {
            Ok(_) => tree.canonicalize().map_err(|source| Error::Read { path: tree.into(), source }),
            Err(_) => Err(Error::NoTree { path: tree.into() }),
        });
        Ok(Scaffold { folder: folder.into(), name, kind, tree: tree.transpose()? })
    }

    /// The name of the declared type: that of the crate, in the case of types.
    pub fn type_name(&self) -> String {
        let upper = |word: &str| word[..1].to_uppercase() + &word[1..];
        let name: String = self.name.split(['-', '_']).filter(|word| !word.is_empty()).map(upper).collect();
        if TAKEN.contains(&name.as_str()) { format!("My{name}") } else { name }
    }

    /// The files, with their contents.
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let (declaration, test) = templates(self.kind);
        let lib = format!("//! {} of one's own.\n\n{declaration}", self.kind_in_words());
        let test = format!("//! The collective on threads, against its definition.\n\n{test}");
        // Kani proves harnesses of allgathers only.
        let (proves, job) = match self.kind {
            Kind::Allgather => (KANI, include_str!("templates/kani.yml")),
            _ => ("", ""),
        };
        let readme = include_str!("templates/README.md").replace("@KANI@", proves);
        let ci = include_str!("templates/ci.yml").to_string() + job;
        let files = [
            ("Cargo.toml", include_str!("templates/manifest.toml").to_string()),
            ("README.md", readme),
            (".gitignore", "target/\n".into()),
            (".github/workflows/ci.yml", ci),
            ("src/lib.rs", lib),
            ("tests/threads.rs", test),
            ("preload/Cargo.toml", library("preload", "pmpi")),
            ("preload/src/lib.rs", include_str!("templates/preload.rs").into()),
            ("c/Cargo.toml", library("c", "capi")),
            ("c/src/lib.rs", include_str!("templates/c.rs").into()),
        ];
        files.into_iter().map(|(path, text)| (path, self.filled_in(&text))).collect()
    }

    /// Makes the crate.
    ///
    /// # Errors
    /// If the folder exists, or cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        if self.folder.exists() {
            return Err(Error::FolderExists { path: self.folder.clone() });
        }
        for (path, text) in self.files() {
            let path = self.folder.join(path);
            let written =
                path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
            written.map_err(|source| Error::Write { path: path.clone(), source })?;
        }
        Ok(())
    }

    fn kind_in_words(&self) -> String {
        let words = self.kind.with_article();
        words[..1].to_uppercase() + &words[1..]
    }

    /// The name of the collective among those of its kind: that of the crate, unless the catalogue has it.
    fn name_of_collective(&self) -> String {
        let name = self.name.replace('_', "-");
        if is_taken(self.kind, &name) { format!("my-{name}") } else { name }
    }

    fn filled_in(&self, text: &str) -> String {
        let install = match &self.tree {
            Some(tree) => format!("--path {}", tree.join("verify").display()),
            None => format!("roundel-verify --version {VERSION}"),
        };
        text.replace("MyCollective", &self.type_name())
            .replace("my-collective", &self.name)
            .replace("my_collective", &module(&self.name))
            .replace("@KIND@", &self.kind_in_words())
            .replace("@KINDNAME@", self.kind.name())
            .replace("@KINDPATH@", &self.kind.name().replace('_', "-"))
            .replace("@NAME@", &self.name_of_collective())
            .replace("@DEPENDENCY@", &self.dependency("runtime", ""))
            .replace("@PMPI@", &self.dependency("runtime/pmpi", MPI))
            .replace("@CAPI@", &self.dependency("runtime/capi", MPI))
            .replace("@INSTALL@", &install)
    }

    /// A dependency on a package of Roundel: of this version, or in the source tree.
    fn dependency(&self, folder: &str, features: &str) -> String {
        match &self.tree {
            // A string of Rust is one of TOML.
            Some(tree) => format!("{{ path = {:?}{features} }}", tree.join(folder).display().to_string()),
            None if features.is_empty() => format!("{VERSION:?}"),
            None => format!("{{ version = {VERSION:?}{features} }}"),
        }
    }
}

/// The features of a library for MPI.
const MPI: &str = ", features = [\"mpi\"]";

/// The manifest of a library with the functions of a package of Roundel.
fn library(name: &str, functions: &str) -> String {
    let dependency = format!("@{}@", functions.to_uppercase());
    let manifest = include_str!("templates/library.toml").replace("@LIBRARY@", name);
    manifest.replace("@FUNCTIONS_DEPENDENCY@", &dependency).replace("@FUNCTIONS@", functions)
}

/// What Kani does, as a line of the README.
const KANI: &str = "cargo kani                                   # proves the harnesses that the derive emits\n";

/// The name of a crate, as Rust writes it.
fn module(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use roundel::algorithms;

    const KINDS: [(Kind, &str); 8] = [
        (Kind::Allgather, "allgather/ring"),
        (Kind::Allreduce, "allreduce/ring"),
        (Kind::ReduceScatter, "reduce-scatter/pairwise"),
        (Kind::Broadcast, "broadcast/binomial"),
        (Kind::Reduce, "reduce/binomial"),
        (Kind::Gather, "gather/binomial"),
        (Kind::Scatter, "scatter/binomial"),
        (Kind::Alltoall, "alltoall/spread-out"),
    ];

    fn scaffold(name: &str, kind: Kind) -> Scaffold {
        Scaffold::new(Path::new(name), kind, None).expect("a good name")
    }

    #[test]
    fn every_template_is_a_proved_collective_under_another_name() {
        for (kind, name) in KINDS {
            let (_, lib) = scaffold("my-own", kind).files().remove(4);
            let declared = Source::of_text("lib.rs", &lib).declarations().expect("Rust").remove(0);
            let mut schedule = declared.result.expect("well-formed").schedule;
            assert_eq!(schedule.name, "MyOwn");
            let proved = (algorithms::find(name).expect("in the catalogue").schedule)();
            schedule.name.clone_from(&proved.name);
            assert_eq!(schedule.fingerprint(), proved.fingerprint(), "{name}");
        }
    }

    #[test]
    fn nothing_is_left_to_fill_in_and_lines_are_short() {
        for (kind, _) in KINDS {
            for (path, text) in scaffold("x", kind).files() {
                assert!(!text.contains('@') || path.ends_with("ci.yml"), "{path}: {text}");
                assert!(!text.contains("@INSTALL@") && text.ends_with('\n'), "{path}: {text}");
                assert!(text.lines().all(|line| line.chars().count() <= 120), "{path}: {text}");
                if path.ends_with(".rs") {
                    syn::parse_file(&text).expect(path);
                }
            }
        }
    }

    #[test]
    fn names_of_crates_and_types() {
        let named = |name: &str| scaffold(name, Kind::Allgather).type_name();
        assert_eq!(named("my-collective"), "MyCollective");
        assert_eq!(named("somewhere/ring2_fast"), "Ring2Fast");
        assert_eq!(named("collective"), "MyCollective");
        assert_eq!(named("allgather"), "MyAllgather");
        let called = |name: &str, kind| scaffold(name, kind).name_of_collective();
        assert_eq!(called("my_own", Kind::Allgather), "my-own");
        assert_eq!(
            (called("ring", Kind::Allgather), called("ring", Kind::Broadcast)),
            ("my-ring".into(), "ring".into())
        );
        for wrong in ["", "..", "My", "2fast", "a b", "ümlaut", "fn", "self", "std", "roundel", "-a"] {
            assert!(Scaffold::new(Path::new(wrong), Kind::Allgather, None).is_err(), "{wrong}");
        }
    }
}
