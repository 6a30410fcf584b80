! A Fortran program with `use mpi`; interposed.inc has its body.
program interposed
  use mpi
  implicit none
  include 'interposed.inc'
end program interposed
