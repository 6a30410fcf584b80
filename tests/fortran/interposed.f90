! Fortran programs with `use mpi`; what they do is in interposed.inc.
program interposed
  use mpi
  implicit none
  include 'interposed.inc'
end program interposed
