//! The functions of the table in `src/collectives.rs`, as Rust declarations without a body, and as Fortran interfaces.

/// A function for C.
pub(crate) struct Function {
    name: String,
    documentation: String,
    /// Names and Rust types.
    arguments: Vec<(String, String)>,
}

/// The functions of all entries, in order.
pub(crate) fn functions(source: &str) -> Vec<Function> {
    let (_, table) = source.split_once("\ncollectives! {\n").expect("there is a table");
    // An entry begins with a text in the first column of the table.
    table.split("\n    \"").flat_map(|entry| three(entry.trim_start_matches("    \""))).collect()
}

/// The blocking, the non-blocking and the persistent function of an entry.
fn three(entry: &str) -> Vec<Function> {
    let (what, rest) = entry.split_once('"').expect("a text");
    let (names, rest) = rest.split_once('(').expect("names before the arguments");
    let (arguments, _) = rest.split_once("; comm)").expect("the communicator is the last argument");
    let arguments: Vec<(String, String)> = arguments.split(',').map(argument).collect();
    let names = names.split(',').map(|pair| pair.trim().split_once(" as P").expect("a name and that of MPI"));
    let function = |(kind, (name, mpi)): (usize, (&str, &str))| {
        let mut arguments = arguments.clone();
        let last = [("comm", "ffi::MPI_Comm"), ("how", "*const CAlgorithm"), ("request", "*mut *mut CRequest")];
        let last = &last[..if kind == 0 { 2 } else { 3 }];
        arguments.extend(last.iter().map(|(name, of)| ((*name).into(), (*of).into())));
        let documentation = match kind {
            0 => format!("As {mpi}: {what}."),
            1 => format!("As {mpi}. Completed by roundel_test() or roundel_wait()."),
            _ => format!("As {mpi}, without its info. Started by roundel_start() as often as one likes."),
        };
        Function { name: name.into(), documentation, arguments }
    };
    names.enumerate().map(function).collect()
}

fn argument(text: &str) -> (String, String) {
    let (name, of) = text.trim().split_once(": ").expect("a name and a type");
    (name.into(), of.into())
}

impl Function {
    pub(crate) fn rust(&self) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(|(name, of)| format!("{name}: {of}")).collect();
        let (name, arguments) = (&self.name, arguments.join(", "));
        let documentation = &self.documentation;
        format!(
            "/// {documentation}\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {name}({arguments}) -> c_int {{}}\n"
        )
    }

    pub(crate) fn fortran(&self) -> String {
        let names: Vec<&str> = self.arguments.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = String::new();
        let mut line = format!("    integer(c_int) function {}(", self.name);
        for (i, name) in names.iter().enumerate() {
            let next = if i + 1 < names.len() { format!("{name}, ") } else { format!("{name}) bind(c)") };
            if line.len() + next.len() > 110 {
                text += &format!("{}&\n", line);
                line = "        ".into();
            }
            line += &next;
        }
        text += &format!("{line}\n      import\n");
        for (name, of) in &self.arguments {
            text += &format!("      {}\n", declared(name, of));
        }
        text + "    end function\n"
    }
}

/// An argument, as Fortran declares it.
fn declared(name: &str, of: &str) -> String {
    match of {
        "c_int" => format!("integer(c_int), value :: {name}"),
        "*const c_int" => format!("integer(c_int), intent(in) :: {name}(*)"),
        "*mut *mut CRequest" => format!("type(c_ptr), intent(out) :: {name}"),
        "*const c_void" | "*mut c_void" | "*const CAlgorithm" => format!("type(c_ptr), value :: {name}"),
        handle if handle.starts_with("ffi::MPI_") => format!("integer(roundel_handle), value :: {name}"),
        other => panic!("no type of Fortran for {other}"),
    }
}
