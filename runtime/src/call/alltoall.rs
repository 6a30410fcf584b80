//! All-to-alls.

use crate::call::geometry::{Names, Varying};
use crate::call::layout::Options;
use crate::call::rank_placement::RankPlacement;
use crate::error::Error;
use roundel_spec::Collective;

/// An alltoall of blocks of the same length, as the user called it. Built by [`Alltoall`](crate::Alltoall).
#[derive(Debug)]
pub struct AlltoallCall<'a, T> {
    /// The blocks that this rank sends, one for each rank; `None` if they lie in `recv`.
    pub send: Option<&'a [T]>,
    /// The blocks that it receives, one from each rank.
    pub recv: &'a mut [T],
    /// How the call is to run.
    pub options: Options,
}

impl<T> AlltoallCall<'_, T> {
    /// Makes every check that one rank can make. Returns by how much blocks are rotated while the collective runs.
    pub fn validate<C: Collective>(&self, collective: &C, here: RankPlacement<'_>) -> Result<Option<usize>, Error> {
        let found = self.recv.len();
        let whole = found.checked_next_multiple_of(here.p()).unwrap_or(usize::MAX);
        if whole != found {
            let reason = "a block of the same length for each rank";
            return Err(Error::Length { what: "the receive buffer", expected: whole, found, reason });
        }
        if let Some(send) = self.send.filter(|send| send.len() != found) {
            let reason = "as many elements as the receive buffer";
            return Err(Error::Length { what: "the send buffer", expected: found, found: send.len(), reason });
        }
        let at = here.serves(collective)?;
        self.options.layout.rotation(collective, &at)
    }
}

/// An alltoallv, as the user called it. Built by [`Alltoall`](crate::Alltoall).
#[derive(Debug)]
pub struct AlltoallvCall<'a, T> {
    /// The data that this rank sends; `None` if it lies in `recv`, in which case both lists of blocks are the same.
    pub send: Option<&'a [T]>,
    /// The block of `send` for each rank.
    pub leaving: Varying<'a>,
    /// The receive buffer.
    pub recv: &'a mut [T],
    /// Where in `recv` each rank's block goes.
    pub arriving: Varying<'a>,
    /// How the call is to run.
    pub options: Options,
}

impl<T> AlltoallvCall<'_, T> {
    const LEAVING: Names = Names { counts: "send counts", displs: "send displacements", buffer: "the send buffer" };
    const ARRIVING: Names =
        Names { counts: "receive counts", displs: "receive displacements", buffer: "the receive buffer" };

    /// Makes every check of blocks and buffers that one rank can make.
    pub fn validate(&self, here: RankPlacement<'_>) -> Result<(), Error> {
        match self.send {
            None => self.arriving.validate_lists(here.p(), self.recv.len(), &Names::ONLY)?,
            Some(send) => {
                self.leaving.validate_lists(here.p(), send.len(), &Self::LEAVING)?;
                self.arriving.validate_lists(here.p(), self.recv.len(), &Self::ARRIVING)?;
            }
        }
        self.arriving.reject_overlap()?;
        let (found, expected) = (self.leaving.counts[here.rank], self.arriving.counts[here.rank]);
        if found != expected {
            let (what, reason) = ("the block of this rank for itself", "its receive count for itself");
            return Err(Error::Length { what, expected, found, reason });
        }
        Ok(())
    }

    /// Returns an error if the collective does not serve the call.
    pub fn serve<C: Collective>(&self, collective: &C, here: RankPlacement<'_>) -> Result<(), Error> {
        let at = here.serves(collective)?;
        self.options.layout.rotation(collective, &at).map(|_| ())
    }
}
