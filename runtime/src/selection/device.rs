//! Whether buffers may be memory of a GPU, which the processor cannot read.

use super::settings::Unset;
use std::ffi::OsString;

/// What is done where buffers may be device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// Where a GPU runtime is loaded in any process of a communicator when its ranks agree, the library does all calls
    /// on it.
    #[default]
    Auto,
    /// No buffer is device memory: nobody looks.
    Host,
    /// The library does all calls.
    Library,
    /// As `Auto`; and a runtime is loaded, as ranks have found out.
    Loaded,
}

impl Device {
    /// What `ROUNDEL_DEVICE` says.
    pub(super) fn read(value: Option<OsString>) -> Result<Self, Unset> {
        let value = value.unwrap_or_default();
        match value.to_str() {
            Some("auto" | "") => Ok(Device::Auto),
            Some("host") => Ok(Device::Host),
            Some("library") => Ok(Device::Library),
            _ => Err(Unset::Device { found: value.to_string_lossy().into() }),
        }
    }

    /// Why the library does all calls, if it does.
    pub fn library(self) -> Option<&'static str> {
        match self {
            Device::Auto | Device::Host => None,
            Device::Library => Some("because ROUNDEL_DEVICE says so"),
            Device::Loaded => Some(
                "because a GPU runtime is loaded in one of its processes, so that buffers may be device memory; if none is, set \
                 ROUNDEL_DEVICE=host",
            ),
        }
    }
}
