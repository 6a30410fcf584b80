/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs without MPI that show what `@SOURCE@` does. With -DROUNDEL_RECORD, one that prints the messages of every rank;
 * otherwise one that CBMC proves, or that tries the same assertions one after the other.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define ROUNDEL_HARNESS
/* A model checker is to look at all calls, not only at those that are proved otherwise. */
#if !defined ROUNDEL_RECORD && !defined ROUNDEL_UNPROVED
#define ROUNDEL_UNPROVED
#endif
#include "@SOURCE@"
