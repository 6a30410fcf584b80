//! Pictures on the command line: where to write a drawing, and as what.

use crate::error::Error;
use crate::report::drawing::Drawing;
use clap::Args;
use std::path::{Path, PathBuf};

/// `--svg` and `--tikz`
#[derive(Clone, Debug, Default, Args)]
#[group(id = "picture", multiple = true)]
pub struct PictureFiles {
    /// Draw it into this file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Draw it into this file, as TikZ, for `\input` in a LaTeX document.
    #[arg(long, value_name = "FILE")]
    pub tikz: Option<PathBuf>,
}

impl PictureFiles {
    /// Whether a picture is wanted.
    pub fn wanted(&self) -> bool {
        self.svg.is_some() || self.tikz.is_some()
    }

    /// Writes the files that were asked for.
    pub fn write(&self, drawing: &Drawing) -> Result<(), Error> {
        let write = |path: &Path, text: String| {
            std::fs::write(path, text).map_err(|source| Error::Write { path: path.into(), source })
        };
        self.svg.as_deref().map_or(Ok(()), |path| write(path, drawing.svg()))?;
        self.tikz.as_deref().map_or(Ok(()), |path| write(path, drawing.tikz()))
    }

    /// Where the pictures are, in a line for each.
    pub fn places(&self) -> String {
        let files = self.svg.iter().chain(&self.tikz);
        files.map(|path| format!("the picture is in {}\n", path.display())).collect()
    }
}
