//! Decides whether a large datatype is a contiguous array of bytes, by decoding how it was constructed.
//!
//! Programs that count beyond 2^31 build such datatypes from contiguous ones, vectors and structs (Hammond, Schäfer,
//! Latham: To INT_MAX... and Beyond! Exploring Large-Count Support in MPI, ExaMPI 2014), and packing one would double
//! the memory.

use crate::error::Error;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use std::ffi::c_int;

/// Whether the bytes of an element are in order and without gaps. False for datatypes with constructors other than
/// those above.
pub(crate) fn is_solid(datatype: ffi::MPI_Datatype) -> Result<bool, Error> {
    let made = Made::of(datatype)?;
    let (size, extent) = measures(datatype)?;
    if size == 0 || size != extent {
        return Ok(false);
    }
    if made.types.is_empty() {
        return Ok(true);
    }
    let ordered = match (made.combiner, &made.integers[..]) {
        // Only a duplicate or a contiguous datatype has lists like these.
        (_, []) if made.addresses.is_empty() => true,
        (_, [_]) if made.addresses.is_empty() && made.types.len() == 1 => true,
        (combiner, [count, length, stride]) if combiner == combiner_of_vector()? => *count < 2 || length == stride,
        (combiner, [_, lengths @ ..]) if combiner == combiner_of_struct()? => made.parts_follow(lengths)?,
        _ => false,
    };
    Ok(ordered && made.types.iter().try_fold(true, |so_far, &part| Ok::<_, Error>(so_far && is_solid(part)?))?)
}

fn measures(datatype: ffi::MPI_Datatype) -> Result<(i64, i64), Error> {
    let (mut size, mut lb, mut extent) = (0, 0, 0);
    // SAFETY: the datatype is live.
    unsafe {
        check("MPI_Type_size_x", ffi::MPI_Type_size_x(datatype, &mut size))?;
        check("MPI_Type_get_extent", ffi::MPI_Type_get_extent(datatype, &mut lb, &mut extent))?;
    }
    #[allow(clippy::unnecessary_cast, reason = "MPI's types for them are others in each library")]
    Ok((size as i64, extent as i64))
}

/// The constructor of a datatype and its arguments.
struct Made {
    combiner: c_int,
    integers: Vec<c_int>,
    addresses: Vec<ffi::MPI_Aint>,
    types: Vec<ffi::MPI_Datatype>,
}

impl Made {
    fn of(datatype: ffi::MPI_Datatype) -> Result<Self, Error> {
        let [mut integers, mut addresses, mut types, mut combiner] = [0; 4];
        // SAFETY: the datatype is live.
        let code =
            unsafe { ffi::MPI_Type_get_envelope(datatype, &mut integers, &mut addresses, &mut types, &mut combiner) };
        check("MPI_Type_get_envelope", code)?;
        let mut made = Made { combiner, integers: vec![], addresses: vec![], types: vec![] };
        // MPI does not allow further queries on predefined datatypes.
        if types == 0 {
            return Ok(made);
        }
        let (mut held_integers, mut held_addresses) = (vec![0; integers as usize], vec![0; addresses as usize]);
        let mut held_types = vec![datatype; types as usize];
        // SAFETY: the lists have the lengths that MPI has reported.
        let code = unsafe {
            let lists = (held_integers.as_mut_ptr(), held_addresses.as_mut_ptr(), held_types.as_mut_ptr());
            ffi::MPI_Type_get_contents(datatype, integers, addresses, types, lists.0, lists.1, lists.2)
        };
        check("MPI_Type_get_contents", code)?;
        made.integers = held_integers;
        made.addresses = held_addresses;
        made.types = held_types;
        Ok(made)
    }

    /// Whether the parts of a struct directly follow each other.
    fn parts_follow(&self, lengths: &[c_int]) -> Result<bool, Error> {
        let mut next = 0i64;
        for ((&length, &begin), &part) in lengths.iter().zip(&self.addresses).zip(&self.types) {
            #[allow(clippy::unnecessary_cast, reason = "MPI's type for it is another one in each library")]
            if begin as i64 != next {
                return Ok(false);
            }
            next += i64::from(length) * measures(part)?.1;
        }
        Ok(true)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for datatype in &mut self.types {
            let [mut integers, mut addresses, mut types, mut combiner] = [0; 4];
            // SAFETY: MPI returned these handles; predefined ones must not be freed.
            unsafe {
                ffi::MPI_Type_get_envelope(*datatype, &mut integers, &mut addresses, &mut types, &mut combiner);
                if types > 0 {
                    ffi::MPI_Type_free(datatype);
                }
            }
        }
    }
}

/// The combiner of vectors. Bindings name the constant differently, so a vector is created and queried.
fn combiner_of_vector() -> Result<c_int, Error> {
    // SAFETY: the handle of bytes is a constant of the library.
    combiner_of(|made| unsafe { ffi::MPI_Type_vector(1, 1, 1, ffi::RSMPI_UINT8_T, made) })
}

/// The combiner of structs.
fn combiner_of_struct() -> Result<c_int, Error> {
    // SAFETY: the handle of bytes is a constant of the library, and the lists have an entry each.
    combiner_of(|made| unsafe {
        let (length, begin, part) = ([1], [0], [ffi::RSMPI_UINT8_T]);
        ffi::MPI_Type_create_struct(1, length.as_ptr(), begin.as_ptr(), part.as_ptr(), made)
    })
}

fn combiner_of(make: impl FnOnce(*mut ffi::MPI_Datatype) -> c_int) -> Result<c_int, Error> {
    // SAFETY: the handle is a constant of the library.
    let mut made = unsafe { ffi::RSMPI_DATATYPE_NULL };
    check("MPI_Type_vector or MPI_Type_create_struct", make(&mut made))?;
    let combiner = Made::of(made).map(|of| of.combiner);
    // SAFETY: it was just created, and is not used again.
    check("MPI_Type_free", unsafe { ffi::MPI_Type_free(&mut made) })?;
    combiner
}
