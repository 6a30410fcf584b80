//! A library for C: the functions of `roundel.h`, with the catalogue and the collectives named here.

use roundel_capi as _;

roundel::collectives!["@NAME@" => my_collective::MyCollective];
