//! `libroundel`: the functions of `roundel_capi`, with the catalogue. A library with collectives of one's own has these
//! lines, and the names of the collectives.

use roundel_capi as _;
