//! Whether buffers may be in GPU memory, which the host cannot access.

use std::ffi::OsString;

/// How to handle buffers that may be in device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// If a GPU runtime is loaded in any process of a communicator when its ranks agree, MPI serves all calls on it.
    #[default]
    Auto,
    /// No buffer is in device memory, so none is checked.
    Host,
    /// MPI serves all calls.
    Library,
    /// Like `Auto`, and ranks have found that a runtime is loaded.
    Loaded,
}

impl Device {
    /// The value of `ROUNDEL_DEVICE`; the error is an invalid value.
    pub(super) fn read(value: Option<OsString>) -> Result<Self, String> {
        let value = value.unwrap_or_default();
        match value.to_str() {
            Some("auto" | "") => Ok(Device::Auto),
            Some("host") => Ok(Device::Host),
            Some("library") => Ok(Device::Library),
            _ => Err(value.to_string_lossy().into()),
        }
    }

    /// Why MPI serves all calls, if it does.
    pub fn library(self) -> Option<&'static str> {
        match self {
            Device::Auto | Device::Host => None,
            Device::Library => Some("because ROUNDEL_DEVICE says so"),
            Device::Loaded => Some(
                "because a GPU runtime is loaded in one of its processes, so that buffers may be device memory; if \
                 none is, set ROUNDEL_DEVICE=host",
            ),
        }
    }
}
