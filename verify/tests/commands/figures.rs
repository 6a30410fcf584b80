//! The figures of the papers in `docs` are those that `roundel figures` makes.

use crate::common::everything;
use std::path::Path;
use std::process::Command;

fn figures(names: &[&str], out: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundel"));
    let output = command.arg("figures").args(names).arg("--out").arg(out).output().expect("the program runs");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}

/// Those that only count; with `ROUNDEL_ALL=1` also those that simulate, and the page.
#[test]
fn the_figures_of_the_documentation_are_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let names: &[&str] = if everything() { &[] } else { &["radix-counts"] };
    let (ok, text) = figures(names, folder.path());
    assert!(ok, "{text}");
    let made: Vec<_> = std::fs::read_dir(folder.path().join("papers")).expect("figures").flatten().collect();
    assert_eq!(made.len(), if everything() { 14 } else { 2 }, "{text}");
    let page = folder.path().join("papers.md");
    assert_eq!(page.exists(), everything());
    let pages = page.exists().then(|| "papers.md".to_string());
    let files = made.iter().map(|file| format!("papers/{}", file.file_name().to_string_lossy())).chain(pages);
    for file in files {
        let read =
            |folder: &Path| std::fs::read_to_string(folder.join(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(read(folder.path()) == read(&docs), "{file} has changed: `roundel figures --out docs` makes it");
    }
}

/// Table 1 of the paper on ports must come out exactly.
#[test]
fn counts_of_the_papers_are_exact() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ok, text) = figures(&["ports"], folder.path());
    assert!(ok && text.contains("4 of 4 rows exactly") && !text.contains("differs"), "{text}");
    let svg = std::fs::read_to_string(folder.path().join("papers/ports.svg")).expect("a picture");
    let document = roxmltree::Document::parse(&svg).expect("XML");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let tikz = folder.path().join("papers/ports.tex");
    assert!(!tikz.exists());
    assert!(figures(&["ports", "--tikz"], folder.path()).0);
    assert!(std::fs::read_to_string(tikz).expect("a picture").contains("\\begin{tikzpicture}"));
}

#[test]
fn unknown_figures_and_folders() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ok, text) = figures(&["radix"], folder.path());
    assert!(!ok && text.contains("radix-counts"), "{text}");
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").expect("written");
    let (ok, text) = figures(&["radix-counts"], &file);
    assert!(!ok && text.contains("file"), "{text}");
}
