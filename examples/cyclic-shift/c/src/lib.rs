//! A library for C: the functions of `roundel.h`, with the catalogue and the collectives named here.

use roundel_capi as _;

roundel::collectives!["cyclic-shift" => cyclic_shift::CyclicShift];
