//! Properties of the handles that programs pass: datatypes and operations.

pub(crate) mod datatype;
pub(crate) mod native;
pub(crate) mod operand;
pub(crate) mod quiet;
pub(crate) mod solid;
