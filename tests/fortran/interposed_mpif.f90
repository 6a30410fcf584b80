! Fortran programs with `mpif.h`; what they do is in interposed.inc.
program interposed_mpif
  implicit none
  include 'mpif.h'
  include 'interposed.inc'
end program interposed_mpif
