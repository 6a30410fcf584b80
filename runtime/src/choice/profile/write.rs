//! Prints a profile. Numbers have enough digits to be read back exactly.

use super::{Grid, Profile, VERSION};
use std::fmt;

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# What rounds cost on a machine: seconds and bytes per second. Written by `roundel tune`.")?;
        writeln!(f, "format = \"roundel-profile\"\nversion = {VERSION}")?;
        for (name, grid) in self.grids() {
            if !grid.is_measured() {
                writeln!(f, "{name} = \"not measured\"")?;
            }
        }
        self.head(f)?;
        for (name, grid) in self.grids() {
            if grid.is_measured() {
                writeln!(f, "\n[{name}]\n{grid}")?;
            }
        }
        writeln!(f, "\n[end]\ncomplete = true")
    }
}

impl Profile {
    fn grids(&self) -> [(&'static str, &Grid); 2] {
        [("inside", &self.inside), ("between", &self.between)]
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (machine, node, contention) = (&self.machine, &self.node, &self.contention);
        writeln!(f, "\n[machine]\nhost = {}\ncores = {}", quoted(&machine.host), machine.cores)?;
        writeln!(f, "cpu = {}\nmpi = {}", quoted(&machine.cpu), quoted(&machine.mpi))?;
        writeln!(f, "date = {}\nnodes = {}\nranks = {}", quoted(&machine.date), machine.nodes, machine.ranks)?;
        writeln!(f, "\n[node]\n# seconds until a raised counter is answered; bytes per second")?;
        writeln!(f, "signal = {:e}\ncopy = {:e}\ncombine = {:e}", node.signal, node.copy, node.combine)?;
        writeln!(f, "\n[crowd]\n# how many times longer it takes when so many processes of every node send at once")?;
        writeln!(f, "lanes = {}\nshort = {:e}\nlong = {:e}", contention.lanes, contention.short, contention.long)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# bytes of a message; messages at once; a row for each number of messages")?;
        writeln!(f, "sizes = {:?}\nports = {:?}\nseconds = [", self.sizes(), self.ports())?;
        for row in self.rows() {
            let times: Vec<String> = row.iter().map(|time| format!("{time:e}")).collect();
            writeln!(f, "  [{}],", times.join(", "))?;
        }
        write!(f, "]")
    }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}
