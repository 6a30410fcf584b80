! A sum over all ranks with libroundel: at once, in the background, and prepared for many times.
!
! With libroundel installed in $HOME/roundel (docs/c.md):
!
!   export PKG_CONFIG_PATH=$HOME/roundel/lib/pkgconfig
!   mpifort -o allreduce $(pkg-config --variable=fortran roundel) allreduce.f90 \
!     $(pkg-config --libs roundel) -Wl,-rpath,$HOME/roundel/lib
!   mpirun -n 4 ./allreduce
program allreduce
  use mpi
  use roundel
  implicit none
  integer, parameter :: n = 1000
  real(c_double), target :: mine(n), total(n)
  integer :: rank, p, step, ierror
  integer(c_int) :: done
  integer(roundel_handle) :: comm, type, op
  type(c_ptr) :: how, request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, p, ierror)
  comm = roundel_comm_f2c(MPI_COMM_WORLD)
  type = roundel_type_f2c(MPI_DOUBLE_PRECISION)
  op = roundel_op_f2c(MPI_SUM)

  ! By an algorithm of the catalogue.
  call check(roundel_algorithm_create('allreduce/rabenseifner'//c_null_char, how))
  mine = rank + 1
  call check(roundel_allreduce(c_loc(mine), c_loc(total), n, type, op, comm, how))
  call compare(1)

  ! In place: every rank's buffer is both.
  total = rank + 1
  call check(roundel_allreduce(roundel_in_place(), c_loc(total), n, type, op, comm, how))
  call compare(1)

  ! In the background, with the algorithm that the environment or the default selects.
  total = -1
  call check(roundel_iallreduce(c_loc(mine), c_loc(total), n, type, op, comm, c_null_ptr, request))
  done = 0
  do while (done == 0)
    call check(roundel_test(request, done))
  end do
  call compare(1)

  ! Prepared once, and started many times.
  call check(roundel_allreduce_init(c_loc(mine), c_loc(total), n, type, op, comm, how, request))
  do step = 1, 3
    mine = step * (rank + 1)
    call check(roundel_start(request))
    call check(roundel_wait(request))
    call compare(step)
  end do
  call check(roundel_request_free(request))
  call check(roundel_algorithm_free(how))

  call MPI_Finalize(ierror)
  if (rank == 0) print '(a, i0, a)', 'Roundel, ', p, ' ranks: all as expected'

contains

  ! Ends the program with the reason if something went wrong.
  subroutine check(code)
    integer(c_int), intent(in) :: code
    character(kind=c_char) :: text(500)
    integer(c_size_t) :: length
    if (code == MPI_SUCCESS) return
    length = roundel_last_error(text, size(text, kind=c_size_t))
    print *, 'roundel: ', text(1:min(length, size(text, kind=c_size_t) - 1))
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  subroutine compare(factor)
    integer, intent(in) :: factor
    if (all(total == factor * p * (p + 1) / 2)) return
    print *, 'the sum is wrong'
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
