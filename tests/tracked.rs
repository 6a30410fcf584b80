//! What holds of every file of the repository.

use std::path::Path;
use std::process::Command;

/// The files that git tracks; none without git, as in a package.
fn tracked(root: &Path) -> Vec<String> {
    let Ok(output) = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output() else {
        return Vec::new();
    };
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    names.split('\0').filter(|name| !name.is_empty()).map(String::from).collect()
}

/// The number of the first line that git writes where two branches differ. The line between both sides could also be
/// the underline of a heading, so it counts only after the first.
fn conflict(text: &str) -> Option<usize> {
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        let begins = |sign: char| line.starts_with(&[sign; 7].iter().collect::<String>());
        let marks = ['<', '>', '|'].into_iter().any(|sign| begins(sign) && line.as_bytes().get(7) == Some(&b' '));
        if marks || (open && line.len() == 7 && begins('=')) {
            return Some(number + 1);
        }
        open |= begins('<');
    }
    None
}

#[test]
fn conflict_markers_are_found() {
    let marker = |sign: char, rest: &str| format!("{}{rest}", String::from(sign).repeat(7));
    let text = format!("One\n{}\nhere\n{}\n", marker('<', " HEAD"), marker('=', ""));
    assert_eq!(conflict(&text), Some(2));
    assert_eq!(conflict(&format!("One\n\n{}\n", marker('>', " branch"))), Some(3));
    assert_eq!(conflict(&marker('|', " base")), Some(1));
    assert_eq!(conflict(&format!("{}\nhere\n{}\n", marker('<', ""), marker('=', ""))), Some(3));
    assert_eq!(conflict("Heading\n=======\n\n<<<<<< six\n x <<<<<<< HEAD\n"), None);
}

#[test]
fn no_file_has_conflict_markers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are inside of the workspace");
    let files = tracked(root);
    assert!(files.is_empty() || files.iter().any(|name| name == "docs/simulation.md"), "git lists other files");
    let wrong: Vec<String> = files
        .iter()
        .filter_map(|name| {
            // A file that was just removed, and one that is no text, has none.
            let text = std::fs::read_to_string(root.join(name)).ok()?;
            Some(format!("{name}:{}", conflict(&text)?))
        })
        .collect();
    assert!(wrong.is_empty(), "resolve the conflicts at {}", wrong.join(", "));
}
