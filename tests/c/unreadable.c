/* A kernel that lets a process read others READABLE times, and then no more. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote,
                         unsigned long remotes, unsigned long flags)
{
    static int read;
    const char *times = getenv("READABLE");
    if (times != NULL && read++ >= atoi(times)) {
        errno = EPERM;
        return -1;
    }
    return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
}
