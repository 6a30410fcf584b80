/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs without MPI that show what `@SOURCE@` does. With -DROUNDEL_RECORD, the program prints the messages of every
 * rank; otherwise CBMC proves it, or it executes the same assertions one by one.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define ROUNDEL_HARNESS
/* A model checker must examine all calls of the domain, not only those in the proved range. */
#if !defined ROUNDEL_RECORD && !defined ROUNDEL_UNPROVED
#define ROUNDEL_UNPROVED
#endif
#include "@SOURCE@"
