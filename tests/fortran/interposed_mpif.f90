! A Fortran program with `mpif.h`; interposed.inc has its body.
program interposed_mpif
  implicit none
  include 'mpif.h'
  include 'interposed.inc'
end program interposed_mpif
