//! A library to preload: MPI's own functions, served by the catalogue and by the collectives named here.

use roundel_pmpi as _;

roundel::collectives!["cyclic-shift" => cyclic_shift::CyclicShift];
