! Roundel's functions for Fortran: the interfaces of roundel.h, which documents them. Compile it with your program:
!
!   mpifort -c roundel.f90
!
! MPI handles are converted to those of C: roundel_comm_f2c(MPI_COMM_WORLD), roundel_type_f2c(MPI_DOUBLE_PRECISION),
! roundel_op_f2c(MPI_SUM). Buffers are addresses, c_loc(x), of variables with the attribute target; roundel_in_place()
! is MPI_IN_PLACE. Strings end with c_null_char. Roundel's handles are of type(c_ptr), and c_null_ptr is NULL.
module roundel
  use, intrinsic :: iso_c_binding
  use mpi, only: MPI_COMM_WORLD
  implicit none
  private :: MPI_COMM_WORLD

  ! C handles are integers in MPICH and its descendants, which share this MPI_COMM_WORLD, and addresses in Open MPI.
  integer, parameter :: roundel_handle = merge(c_int, c_intptr_t, MPI_COMM_WORLD == 1140850688)

  interface
    integer(c_int) function roundel_algorithm_create(name, algorithm) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: algorithm
    end function

    integer(c_int) function roundel_selection_create(path, selection) bind(c)
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: selection
    end function

    integer(c_int) function roundel_algorithm_free(algorithm) bind(c)
      import
      type(c_ptr), intent(inout) :: algorithm
    end function

    integer(c_int) function roundel_explain(how, collective, ranks, ppn, bytes, buffer, length, needed) bind(c)
      import
      type(c_ptr), value :: how
      character(kind=c_char), intent(in) :: collective(*)
      integer(c_int), value :: ranks, ppn
      integer(c_int64_t), value :: bytes
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: length
      integer(c_size_t), intent(out) :: needed
    end function

    ! Collectives, made of the table in src/collectives.rs.
    integer(c_int) function roundel_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: displs(*)
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: displs(*)
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: displs(*)
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: sdispls(*)
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: rdispls(*)
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: sdispls(*)
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: rdispls(*)
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: sdispls(*)
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: rdispls(*)
      integer(roundel_handle), value :: recvtype
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_allreduce(sendbuf, recvbuf, count, datatype, op, comm, how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_iallreduce(sendbuf, recvbuf, count, datatype, op, comm, how, &
        request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, how, &
        request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, &
        comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &
        how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, how, &
        request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, &
        how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), intent(in) :: recvcounts(*)
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_bcast(buffer, count, datatype, root, comm, how) bind(c)
      import
      type(c_ptr), value :: buffer
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_ibcast(buffer, count, datatype, root, comm, how, request) bind(c)
      import
      type(c_ptr), value :: buffer
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_bcast_init(buffer, count, datatype, root, comm, how, request) bind(c)
      import
      type(c_ptr), value :: buffer
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_reduce(sendbuf, recvbuf, count, datatype, op, root, comm, how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, how, &
        request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, how, &
        request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: count
      integer(roundel_handle), value :: datatype
      integer(roundel_handle), value :: op
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, how) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
    end function

    integer(c_int) function roundel_iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function

    integer(c_int) function roundel_scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, how, request) bind(c)
      import
      type(c_ptr), value :: sendbuf
      integer(c_int), value :: sendcount
      integer(roundel_handle), value :: sendtype
      type(c_ptr), value :: recvbuf
      integer(c_int), value :: recvcount
      integer(roundel_handle), value :: recvtype
      integer(c_int), value :: root
      integer(roundel_handle), value :: comm
      type(c_ptr), value :: how
      type(c_ptr), intent(out) :: request
    end function
    ! End of the collectives.

    integer(c_size_t) function roundel_last_error(buffer, length) bind(c)
      import
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: length
    end function

    integer(roundel_handle) function roundel_comm_f2c(comm) bind(c)
      import
      integer(c_int), value :: comm
    end function

    integer(roundel_handle) function roundel_type_f2c(datatype) bind(c)
      import
      integer(c_int), value :: datatype
    end function

    integer(roundel_handle) function roundel_op_f2c(op) bind(c)
      import
      integer(c_int), value :: op
    end function

    type(c_ptr) function roundel_in_place() bind(c)
      import
    end function

    integer(c_int) function roundel_start(request) bind(c)
      import
      type(c_ptr), intent(inout) :: request
    end function

    integer(c_int) function roundel_test(request, flag) bind(c)
      import
      type(c_ptr), intent(inout) :: request
      integer(c_int), intent(out) :: flag
    end function

    integer(c_int) function roundel_wait(request) bind(c)
      import
      type(c_ptr), intent(inout) :: request
    end function

    integer(c_int) function roundel_waitall(count, requests) bind(c)
      import
      integer(c_int), value :: count
      type(c_ptr), intent(inout) :: requests(*)
    end function

    integer(c_int) function roundel_request_free(request) bind(c)
      import
      type(c_ptr), intent(inout) :: request
    end function

    type(c_ptr) function roundel_version() bind(c)
      import
    end function
  end interface
end module
