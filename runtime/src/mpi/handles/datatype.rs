//! Properties of a datatype: the size and distance of its elements, and whether they are plain bytes.
//!
//! They are determined once and cached on the datatype. Predefined datatypes are never freed, so each thread caches
//! them.

use super::{quiet, solid};
use crate::error::Error;
use crate::mpi::process::code::{OTHER, SUCCESS, check};
use crate::mpi::process::keyval::do_not_copy;
use crate::mpi::process::lock::making;
use ::mpi::ffi;
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::panic::catch_unwind;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, Ordering};

/// Properties of a datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The bytes of data of an element.
    pub(crate) size: usize,
    /// The distance between consecutive elements.
    pub(crate) extent: isize,
    /// The offset of the first byte of an element, and the distance from it to the end of the last byte.
    pub(crate) true_lb: isize,
    pub(crate) true_extent: isize,
    /// Whether an array of elements is a contiguous array of their bytes, in order.
    pub(crate) dense: bool,
    /// Whether it is predefined by MPI.
    pub(crate) named: bool,
}

impl Facts {
    /// Whether elements do not interleave: each stays within its own extent.
    pub(crate) fn is_tidy(&self) -> bool {
        self.size > 0 && self.extent > 0 && self.true_extent <= self.extent
    }
}

/// The key of the attribute, or [`NO_KEY`].
static KEY: AtomicI64 = AtomicI64::new(NO_KEY);
const NO_KEY: i64 = i64::MIN;

/// How many predefined datatypes a thread caches: there are few more.
const REMEMBERED: usize = 64;

thread_local! {
    static NAMED: RefCell<Vec<(ffi::MPI_Datatype, Facts)>> = const { RefCell::new(Vec::new()) };
}

/// Whether this thread has cached this predefined datatype.
#[inline]
pub(crate) fn is_known(datatype: ffi::MPI_Datatype) -> bool {
    NAMED.with_borrow(|list| list.iter().any(|(other, _)| *other == datatype))
}

/// The properties of a datatype.
///
/// # Safety
/// It must be live.
pub(crate) unsafe fn facts(datatype: ffi::MPI_Datatype) -> Result<Facts, Error> {
    let known = |list: &Vec<(_, Facts)>| list.iter().find(|(other, _)| *other == datatype).map(|&(_, facts)| facts);
    if let Some(facts) = NAMED.with_borrow(known) {
        return Ok(facts);
    }
    if let Some(facts) = cached(datatype)? {
        return Ok(facts);
    }
    let facts = find_out(datatype)?;
    match facts.named {
        true => NAMED.with_borrow_mut(|list| {
            list.truncate(REMEMBERED - 1);
            list.insert(0, (datatype, facts));
        }),
        false => cache(datatype, facts)?,
    }
    Ok(facts)
}

fn cached(datatype: ffi::MPI_Datatype) -> Result<Option<Facts>, Error> {
    let key = KEY.load(Ordering::Acquire);
    if key == NO_KEY {
        return Ok(None);
    }
    let (mut value, mut found): (*mut Facts, c_int) = (null_mut(), 0);
    // SAFETY: the datatype is live and the key is ours; MPI stores the attribute, a pointer, in `value`.
    let code = unsafe { ffi::MPI_Type_get_attr(datatype, key as c_int, (&raw mut value).cast(), &mut found) };
    check("MPI_Type_get_attr", code)?;
    // SAFETY: the value was stored by `cache`, and is freed with the datatype.
    Ok((found != 0).then(|| unsafe { *value }))
}

fn cache(datatype: ffi::MPI_Datatype, facts: Facts) -> Result<(), Error> {
    let key = key()?;
    let value = Box::into_raw(Box::new(facts));
    // SAFETY: the datatype is live and the key is ours; the attribute owns the value from now on.
    let code = unsafe { ffi::MPI_Type_set_attr(datatype, key, value.cast()) };
    if code != SUCCESS {
        // SAFETY: MPI did not take the value, so this is its only owner.
        drop(unsafe { Box::from_raw(value) });
    }
    check("MPI_Type_set_attr", code)
}

/// The key, created once.
fn key() -> Result<c_int, Error> {
    let _making = making();
    let known = KEY.load(Ordering::Acquire);
    if known != NO_KEY {
        return Ok(known as c_int);
    }
    let mut key: c_int = 0;
    // SAFETY: both callbacks have the signature that MPI asks for and do not unwind.
    let code = unsafe { ffi::MPI_Type_create_keyval(Some(do_not_copy), Some(delete), &mut key, null_mut()) };
    check("MPI_Type_create_keyval", code)?;
    KEY.store(key.into(), Ordering::Release);
    Ok(key)
}

/// Frees the key when MPI is finalised.
pub(crate) fn end() -> Result<(), Error> {
    quiet::end()?;
    let key = KEY.swap(NO_KEY, Ordering::AcqRel);
    if key == NO_KEY {
        return Ok(());
    }
    let mut key = key as c_int;
    // SAFETY: the key is ours, and is not used again.
    check("MPI_Type_free_keyval", unsafe { ffi::MPI_Type_free_keyval(&mut key) })
}

unsafe extern "C" fn delete(_type: ffi::MPI_Datatype, _key: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    // SAFETY: the value was stored by `cache`, and MPI deletes an attribute once.
    let free = || drop(unsafe { Box::from_raw(value.cast::<Facts>()) });
    catch_unwind(free).map_or(OTHER, |()| SUCCESS)
}

fn find_out(datatype: ffi::MPI_Datatype) -> Result<Facts, Error> {
    let (mut size, mut lb, mut extent, mut true_lb, mut true_extent) = (0, 0, 0, 0, 0);
    // SAFETY: the datatype is live.
    unsafe {
        check("MPI_Type_size_x", ffi::MPI_Type_size_x(datatype, &mut size))?;
        check("MPI_Type_get_extent", ffi::MPI_Type_get_extent(datatype, &mut lb, &mut extent))?;
        let code = ffi::MPI_Type_get_true_extent(datatype, &mut true_lb, &mut true_extent);
        check("MPI_Type_get_true_extent", code)?;
    }
    // An empty struct has no constituent types either.
    let named = size > 0 && is_named(datatype)?;
    let [lb, extent, true_lb, true_extent] = [lb, extent, true_lb, true_extent].map(distance);
    let gapless = lb == 0 && true_lb == 0 && size as isize == extent && true_extent == extent;
    let dense = gapless && (named || keeps_bytes(datatype, size as usize)?);
    Ok(Facts { size: size as usize, extent, true_lb, true_extent, dense, named })
}

/// A distance in bytes. Its MPI type differs between libraries.
#[allow(clippy::unnecessary_cast, reason = "it is in one of them")]
fn distance(distance: ffi::MPI_Aint) -> isize {
    distance as isize
}

/// Whether a datatype is predefined by MPI.
fn is_named(datatype: ffi::MPI_Datatype) -> Result<bool, Error> {
    let (mut integers, mut addresses, mut types, mut combiner) = (0, 0, 0, 0);
    // SAFETY: the datatype is live.
    let code =
        unsafe { ffi::MPI_Type_get_envelope(datatype, &mut integers, &mut addresses, &mut types, &mut combiner) };
    check("MPI_Type_get_envelope", code)?;
    // Only predefined datatypes have no constituent types.
    Ok(types == 0)
}

/// Larger datatypes are judged by how they were constructed, not by packing an element.
const EXAMINED: usize = 1 << 20;

/// Whether packing an element copies its bytes in order. Each byte is marked with eight bits of its position, then with
/// the next eight, and so on.
fn keeps_bytes(datatype: ffi::MPI_Datatype, size: usize) -> Result<bool, Error> {
    if size > EXAMINED {
        return solid::is_solid(datatype);
    }
    for shift in [0, 8, 16] {
        let marks: Vec<u8> = (0..size).map(|place| (place >> shift) as u8).collect();
        if packed(datatype, &marks)? != marks {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One element, packed.
fn packed(datatype: ffi::MPI_Datatype, element: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut out, mut end, own) = (vec![0; element.len()], 0, quiet::own()?);
    // SAFETY: the element covers the datatype's true extent, and `out` has room for as many bytes.
    let code = unsafe {
        let (from, to, len) = (element.as_ptr().cast(), out.as_mut_ptr().cast(), element.len() as c_int);
        ffi::MPI_Pack(from, 1, datatype, to, len, &mut end, own)
    };
    check("MPI_Pack", code)?;
    out.truncate(end as usize);
    Ok(out)
}
