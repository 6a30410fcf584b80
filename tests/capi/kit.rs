//! An installed library and the compilers of one MPI.

use crate::job::{self, LIMIT, Run};
use crate::mpi::Mpi;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A directory with the installed library, in which programs are built.
pub(crate) struct Kit {
    pub(crate) mpi: &'static Mpi,
    directory: PathBuf,
}

impl Kit {
    /// Installs the library that was built for an MPI. If there is none, prints a line.
    pub(crate) fn install(mpi: &'static Mpi) -> Option<Kit> {
        let built = mpi.built("libroundel")?;
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("capi-{}", mpi.id));
        // Files of an earlier run must not be found.
        let _ = fs::remove_dir_all(&directory);
        let kit = Kit { mpi, directory };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/capi/install.sh");
        let mut install = Command::new(script);
        install.arg("--prefix").arg(kit.prefix()).arg("--from").arg(built);
        match mpi.tool("mpicc") {
            mpicc if mpicc.is_absolute() => install.env("MPICC", mpicc),
            _ => install.args(["--mpi", mpi.id]),
        };
        kit.build("install.sh", install);
        Some(kit)
    }

    /// The installation prefix.
    pub(crate) fn prefix(&self) -> PathBuf {
        self.directory.join("prefix")
    }

    /// The C compiler, which finds the header.
    pub(crate) fn c(&self) -> Command {
        let mut compiler = Command::new(self.mpi.tool("mpicc"));
        compiler.args(self.pkg_config("--cflags"));
        compiler
    }

    /// The Fortran compiler, if there is one.
    pub(crate) fn fortran(&self) -> Option<Command> {
        if !self.mpi.has("mpifort") {
            return None;
        }
        let mut compiler = Command::new(self.mpi.tool("mpifort"));
        compiler.args(["-Wall", "-J"]).arg(&self.directory);
        Some(compiler)
    }

    /// Arguments that link the shared library and set its run path.
    pub(crate) fn shared(&self) -> Vec<String> {
        let mut words = self.pkg_config("--libs");
        words.push(format!("-Wl,-rpath,{}", self.prefix().join("lib").display()));
        words
    }

    /// Arguments that link the library of a crate with a collective of its own.
    pub(crate) fn own(&self) -> Vec<String> {
        let built = self.mpi.built("libcyclic_shift_c").unwrap_or_default();
        let built = built.display();
        vec![format!("-L{built}"), "-lcyclic_shift_c".into(), format!("-Wl,-rpath,{built}")]
    }

    /// Arguments that link the static library.
    pub(crate) fn linked_statically(&self) -> Vec<String> {
        let words = self.pkg_config("--static --libs");
        let of_ours = |word: &String| word == "-lroundel";
        assert!(words.iter().any(of_ours), "{words:?}");
        let archive = format!("{}/lib/libroundel.a", self.prefix().display());
        words.into_iter().map(|word| if of_ours(&word) { archive.clone() } else { word }).collect()
    }

    fn pkg_config(&self, options: &str) -> Vec<String> {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", self.prefix().join("lib/pkgconfig")).args(options.split(' ')).arg("roundel");
        let output = self.build("pkg-config", command);
        output.split_whitespace().map(String::from).collect()
    }

    /// Builds a program.
    pub(crate) fn link(&self, name: &str, mut compiler: Command, sources: &[&Path], libraries: &[String]) -> PathBuf {
        let program = self.directory.join(name);
        compiler.arg("-o").arg(&program).args(sources).args(libraries);
        self.build(name, compiler);
        program
    }

    /// Builds a CMake project.
    pub(crate) fn cmake(&self, project: &str, what: &str) -> PathBuf {
        let build = self.directory.join(project).join("build");
        self.build(what, self.configure(project));
        let mut command = Command::new("cmake");
        command.arg("--build").arg(&build);
        self.build(what, command);
        build
    }

    /// Whether a CMake project finds the package.
    pub(crate) fn cmake_finds(&self, project: &str) -> bool {
        job::run(format!("cmake of {project}"), self.configure(project), LIMIT).ended_with(0)
    }

    fn configure(&self, project: &str) -> Command {
        let directory = self.directory.join(project);
        let mut command = Command::new("cmake");
        command.arg("-S").arg(&directory).arg("-B").arg(directory.join("build"));
        command.arg(format!("-DCMAKE_PREFIX_PATH={}", self.prefix().display()));
        command.arg(format!("-DMPI_C_COMPILER={}", self.mpi.tool("mpicc").display()));
        command
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) fn build(&self, what: &str, command: Command) -> String {
        let run = job::run(format!("{what} with {}", self.mpi.name), command, LIMIT);
        assert!(run.ended_with(0), "{what} with {}: {}", self.mpi.name, run.output());
        run.output().into()
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.join(name);
        let made = path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok());
        assert!(made && fs::write(&path, text).is_ok(), "cannot write {}", path.display());
        path
    }

    /// Runs a program on `p` ranks to its end, or to the end of its time.
    pub(crate) fn run(&self, p: usize, program: &Path, args: &[&str]) -> Run {
        // Otherwise, on one node, every call without a named algorithm would go to the library.
        self.run_with(("ROUNDEL_PREFER", "catalogue"), p, program, args)
    }

    /// The same with another setting.
    pub(crate) fn run_with(&self, (name, value): (&str, &str), p: usize, program: &Path, args: &[&str]) -> Run {
        let mut command = self.mpi.launcher();
        command.env(name, value);
        if let Some(shim) = self.mpi.shim() {
            command.env("LD_PRELOAD", shim);
        }
        command.args(["-n", &p.to_string()]).args(self.mpi.rank());
        command.args(["timeout", "--kill-after=5", &LIMIT.as_secs().to_string()]).arg(program).args(args);
        let what = format!("{} with {p} ranks: {} {}", self.mpi.name, program.display(), args.join(" "));
        job::run(what, command, LIMIT + Duration::from_secs(20))
    }
}

/// Whether such a command exists. If everything has been installed, a missing command is a failure.
pub(crate) fn is_there(command: &str) -> bool {
    let found = Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("ROUNDEL_REQUIRE").is_none(), "there is no {command}");
    found
}
