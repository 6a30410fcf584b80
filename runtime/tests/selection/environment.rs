//! Settings in the environment, valid and invalid.

use super::files::GOOD;
use roundel::selection::{Question, Reason, Settings, SettingsError};
use roundel_spec::Kind;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

fn settings(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::from_variables(|name| {
        variables.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value))
    })
}

fn refused(variables: &[(&str, &str)], words: &str) {
    let text = settings(variables).expect_err(words).to_string();
    assert!(text.contains(words), "{text}");
}

/// A file that is removed on drop.
struct Kept(PathBuf);

impl Kept {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("roundel-{}-{name}.toml", std::process::id()));
        std::fs::write(&path, text).expect("can be written");
        Kept(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("is text")
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn without_variables_there_is_the_default() {
    assert_eq!(settings(&[]).expect("is fine"), Settings::default());
    let empty = [
        ("ROUNDEL_FORCE", ""),
        ("ROUNDEL_PREFER", "fastest"),
        ("ROUNDEL_REPRODUCIBLE", "0"),
        ("ROUNDEL_EXPLAIN", ""),
    ];
    assert_eq!(settings(&empty).expect("is fine"), Settings::default());
}

#[test]
fn everything_together() {
    let file = Kept::new("good", GOOD);
    let settings = settings(&[
        ("ROUNDEL_SELECTION", file.path()),
        ("ROUNDEL_FORCE", "alltoall:k-bruck:radix=4; allgather : sparbit ;reduce_scatter:8(-1 -1 -1)"),
        ("ROUNDEL_PREFER", "catalogue"),
        ("ROUNDEL_REPRODUCIBLE", "1"),
        ("ROUNDEL_EXPLAIN", "1"),
        ("ROUNDEL_TRACE", "trace.json"),
    ])
    .expect("is fine");
    assert_eq!((settings.selection.rules().len(), settings.explain), (4, true));
    assert_eq!(settings.trace.as_deref(), Some(Path::new("trace.json")));
    let chosen = |kind, p| settings.choose(&Question::new(kind, p, 1, 1 << 20));
    assert_eq!(chosen(Kind::Alltoall, 6).implementation.to_string(), "alltoall/k-bruck with radix = 4");
    assert_eq!(chosen(Kind::Allgather, 6).implementation.algorithm(), Some("allgather/sparbit"));
    let ports = |p| {
        settings
            .ports(&Question::new(Kind::ReduceScatter, p, 1, 1 << 20))
            .map(|chosen| chosen.implementation.to_string())
    };
    assert_eq!((ports(8).as_deref(), ports(9)), (Some("8(-1 -1 -1)"), None));
    let elsewhere = chosen(Kind::ReduceScatter, 8);
    let reason = "because plans with ports are for requests of roundel::mpi::persistent";
    assert_eq!(elsewhere.passed, [format!("not 8(-1 -1 -1), forced by ROUNDEL_FORCE, {reason}")]);
    assert_eq!(elsewhere.implementation.algorithm(), Some("reduce-scatter/pairwise"));
    // The call does not require the same bits, but the environment does.
    assert!(settings.choose(&Question::new(Kind::Allreduce, 6, 6, 8)).question.reproducible);
}

#[test]
fn what_makes_no_sense_is_said() {
    refused(&[("ROUNDEL_REPRODUCIBLE", "yes")], "ROUNDEL_REPRODUCIBLE is `yes`: set it to 1 or 0");
    refused(&[("ROUNDEL_EXPLAIN", "2")], "ROUNDEL_EXPLAIN is `2`");
    refused(&[("ROUNDEL_PREFER", "roundel")], "ROUNDEL_PREFER is `roundel`: set it to `fastest` or `catalogue`");
    refused(&[("ROUNDEL_DEVICE", "gpu")], "ROUNDEL_DEVICE is `gpu`: set it to auto, host or library");
    refused(&[("ROUNDEL_TRACE", "")], "ROUNDEL_TRACE names no file");
    refused(&[("ROUNDEL_SELECTION", "")], "ROUNDEL_SELECTION names no file");
    refused(&[("ROUNDEL_SELECTION", "no/such/file")], "cannot read no/such/file");
    let ports = "\"cyclic-shift\"\nparameters = { ports = [3, 3] }";
    let file = Kept::new("wrong", &GOOD.replace("order = \"rank-order\"\n", "").replace("\"allreduce/nap\"", ports));
    let words = format!("ROUNDEL_SELECTION: {}: line 4: allreduce/cyclic-shift with ports = [3, 3]", file.path());
    refused(&[("ROUNDEL_SELECTION", file.path())], &words);
}

#[test]
fn what_cannot_be_forced_is_said() {
    for (text, words) in [
        ("nap", "`nap` forces nothing: write `collective:algorithm`"),
        ("allmend:nap", "there is no collective `allmend`"),
        ("allreduce:sparbit", "`allgather/sparbit` is no allreduce"),
        ("allreduce:", "there is no algorithm `` for allreduce"),
        ("alltoall:k-bruck", "needs a number `radix`"),
        ("alltoall:k-bruck:radix", "`radix` sets no parameter: write `name=4`"),
        ("alltoall:k-bruck:radix=two", "sets no parameter"),
        ("alltoall:k-bruck:radix=1", "must lie in 2.., but is 1"),
        ("alltoall:k-bruck:radix=2+3", "and there is a list"),
        ("allreduce:cyclic-shift:ports=1", "and there is a number"),
        ("allreduce:8(1 1)", "reaches only 4 nodes"),
        ("allreduce:8(-1 1 1 1):radix=2", "a plan with ports has no parameters"),
        ("broadcast:8(1 1 1)", "make no broadcast"),
        ("allreduce:nap;allreduce:ring", "allreduce is forced twice: keep one"),
        ("allreduce:nap,allreduce:ring", "allreduce is forced twice: keep one"),
        ("allreduce:nap,ring", "there is no algorithm `nap,ring` for allreduce"),
    ] {
        refused(&[("ROUNDEL_FORCE", text)], words);
    }
    let commas = "allgather:ring,alltoall:k-bruck:radix=4, broadcast:library";
    let [commas, semicolons] =
        [commas.into(), commas.replace(',', ";")].map(|text: String| settings(&[("ROUNDEL_FORCE", &text)]));
    assert_eq!(commas.expect("is fine").fingerprint(), semicolons.expect("is fine").fingerprint());
    let one = settings(&[("ROUNDEL_FORCE", "allreduce:cyclic-shift:ports=1+")]).expect("a list of one");
    assert_eq!(one.choose(&Question::new(Kind::Allreduce, 2, 2, 8)).reason, Reason::Forced);
}

#[test]
fn fingerprints_tell_settings_apart() {
    let other = GOOD.replace("..=64", "..=63");
    let (good, other) = (Kept::new("print", GOOD), Kept::new("other", &other));
    let spaced = Kept::new("spaced", &GOOD.replace("p = \"2..=64\"", "p = '2..65' # the same"));
    let print = |variables: &[(&str, &str)]| settings(variables).expect("is fine").fingerprint();
    let all = [
        print(&[]),
        print(&[("ROUNDEL_REPRODUCIBLE", "1")]),
        print(&[("ROUNDEL_PREFER", "catalogue")]),
        print(&[("ROUNDEL_FORCE", "allreduce:nap")]),
        print(&[("ROUNDEL_FORCE", "allreduce:smp")]),
        print(&[("ROUNDEL_FORCE", "alltoall:k-bruck:radix=2")]),
        print(&[("ROUNDEL_FORCE", "alltoall:k-bruck:radix=3")]),
        print(&[("ROUNDEL_SELECTION", good.path())]),
        print(&[("ROUNDEL_SELECTION", other.path())]),
    ];
    for (number, one) in all.iter().enumerate() {
        assert!(!all[..number].contains(one), "{number}");
    }
    // Settings that do not affect choices.
    assert_eq!(all[0], print(&[("ROUNDEL_EXPLAIN", "1"), ("ROUNDEL_TRACE", "here")]));
    assert_eq!(all[7], print(&[("ROUNDEL_SELECTION", spaced.path())]));
}
